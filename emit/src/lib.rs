//! Emission: machine functions become words in a fixed order ([`layout`]); words become object files ([`write_object`]) and
//! listings ([`listing`]).

mod elf;
mod error;
mod layout;
mod listing;
mod straighten;
mod vp1;

pub use elf::{ObjectError, write_object};
pub use error::LayoutError;
pub use layout::{Code, layout};
pub use listing::listing;
pub use vp1::{BlockStats, OpError};
