//! Kernels in PTX as functions of native objects.

use halfbyte_isa::ptx::module::{self, Param};
use halfbyte_isa::ptx::types::{Space as VariableSpace, Special, SpecialGroup};

use super::insts::{Insts, Variables};
use super::plan::Plan;
use crate::aot::{Bank, Count, Described, Emit, NotMade, Refusal, Source};

/// Adds the function of a PTX kernel to a native object.
///
/// # Errors
/// The kernel does something that no function of an object supports.
pub fn native(code: &module::Kernel, kernel: Described<'_>, into: &mut Emit<'_, '_>) -> Result<(), NotMade> {
    let (entry, plan) = (&code.entry, &Plan::new(code));
    // The result of `isspacep` depends on the addresses of memory.
    let asks = entry.body.insts.iter().any(|inst| inst.row().mnemonic == "isspacep");
    if asks {
        return Err(Refusal::Op("isspacep".to_owned()).into());
    }
    if !plan.is_native {
        return Err(
            Refusal::Interpreted("it waits for other items, calls functions, or reads a clock".to_owned()).into()
        );
    }
    let places = Param::offsets(&entry.params);
    let launch_end = plan.launch_start + 4 * plan.launch.len() as u32;
    let held = launch_end.next_multiple_of(8);
    let params = places.iter().map(|&place| place as u32);
    let variables = (0..entry.variables.len() as u32).map(|number| held + 8 * number);
    let parts = entry.params.iter().zip(&places).map(|(param, &place)| [place as u32, (place + param.bytes()) as u32]);
    let bank = Bank {
        bytes: held + 8 * entry.variables.len() as u32,
        params: params.chain(variables).collect(),
        launch: (plan.launch_start..).step_by(4).zip(plan.launch.iter().map(count)).collect(),
        parts: parts.collect(),
    };
    let insts = Insts { plan, entry, variables: Variables::InBank(held), places: &places };
    into.add(
        kernel,
        &Source {
            front: &insts,
            pointers: &[],
            specials: &plan.specials,
            bank,
            scratch_bytes: plan.frame_bytes,
            scratch_start: halfbyte_isa::ptx::module::LOCAL_START,
            has_shared: entry.variables.iter().any(|variable| variable.space == VariableSpace::Shared),
        },
    )
}

/// Returns the launch value that a uniform special register holds, as
/// [`of_launch`](halfbyte_isa::ptx::special::of_launch) computes it for blocks without shared memory.
fn count(special: &Special) -> Count {
    match special.group {
        SpecialGroup::BlockSize => Count::Block(Some(special.axis)),
        SpecialGroup::GridSize => Count::Grid(Some(special.axis)),
        SpecialGroup::Warps => Count::Warps,
        SpecialGroup::Multiprocessors => Count::Always(1),
        _ => Count::Always(0),
    }
}
