//! Emission: machine functions become words in a fixed order ([`layout`]); words become object files ([`write_object`]) and
//! listings ([`listing`]).

mod elf;
mod layout;
mod listing;
mod straighten;

pub use elf::{ObjectError, write_object};
pub use layout::{Code, LayoutError, layout};
pub use listing::listing;
