//! PTX as a target machine of selection.

use halfbyte_abi::{Signature, Sm};
use halfbyte_isa::ptx;
use halfbyte_isa::ptx::module::{FrameVariable, Linkage, Variable, Variables, variables_of};
use halfbyte_isa::ptx::names::identifier;
use halfbyte_isa::ptx::types::{Space, Type};

use crate::vcode::BlockIndex;

/// Type that names PTX as the target machine of selected code. PTX code may name any number of
/// registers, so its instructions contain virtual register numbers from the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ptx;

/// Data of a kernel, other than its instructions, that the emission of PTX needs.
#[derive(Clone, Debug)]
pub struct PtxExtra {
    /// SM version for which the code is compiled.
    pub sm: Sm,
    /// Maximum number of work items of a launch. The code computes some addresses in 64 bits where
    /// the IR wraps modulo 2^32; above this number of items, the two would differ.
    pub max_items: u64,
    /// `true` if the code numbers items along x only, so that launches must be one-dimensional.
    pub along_x: bool,
    /// Group size along x, y and z, if the code is compiled for exactly this size.
    pub block: Option<[u32; 3]>,
    /// Type of each register, by register number. Before register allocation, these are the classes
    /// of the virtual registers.
    pub types: Vec<Type>,
    /// Arrays of the kernel, in order of declaration.
    pub arrays: Vec<PtxArray>,
}

/// Array in shared or scratch memory, declared in PTX as an array of bytes.
#[derive(Clone, Debug)]
pub struct PtxArray {
    /// Name of the array in the kernel.
    pub name: String,
    /// State space: `.shared` or `.local`.
    pub space: Space,
    /// Size in bytes, or `None` if a launch determines the size.
    pub bytes: Option<u32>,
    /// Alignment in bytes.
    pub align: u32,
}

impl PtxExtra {
    /// Returns the kernel and its arrays in shared memory as PTX variables. The name of an array
    /// includes the kernel's name, so that arrays of several kernels in a file differ.
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

    /// Returns the scratch arrays of the kernel, which are in local memory.
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
    /// Sets the target block of a branch.
    pub fn set_target(branch: &mut ptx::Inst, target: BlockIndex) {
        if let Some(ptx::Operand::Label(label)) = branch.operands.first_mut() {
            *label = ptx::Label(target);
        }
    }
}
