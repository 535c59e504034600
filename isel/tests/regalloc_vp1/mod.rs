//! Allocation of VP1's registers: known shapes, random code before and after, and code that breaks the rules.

mod errors;
mod random;
mod shapes;
mod support;
