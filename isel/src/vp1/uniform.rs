//! Uniformity analysis: finds instructions whose result is the same for all groups of work items.
//! They are executed once, before the loop over groups.

use cranelift_entity::EntitySet;
use halfbyte_ir::{Flow, Inst, Kernel, Op, Value, ValueDef};

use super::streams::Streams;

/// Instructions whose results are the same for all groups of work items.
pub(crate) struct Uniform {
    /// The uniform instructions, definitions before uses.
    pub insts: Vec<Inst>,
    set: EntitySet<Inst>,
}

impl Uniform {
    /// Finds the uniform instructions of a packed kernel.
    pub(super) fn new(kernel: &Kernel, flow: &Flow, streams: &Streams) -> Uniform {
        let mut uniform = Uniform { insts: Vec::new(), set: EntitySet::new() };
        for block in flow.reverse_postorder() {
            for &inst in &kernel.blocks[block].insts {
                if uniform.is_uniform(kernel, streams, inst) {
                    uniform.insts.push(inst);
                    uniform.set.insert(inst);
                }
            }
        }
        uniform
    }

    /// Returns `true` if the result of an instruction is the same for all groups.
    pub(super) fn contains(&self, inst: Inst) -> bool {
        self.set.contains(inst)
    }

    fn is_uniform(&self, kernel: &Kernel, streams: &Streams, inst: Inst) -> bool {
        let data = &kernel.insts[inst];
        match data.op {
            Op::Load => {
                let stream = kernel.args(inst).first().and_then(|&base| kernel.stream(base));
                stream.is_some_and(|number| streams.is_read_once(number as u32))
            }
            Op::ItemId => false,
            op if op.is_pure() => kernel.args(inst).iter().all(|&arg| self.has(kernel, arg)),
            _ => false,
        }
    }

    /// Returns `true` if a value is the same for all groups.
    pub(super) fn has(&self, kernel: &Kernel, value: Value) -> bool {
        match kernel.values[value].def {
            ValueDef::Param(_) | ValueDef::Array(_) => true,
            ValueDef::BlockParam(..) => false,
            ValueDef::Result(inst) => self.contains(inst),
        }
    }
}
