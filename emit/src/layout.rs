//! Gives every instruction its address and every branch its distance.

use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::object::{KernelInfo, Loc};
use halfbyte_isa::row::{EncodeError, Kind};
use halfbyte_isa::word::Field;
use halfbyte_isel::mach::{BlockIndex, MachBlock, MachFunc, MachInst};
use thiserror::Error;

use crate::straighten::straighten;

/// A kernel in words, as it stands in an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    /// What the loader must know besides the words.
    pub info: KernelInfo,
    /// The words in order. An address is an index here.
    pub words: Vec<u128>,
    /// Where each word comes from.
    pub locs: Vec<Loc>,
}

/// Why a machine function has no words: it is not one that selection and allocation should have made.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LayoutError {
    /// An instruction that no word decodes to.
    #[error("kernel `{kernel}`: {} is not encodable: {error}", opcode.name())]
    Invalid {
        /// The kernel.
        kernel: String,
        /// The instruction.
        opcode: Opcode,
        /// What is wrong with it.
        error: EncodeError,
        /// Its source.
        loc: Loc,
    },
    /// A target on an instruction that takes none, or a branch without one.
    #[error("kernel `{kernel}`: {} {}", opcode.name(), if *.expected { "has no target" } else { "takes no target" })]
    Target {
        /// The kernel.
        kernel: String,
        /// The instruction.
        opcode: Opcode,
        /// Whether it takes a target.
        expected: bool,
        /// Its source.
        loc: Loc,
    },
    /// A branch to a block that is not there.
    #[error("kernel `{kernel}`: branch to block {block}; there are {blocks}")]
    Block {
        /// The kernel.
        kernel: String,
        /// The target.
        block: BlockIndex,
        /// The number of blocks.
        blocks: usize,
    },
    /// More words than a branch can cross.
    #[error("kernel `{kernel}` has {words} words; at most {} are possible", i32::MAX)]
    TooLong {
        /// The kernel.
        kernel: String,
        /// Its words.
        words: usize,
    },
}

/// Lays a machine function out, block after block. A branch at the end of a block to what follows anyway is left out.
///
/// # Errors
/// A function that breaks the rules of [`MachFunc`].
pub fn layout(func: &MachFunc) -> Result<Code, LayoutError> {
    let kernel = || func.signature.name().to_owned();
    let blocks = straighten(&func.blocks);
    let lengths = lengths(&blocks);
    let mut starts = Vec::with_capacity(lengths.len());
    let mut words = 0;
    for length in &lengths {
        starts.push(words as i64);
        words += length;
    }
    if i32::try_from(words).is_err() {
        return Err(LayoutError::TooLong { kernel: kernel(), words });
    }

    let mut code = Code {
        info: KernelInfo {
            signature: func.signature.clone(),
            local_bytes: func.local_bytes,
            registers: func.registers,
        },
        words: Vec::with_capacity(words),
        locs: Vec::with_capacity(words),
    };
    for (block, &length) in blocks.iter().zip(&lengths) {
        for &MachInst { mut inst, target, loc } in block.insts.iter().take(length) {
            let opcode = inst.opcode();
            match (target_field(&inst), target) {
                (None, None) => {}
                (Some(field), Some(block)) => {
                    let Some(start) = starts.get(block as usize) else {
                        let blocks = starts.len();
                        return Err(LayoutError::Block { kernel: kernel(), block, blocks });
                    };
                    inst.set(field, (start - code.words.len() as i64) as u64);
                }
                (field, _) => {
                    let expected = field.is_some();
                    return Err(LayoutError::Target { kernel: kernel(), opcode, expected, loc });
                }
            }
            if let Err(error) = inst.validate() {
                return Err(LayoutError::Invalid { kernel: kernel(), opcode, error, loc });
            }
            code.words.push(inst.word());
            code.locs.push(loc);
        }
    }
    Ok(code)
}

/// The instructions of each block that stay.
fn lengths(blocks: &[MachBlock]) -> Vec<usize> {
    let mut lengths = vec![0; blocks.len()];
    // The first later block of which anything stays: to branch to it or to an empty block before it is to fall through.
    let mut next = blocks.len();
    for (index, block) in blocks.iter().enumerate().rev() {
        let falls_to = |target: BlockIndex| {
            let target = target as usize;
            (index + 1..=next).contains(&target) && target < blocks.len()
        };
        let dropped = |inst: &&MachInst| inst.target.is_some_and(falls_to) && target_field(&inst.inst).is_some();
        let length = block.insts.len() - block.insts.iter().rev().take_while(dropped).count();
        if length != 0 {
            next = index;
        }
        if let Some(slot) = lengths.get_mut(index) {
            *slot = length;
        }
    }
    lengths
}

/// The field of a branch's distance: signed, in words from the branch itself.
fn target_field(inst: &Inst) -> Option<Field> {
    inst.row().operands.iter().find_map(|operand| match operand.kind {
        Kind::Target(field) => Some(field),
        _ => None,
    })
}
