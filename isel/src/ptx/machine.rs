//! PTX as a machine that code is selected for.

use halfbyte_abi::{Signature, Sm};
use halfbyte_isa::ptx;
use halfbyte_isa::ptx::module::{FrameVariable, Linkage, Variable, Variables, variables_of};
use halfbyte_isa::ptx::names::identifier;
use halfbyte_isa::ptx::types::{Space, Type};

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
    /// The items of a group along x, y and z, where the code is for no other groups.
    pub block: Option<[u32; 3]>,
    /// The types of the registers, by number. Before allocation they are the classes of the virtual ones.
    pub types: Vec<Type>,
    /// The arrays that it declares, in order.
    pub arrays: Vec<PtxArray>,
}

/// An array of bytes.
#[derive(Clone, Debug)]
pub struct PtxArray {
    /// Its name.
    pub name: String,
    /// `.shared` or `.local`.
    pub space: Space,
    /// Its bytes; none where the launch says how many.
    pub bytes: Option<u32>,
    /// Its alignment.
    pub align: u32,
}

impl PtxExtra {
    /// The variables of the kernel, behind them the arrays in shared memory. No other kernel of a file has such a one, so that they lie as the
    /// kernel declares them.
    pub fn variables(&self, signature: &Signature) -> Variables {
        let shared = self.arrays.iter().filter(|array| array.space == Space::Shared).map(|array| Variable {
            name: identifier(&format!("{}__{}", signature.name(), array.name)).into_owned(),
            space: Space::Shared,
            linkage: if array.bytes.is_some() { Linkage::Plain } else { Linkage::Extern },
            ty: Type::B8,
            count: array.bytes,
            align: Some(array.align),
            bytes: vec![0; array.bytes.unwrap_or(0) as usize].into(),
            addresses: Vec::new(),
        });
        variables_of(signature).iter().cloned().chain(shared).collect()
    }

    /// The arrays of the item.
    pub fn frame(&self) -> Vec<FrameVariable> {
        let own = self.arrays.iter().filter(|array| array.space == Space::Local);
        let variable = |array: &PtxArray| FrameVariable {
            name: identifier(&array.name).into_owned(),
            space: Space::Local,
            ty: Type::B8,
            count: array.bytes,
            align: Some(array.align),
        };
        own.map(variable).collect()
    }
}

impl Ptx {
    /// Writes the block that a branch goes to into it.
    pub fn set_target(branch: &mut ptx::Inst, target: BlockIndex) {
        if let Some(ptx::Operand::Label(label)) = branch.operands.first_mut() {
            *label = ptx::Label(target);
        }
    }
}
