//! Expansion of video instructions and half-precision extrema into instructions that the machine
//! has.
//!
//! Selection assumes that every machine has them. Here each video instruction becomes the shortest
//! known sequence with the same result on the SM (`rules/ptx/video`). Minima and maxima of bytes
//! and halves become the available ones, or compares. Values that several sequences compute are
//! shared, except if NVIDIA's assembler can fuse two instructions.

mod extrema;
mod form;
mod fuse;
mod halves;
mod registers;
mod share;
mod signs;
mod table;
mod uses;
mod video;

pub use extrema::is_expanded;
pub use form::VideoForm;
pub use table::{D, OPERANDS, Sequence, TableError, assemble, lines, sequence};

use registers::Registers;

use crate::Ptx;
use crate::vcode::{BlockIndex, VCode};

/// Expands all video instructions and half-precision extrema that have no guard.
///
/// # Errors
/// Fails if the table of sequences is malformed; tests check that the table is valid.
pub fn expand(code: &mut VCode<Ptx>) -> Result<(), TableError> {
    signs::keep_nans(code);
    halves::split(code);
    extrema::expand(code);
    let sm = code.extra.sm.number();
    let in_order: Vec<BlockIndex> = (0..code.blocks.len() as BlockIndex).collect();
    code.rewrite(&in_order, |registers, _, inst, out| video::append(inst, sm, &mut Registers(registers), out))?;
    share::share(code);
    uses::remove_unused(code);
    fuse::fuse(code);
    Ok(())
}
