//! The values that code has to compute. Addresses are not among them: cursors go through the streams by themselves.

use cranelift_entity::EntitySet;
use halfbyte_ir::{Flow, Inst, Kernel, Op, Value, ValueDef};

/// The operands of an instruction that its code takes as values.
pub(crate) fn operands(kernel: &Kernel, inst: Inst) -> &[Value] {
    let args = kernel.args(inst);
    match kernel.insts[inst].op {
        Op::Load => &[],
        Op::Store => args.get(..1).unwrap_or(&[]),
        _ => args,
    }
}

/// What stores, conditions and what these depend on need.
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
