//! Words, one an instruction.

use std::fmt::{self, Write};

use halfbyte_emit::{Code, Emitter, LayoutError};
use halfbyte_isa::object::KernelInfo;
use halfbyte_isel::AllocatedCode;

use crate::isa;
use crate::isel::Physical;

/// Emission for the toy target.
#[derive(Clone, Copy, Debug)]
pub struct Toy;

impl Emitter for Toy {
    fn layout(&self, func: Box<dyn AllocatedCode>) -> Result<Code, LayoutError> {
        let Physical { signature, insts } = *func.downcast::<Physical>().ok_or(LayoutError::Backend)?;
        let registers = insts.iter().map(|(inst, _)| u32::from(inst.def) + 1).max().unwrap_or(0);
        Ok(Code {
            info: KernelInfo { signature, local_bytes: 0, registers, tiles: None, max_items: u32::MAX },
            words: isa::Code(insts.iter().map(|(inst, _)| inst.encode()).collect()).into(),
            locs: insts.iter().map(|&(_, loc)| loc).collect(),
            parts: Vec::new(),
            stats: Vec::new(),
        })
    }

    fn write_head(&self, out: &mut String, code: &Code) -> fmt::Result {
        writeln!(out, ", {} registers", code.info.registers)
    }
}
