//! Native code for PTX, which passes PTX instructions to the engine of HALU.
//!
//! Each register becomes a cell of one word, or two cells if it has 64 bits. Constant bank 0
//! contains the parameters and the special registers that depend only on the launch. Unsupported
//! kernels are detected before the first launch, and fall back to the interpreter.

#[cfg(feature = "aot")]
mod ahead;
mod insts;
mod meet;
mod numbers;
mod plan;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::sync::{Arc, OnceLock};

use halfbyte_abi::Stats;
use halfbyte_isa::ptx::module::{self, LOCAL_START};
use halfbyte_isa::ptx::program::PlacedVariables;
use halfbyte_isa::ptx::special::{self, SharedMemory};
use halfbyte_isa::ptx::types::{Special, SpecialGroup};
use smallvec::SmallVec;

#[cfg(feature = "aot")]
pub use ahead::native;

use crate::clif::Translation;
use crate::jit::{self as engine, Kernel, Reached, Stop};
use crate::launch::LaunchOptions;
use insts::{Insts, Variables};
use plan::Plan;

/// Native code of a kernel, made on demand.
#[derive(Clone, Debug, Default)]
pub struct Jit {
    plan: Arc<OnceLock<Plan>>,
    code: engine::Jit,
}

/// Inputs of a launch other than its buffers.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The bytes of each parameter.
    pub params: &'a [Vec<u8>],
    /// The offset of each parameter in parameter memory.
    pub offsets: &'a [u64],
    /// The variables that the kernel uses.
    pub variables: &'a PlacedVariables,
}

impl Jit {
    /// Runs all items of a launch. Returns `None` if there is no native code for the kernel.
    pub fn launch<'m>(
        &self,
        code: &module::Kernel,
        order: &LaunchOptions<'_>,
        given: Given<'_>,
        memory: &mut impl Reached<'m>,
        threads: NonZero<u16>,
    ) -> Option<Result<Stats, Stop>> {
        let plan = self.plan(code);
        let entry = &code.entry;
        if !plan.is_native {
            return None;
        }
        let size = order.shape.block.into_iter().product::<u32>().max(1);
        let shared = match plan.is_of_groups {
            true => SharedMemory {
                used: plan.shared_bytes + u64::from(order.shape.shared),
                has_reserved: plan.has_reserved_memory,
            },
            false => SharedMemory::default(),
        };
        *memory.constants() = constants(plan, given, order, shared);
        let is_of_block = |special: &Special| matches!(special.group, SpecialGroup::BlockSize | SpecialGroup::Warps);
        let sizes = (plan.launch_start..).step_by(4).zip(&plan.launch).filter(|(_, special)| is_of_block(special));
        let sizes: SmallVec<[(u32, u32); 4]> = sizes
            .filter_map(|(offset, &special)| Some((offset, special::of_launch(special, &order.shape, shared)? as u32)))
            .collect();
        let insts = Insts { plan, entry, variables: Variables::At(given.variables), places: given.offsets };
        let kernel = Kernel {
            front: &insts,
            pointers: &[],
            sizes: &sizes,
            specials: &plan.specials,
            groups: plan.is_of_groups.then_some(size),
            shared_bytes: shared.bytes() as usize,
            scratch_bytes: plan.frame_bytes as usize,
            scratch_start: LOCAL_START,
        };
        self.code.launch(&kernel, memory, *order, threads, None)
    }

    fn plan(&self, code: &module::Kernel) -> &Plan {
        self.plan.get_or_init(|| Plan::new(code))
    }

    /// Returns `true` if native code does not support the kernel.
    pub fn is_interpreted(&self, code: &module::Kernel) -> bool {
        !self.plan(code).is_native
    }

    /// Returns the cost of the translation, or `None` if there is no code yet.
    pub fn translation(&self) -> Option<Translation> {
        self.code.translation()
    }
}

/// Returns constant bank 0: the parameters at their offsets in parameter memory, followed by the values of the launch.
fn constants(plan: &Plan, given: Given<'_>, order: &LaunchOptions<'_>, shared: SharedMemory) -> Vec<u8> {
    let mut bytes = vec![0; plan.launch_start as usize];
    for (param, &place) in given.params.iter().zip(given.offsets) {
        let places = bytes.iter_mut().skip(place as usize);
        places.zip(param).for_each(|(place, byte)| *place = *byte);
    }
    for &register in &plan.launch {
        let value = special::of_launch(register, &order.shape, shared).unwrap_or(0);
        bytes.extend((value as u32).to_le_bytes());
    }
    bytes
}
