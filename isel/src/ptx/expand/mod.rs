//! Expansion of video instructions and of half-precision minima and maxima that the SM lacks.
//!
//! Selection emits these instructions for every SM. Expansion replaces each video instruction by
//! the shortest known sequence with the same result on the SM (`rules/ptx/video`). Minima and
//! maxima of bytes and halves become other minima and maxima, or compares. Equal values of several
//! sequences are computed once, except if NVIDIA's assembler can fuse them into their users.

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

/// Expands all unguarded video instructions and half-precision minima and maxima that the SM lacks.
///
/// # Errors
/// Fails if the table of sequences is malformed. Tests check that the table is valid.
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
