//! Video instructions, and extrema of halves, become what the machine has.
//!
//! Selection takes them as if every machine had them. Here each video instruction becomes the shortest sequence known that has
//! its bits on the SM (`rules/ptx/video`), minima and maxima of bytes and halves become those that there are, or compares, and what
//! several sequences compute alike is computed once, but where NVIDIA's assembler makes one instruction of two of them.

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
pub use form::Form;
pub use table::{D, OPERANDS, Sequence, TableError, assemble, lines, sequence};

use registers::Registers;

use crate::Ptx;
use crate::vcode::{BlockIndex, VCode};

/// Expands all video instructions and extrema of halves that are under no guard.
///
/// # Errors
/// What is wrong with the table of sequences, which its tests say is nothing.
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
