//! Choice of the sums that are folded into IADD3 instructions of their users, and of bitwise operations that become sums.

use std::cell::OnceCell;

use cranelift_entity::SecondaryMap;
use halfbyte_ir::{Kernel, Op, Type, Value};

use crate::simt::{const_inst, register_bits};

/// Uses of the values of a kernel. The uses are counted when a sum is queried for the first time.
#[derive(Default)]
pub(super) struct SumUses(OnceCell<SecondaryMap<Value, UseCount>>);

/// Uses of one value.
#[derive(Clone, Copy, Default)]
struct UseCount {
    all: u32,
    /// Uses as the first operand of a sum of words.
    as_term: u32,
}

impl SumUses {
    /// Returns `true` if a sum needs no instruction, because its users add its terms. A sum with several users needs an
    /// instruction if one of its terms is a sum: IADD3 adds only three terms.
    pub(super) fn is_folded(&self, kernel: &Kernel, sum: Value) -> bool {
        let uses = self.0.get_or_init(|| count(kernel))[sum];
        let terms = kernel.def_inst(sum).map_or(&[][..], |inst| kernel.args(inst));
        uses.all == 1 || uses.all == uses.as_term && !terms.iter().any(|&term| is_sum(kernel, term))
    }

    /// Returns `true` if a value has a single use.
    pub(super) fn has_single(&self, kernel: &Kernel, value: Value) -> bool {
        self.0.get_or_init(|| count(kernel))[value].all == 1
    }
}

fn count(kernel: &Kernel) -> SecondaryMap<Value, UseCount> {
    let mut uses: SecondaryMap<Value, UseCount> = SecondaryMap::with_capacity(kernel.values.len());
    for &inst in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts) {
        let passed = kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call));
        kernel.args(inst).iter().chain(passed).for_each(|&value| uses[value].all += 1);
        if let (Op::Add, Type::I32, &[term, _]) = (kernel.insts[inst].op, kernel.insts[inst].ty, kernel.args(inst)) {
            uses[term].as_term += 1;
        }
    }
    uses
}

fn is_sum(kernel: &Kernel, value: Value) -> bool {
    kernel.def_inst(value).is_some_and(|inst| kernel.insts[inst].op == Op::Add)
}

/// Returns a number n such that all bits of a word from bit n on are zero, if such a number is known. Constants are not
/// supported.
pub(super) fn low_bits(kernel: &Kernel, value: Value) -> Option<u32> {
    let inst = kernel.def_inst(value)?;
    let number = |value: Value| Some(register_bits(kernel, const_inst(kernel, value)?)?[0] as u32);
    let length = |number: u32| 32 - number.leading_zeros();
    match (kernel.insts[inst].op, kernel.args(inst)) {
        (Op::And, &[_, mask]) => number(mask).map(length),
        (Op::Select, &[_, a, b]) => Some(length(number(a)?).max(length(number(b)?))),
        (Op::ShrU, &[_, count]) => number(count).map(|count| 32 - count % 32),
        (Op::Zext, &[narrow]) => Some(kernel.ty(narrow).bits()),
        _ => None,
    }
}
