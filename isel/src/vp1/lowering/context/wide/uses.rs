//! Numbers of uses of values.

use cranelift_entity::SecondaryMap;
use halfbyte_ir::{Inst, Kernel, Op, Value};

/// Number of uses, and last user, of each value.
pub(crate) struct Uses(SecondaryMap<Value, (u32, Option<Inst>)>);

impl Uses {
    pub(crate) fn new(kernel: &Kernel) -> Uses {
        let mut uses = SecondaryMap::<Value, (u32, Option<Inst>)>::new();
        for &inst in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts) {
            let calls = kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call));
            for &value in kernel.args(inst).iter().chain(calls) {
                let (count, last) = &mut uses[value];
                *count += 1;
                *last = Some(inst);
            }
        }
        Uses(uses)
    }

    /// Returns `true` if the value has exactly one use.
    pub(crate) fn is_single(&self, value: Value) -> bool {
        self.0[value].0 == 1
    }

    /// Returns `true` if a vector of bytes has one use, directly or after an extension. Then no
    /// other pair needs the vector.
    pub(crate) fn is_fresh(&self, kernel: &Kernel, value: Value) -> bool {
        let (count, user) = self.0[value];
        let is_used_once = |inst: Inst| match kernel.insts[inst].op {
            Op::Zext | Op::Sext => kernel.result(inst).is_some_and(|wide| self.is_single(wide)),
            _ => true,
        };
        count == 1 && user.is_some_and(is_used_once)
    }
}
