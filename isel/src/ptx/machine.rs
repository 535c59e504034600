//! PTX as a machine that code is selected for.

use halfbyte_abi::Sm;
use halfbyte_isa::ptx;

use crate::vcode::BlockIndex;

/// PTX, whose registers are those that its text names: its instructions have them in them from the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ptx;

/// What emission must know of a function of PTX beside its instructions.
#[derive(Clone, Debug)]
pub struct PtxExtra {
    /// The SM version.
    pub sm: Sm,
    /// The most work items of a launch: with more, an address would wrap that is computed without wrapping.
    pub max_items: u64,
    /// Whether the code numbers items along x only, so that a launch has all of them there.
    pub along_x: bool,
    /// The types of the registers, by number. Before allocation they are the classes of the virtual ones.
    pub types: Vec<ptx::types::Type>,
}

impl Ptx {
    /// Writes the block that a branch goes to into it.
    pub fn set_target(branch: &mut ptx::Inst, target: BlockIndex) {
        if let Some(ptx::Operand::Label(label)) = branch.operands.first_mut() {
            *label = ptx::Label(target);
        }
    }
}
