//! Native code for PTX: its instructions as the engine of HALU takes them.
//!
//! Registers become cells of a word each, two where they have 64 bits. Parameters and what the launch says in special registers are
//! constant bank 0. What there is no native code for is found out before the first launch; the interpreter runs such kernels.

#[cfg(feature = "aot")]
mod ahead;
mod insts;
mod meet;
mod memory;
mod numbers;
mod plan;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::sync::{Arc, OnceLock};

use halfbyte_abi::meet::Schedule;
use halfbyte_isa::ptx::module;
use halfbyte_isa::ptx::types::{Special, SpecialGroup};
use smallvec::SmallVec;

use super::memory::Memory;
use super::{Ended, special};
use crate::halu::jit::{self as engine, Kernel, Stop};
use crate::launch::{Order, Stats};
use crate::native::Translation;
use crate::trap::Halt;
#[cfg(feature = "aot")]
pub(super) use ahead::native;
use insts::{Insts, Variables};
use memory::Banks;
use plan::Plan;

/// A kernel's native code, once it has been asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Jit {
    plan: Arc<OnceLock<Plan>>,
    code: engine::Jit,
}

impl Jit {
    /// Runs all items of a launch; none where there is no native code for what it does.
    pub fn launch(
        &self,
        code: &module::Kernel,
        order: &Order<'_>,
        memory: &mut Memory<'_>,
        threads: NonZero<u16>,
    ) -> Option<Result<Stats, Ended>> {
        let plan = self.plan(code);
        let entry = &code.entry;
        // Where arguments are known to overlap, items are run in order.
        let is_watched = memory.races.is_some() || memory.schedule != Schedule::default();
        if !plan.is_native || !memory.aliases.is_empty() || is_watched {
            return None;
        }
        let size = order.shape.block.into_iter().product::<u32>().max(1);
        let shared_bytes = if plan.is_of_groups { plan.shared_bytes + order.shape.shared as usize } else { 0 };
        let constants = constants(plan, memory, order, shared_bytes as u64);
        let (variables, places) = (memory.variables.clone(), memory.param_places.clone());
        let is_of_block = |special: &Special| matches!(special.group, SpecialGroup::BlockSize | SpecialGroup::Warps);
        let sizes = (plan.launch_start..).step_by(4).zip(&plan.launch).filter(|(_, special)| is_of_block(special));
        let sizes: SmallVec<[(u32, u32); 4]> = sizes
            .filter_map(|(offset, &special)| {
                Some((offset, special::of_launch(special, &order.shape, shared_bytes as u64)? as u32))
            })
            .collect();
        let insts = Insts { plan, entry, variables: Variables::At(&variables), places: &places };
        let kernel = Kernel {
            front: &insts,
            pointers: &[],
            sizes: &sizes,
            specials: &plan.specials,
            groups: plan.is_of_groups.then_some(size),
            shared_bytes,
            scratch_bytes: plan.frame_bytes as usize,
            scratch_start: super::stack::START,
        };
        let ran = self.code.launch(&kernel, &mut Banks { memory, constants }, *order, threads, None)?;
        Some(ran.map_err(|stop| match stop {
            Stop::Fault(item, fault) => Ended::Halt(item, Halt::Fault(fault)),
            Stop::Native(error) => Ended::Native(error),
        }))
    }

    fn plan(&self, code: &module::Kernel) -> &Plan {
        self.plan.get_or_init(|| Plan::new(code))
    }

    /// Whether there is no native code for what the kernel does.
    pub fn is_interpreted(&self, code: &module::Kernel) -> bool {
        !self.plan(code).is_native
    }

    /// What it took to make the code that is there.
    pub fn translation(&self) -> Option<Translation> {
        self.code.translation()
    }
}

/// Constant bank 0: parameters where they lie in their memory, and behind them what the launch says.
fn constants(plan: &Plan, memory: &Memory<'_>, order: &Order<'_>, shared_bytes: u64) -> Vec<u8> {
    let mut bytes = vec![0; plan.launch_start as usize];
    for (param, &place) in memory.params.iter().zip(&memory.param_places) {
        let places = bytes.iter_mut().skip(place as usize);
        places.zip(param).for_each(|(place, byte)| *place = *byte);
    }
    for &register in &plan.launch {
        let value = special::of_launch(register, &order.shape, shared_bytes).unwrap_or(0);
        bytes.extend((value as u32).to_le_bytes());
    }
    bytes
}
