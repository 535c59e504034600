//! Demand analysis: finds the values that the code must compute. An address must be computed only
//! for a window. All other streams are accessed through cursors.

use cranelift_entity::EntitySet;
use halfbyte_ir::{Flow, Inst, Kernel, Op, StreamContents, Value, ValueDef};

/// Returns the operands of an instruction that must be computed as values. Addresses of streams
/// other than windows are not.
pub(crate) fn operands(kernel: &Kernel, inst: Inst) -> impl Iterator<Item = Value> {
    let args = kernel.args(inst);
    let base = match kernel.insts[inst].op {
        Op::Load => Some(0),
        Op::Store => Some(1),
        _ => None,
    };
    let in_window = base.and_then(|at| args.get(at)).is_some_and(|&base| window(kernel, base).is_some());
    let is_taken = move |number: usize| base.is_none_or(|base| number < base || number > base && in_window);
    args.iter().copied().enumerate().filter(move |&(number, _)| is_taken(number)).map(|(_, value)| value)
}

/// If a base address is a window, for which addresses are computed, returns its stream number.
pub(crate) fn window(kernel: &Kernel, base: Value) -> Option<u32> {
    let number = kernel.stream(base)?;
    let stream = kernel.packing.as_ref()?.streams.get(number)?;
    (stream.holds == StreamContents::Buffer).then_some(number as u32)
}

/// Returns the values on which stores and branch conditions depend, directly or indirectly.
pub(crate) fn needed(kernel: &Kernel, flow: &Flow) -> EntitySet<Value> {
    let mut needed = EntitySet::new();
    let mut work: Vec<Value> = Vec::new();
    for block in flow.reverse_postorder() {
        for &inst in &kernel.blocks[block].insts {
            if !kernel.insts[inst].op.is_pure() {
                work.extend(operands(kernel, inst));
            }
        }
    }
    while let Some(value) = work.pop() {
        if !needed.insert(value) {
            continue;
        }
        match kernel.values[value].def {
            ValueDef::Param(_) | ValueDef::Array(_) => {}
            ValueDef::Result(inst) => work.extend(operands(kernel, inst)),
            ValueDef::BlockParam(block, number) => {
                for &from in flow.predecessors(block) {
                    let Some(branch) = kernel.terminator(from) else { continue };
                    let calls = kernel.targets(branch).iter().filter(|call| call.block == block);
                    work.extend(calls.filter_map(|call| kernel.call_args(call).get(number as usize)));
                }
            }
        }
    }
    needed
}
