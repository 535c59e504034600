//! Register allocation for VP1: known shapes, random code, and invalid code.

mod errors;
mod random;
mod shapes;
mod support;
