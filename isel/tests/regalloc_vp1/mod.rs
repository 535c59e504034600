//! Tests of register allocation for VP1 on small code, random code and invalid code.

mod errors;
mod random;
mod shapes;
mod support;
