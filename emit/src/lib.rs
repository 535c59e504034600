//! Emission: machine functions become words in a fixed order ([`Emitter::layout`]); words become object files ([`write_object`]) and
//! listings ([`listing`]), and PTX text ([`ptx_text`]).

mod elf;
mod emitter;
mod error;
mod halu;
mod listing;
mod ptx;
mod stats;
mod straight;
mod straighten;
mod vp1;

pub use elf::{ObjectError, ObjectWriter, write_object};
pub use emitter::{Code, Emitter, WORD};
pub use error::{LayoutError, OpError};
pub use listing::listing;
pub use ptx::{PtxWriter, ptx_text};
pub use stats::BlockStats;
pub use straight::Straight;
