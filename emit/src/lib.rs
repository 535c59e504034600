//! Emission of machine code. [`Emitter::layout`] turns machine functions into instruction words,
//! [`write_object`] writes object files, [`listing`] writes listings, and [`ptx_text`] writes PTX.
//!
//! ```
//! use halfbyte_emit::{Emitter, write_object};
//! use halfbyte_ir::text::read;
//! use halfbyte_isa::halu::TARGET;
//! use halfbyte_isa::object::{Header, Loc};
//! use halfbyte_isel::regalloc::{Allocator, Options};
//! use halfbyte_isel::{Backend, Halu, Request, Scratch};
//!
//! let module = read("kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  store %i, %y[%i]\n  ret\n}\n").map_err(|wrong| wrong[0].clone())?;
//! let request = Request::new(&module.kernels[0], TARGET, &|_| Loc::default());
//! let selected = Halu.select(request, &mut Scratch::default()).map_err(|refused| refused[0].clone())?;
//! let code = Halu.layout(selected.code.allocate(&mut Allocator::default(), &Options::default())?)?;
//! assert!(code.words.disassemble().contains("STG"));
//! let object = write_object(&Header { target: TARGET, source: "k.hb".to_owned() }, &[code])?;
//! assert!(object.starts_with(b"\x7fELF"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod elf;
mod emitter;
mod error;
mod halu;
mod latch_copies;
mod listing;
mod ptx;
mod stats;
mod straight;
mod straighten;
mod vp1;

pub use elf::{ObjectError, ObjectWriter, write_object};
pub use emitter::{Emitter, KernelCode, WORD};
pub use error::{LayoutError, OpError};
pub use listing::listing;
pub use ptx::{PtxWriter, ptx_text};
pub use stats::BlockStats;
pub use straight::Straight;
