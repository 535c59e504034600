//! Video instructions, and extrema of halves, become what the machine has.
//!
//! Selection takes them as if every machine had them. Here each video instruction becomes the shortest sequence known that has
//! its bits on the SM (`rules/ptx/video`), minima and maxima of bytes and halves become those that there are, or compares, and what
//! several sequences compute alike is computed once, but where NVIDIA's assembler makes one instruction of two of them.

mod extrema;
mod flow;
mod form;
mod fuse;
mod halves;
mod registers;
mod share;
mod table;
mod video;

pub use extrema::is_expanded;
pub use form::Form;
pub use table::{D, OPERANDS, Sequence, TableError, assemble, lines, sequence};

use registers::Registers;

use super::Code;

/// Expands all video instructions and extrema of halves that are under no guard.
///
/// # Errors
/// What is wrong with the table of sequences, which its tests say is nothing.
pub fn expand(code: &mut Code) -> Result<(), TableError> {
    halves::split(code);
    extrema::expand(code);
    let mut registers = Registers(&mut code.registers);
    for block in &mut code.blocks {
        let mut insts = Vec::with_capacity(block.insts.len() * 2);
        for placed in block.insts.drain(..) {
            video::append(placed, code.sm, &mut registers, &mut insts)?;
        }
        block.insts = insts;
    }
    share::share(code);
    flow::remove_unused(code);
    fuse::fuse(code);
    Ok(())
}
