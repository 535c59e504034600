//! Profit of packing a word: the number of scalar instructions that are no longer needed, minus the number of packed
//! instructions.

use cranelift_entity::EntitySet;
use halfbyte_ir::{Inst, Kernel, Op, Type, Value};
use rustc_hash::FxHashMap;

use super::group::{LaneGroup, WordSource};
use super::lane_op::Kind;
use super::slice::Slice;
use super::{Root, Search};
use crate::passes::accesses::address;

/// Effect of packing a word on the instructions of the kernel.
#[derive(Default)]
pub(super) struct Effect {
    /// Change of the number of uses of each value.
    uses: FxHashMap<Value, i32>,
    /// Instructions that become unused.
    pub removed: Vec<Inst>,
    /// Number of machine instructions that are saved.
    pub saved: i32,
}

impl Search<'_> {
    /// Returns the effect of replacing the computation of a root by `groups`. Returns the index of a group of loads if
    /// other instructions also need the loaded values.
    pub(super) fn effect(&self, kernel: &Kernel, root: &Root, groups: &[LaneGroup]) -> Result<Effect, usize> {
        let mut effect = Effect::default();
        let mut loads = EntitySet::new();
        for group in groups {
            effect.saved -= self.cost(kernel, group);
            let mut use_one = |value: Value| *effect.uses.entry(value).or_default() += 1;
            match &group.how {
                WordSource::Whole(of) => use_one(*of),
                WordSource::Part(register) => use_one(register.of),
                WordSource::Shuffle { registers, .. } => registers.iter().for_each(|register| use_one(register.of)),
                WordSource::Splat | WordSource::Concat => {
                    let ends = group.ends(kernel);
                    ends.iter().for_each(|end| {
                        if let Slice::Bits { of, .. } = *end {
                            use_one(of);
                        }
                    });
                }
                WordSource::Load { insts } => {
                    loads.extend(insts.iter().copied());
                    // The packed load takes the address of the first load.
                    insts.iter().take(1).flat_map(|&load| address(kernel, load)).for_each(|&value| use_one(value));
                }
                WordSource::Op { .. } | WordSource::Const(_) => {}
            }
        }
        let mut unused: Vec<Value> = Vec::new();
        match root {
            Root::Stores(stores) => {
                effect.saved += stores.len() as i32 - 1;
                unused.extend(stores.iter().filter_map(|&store| kernel.args(store).first()));
            }
            Root::Joined(inst) => {
                effect.saved += self.weight(kernel, *inst);
                unused.extend(kernel.args(*inst));
            }
            Root::Sum { inst, sums, rest } => {
                effect.saved += self.weight(kernel, *inst);
                unused.extend(kernel.args(*inst));
                rest.iter().for_each(|&term| *effect.uses.entry(term).or_default() += 1);
                let separate = sums.iter().filter(|sum| !sum.accumulates()).count();
                let adds = (rest.len() + separate).saturating_sub(1);
                effect.saved -= (sums.len() + adds) as i32;
            }
        }
        while let Some(value) = unused.pop() {
            let change = effect.uses.entry(value).or_default();
            *change -= 1;
            let is_unused = self.uses[value].cast_signed() + *change == 0;
            let Some(inst) = kernel.def_inst(value).filter(|_| is_unused) else { continue };
            if kernel.insts[inst].op.is_pure() || loads.contains(inst) {
                effect.saved += self.weight(kernel, inst);
                effect.removed.push(inst);
                unused.extend(kernel.args(inst));
            }
        }
        let is_needed = |inst: &Inst| !effect.removed.contains(inst);
        let needs = |group: &LaneGroup| matches!(&group.how, WordSource::Load { insts } if insts.iter().any(is_needed));
        match groups.iter().position(needs) {
            Some(needed) => Err(needed),
            None => Ok(effect),
        }
    }

    /// Applies an effect to the numbers of uses, and records the removed results.
    pub(super) fn commit(&mut self, kernel: &Kernel, removed: &[Inst], effect: &Effect) {
        for (&value, &change) in &effect.uses {
            self.uses[value] = self.uses[value].saturating_add_signed(change);
        }
        for &inst in removed {
            if let Some(result) = kernel.result(inst) {
                self.gone.insert(result);
            }
        }
    }

    /// Returns the number of machine instructions for a scalar instruction.
    fn weight(&self, kernel: &Kernel, inst: Inst) -> i32 {
        let data = &kernel.insts[inst];
        let args = kernel.args(inst);
        let is_loaded = |&value: &Value| kernel.def_inst(value).is_some_and(|def| kernel.insts[def].op == Op::Load);
        match data.op {
            Op::Const | Op::Bitcast | Op::Trunc | Op::MaskExpand => 0,
            Op::Zext | Op::Sext => i32::from(!args.first().is_some_and(is_loaded)),
            Op::Split | Op::Extract => i32::from(data.ty.bits() < 32 && data.attr != super::group::FIRST_LANE),
            Op::Concat if args.first().is_some_and(|&part| kernel.ty(part).bits() >= 32) => 0,
            Op::Concat => args.len() as i32 - (data.ty.bits() / 32).max(1) as i32,
            Op::MinS | Op::MinU | Op::MaxS | Op::MaxU | Op::Abs | Op::AbsDiffS | Op::AbsDiffU
                if data.ty.bits() == 32 && data.ty.is_scalar() =>
            {
                2
            }
            _ => 1,
        }
    }

    /// Returns the number of machine instructions that compute the word of a group.
    fn cost(&self, kernel: &Kernel, group: &LaneGroup) -> i32 {
        match &group.how {
            WordSource::Op { kind: Kind::FloorAverage, .. } => 4,
            WordSource::Op { kind: Kind::Op(op, _), of, .. } => match op {
                Op::MaskExpand => 0,
                Op::And | Op::Or | Op::Xor | Op::Not | Op::Select => 1,
                Op::Icmp | Op::Shl | Op::ShrS | Op::ShrU => 2,
                Op::Mul => 2,
                _ if *of == Type::I8X4 && !self.legality.has_half_word_pairs() => 3,
                _ => 1,
            },
            WordSource::Load { .. } | WordSource::Shuffle { .. } => 1,
            // Two scalar conversions to halves become one packed conversion.
            WordSource::Concat
                if group.ty.is_half() && group.ends(kernel).iter().all(|&end| is_converted(kernel, end)) =>
            {
                -1
            }
            WordSource::Concat => {
                let is_moved =
                    |end: &&Slice| matches!(**end, Slice::Bits { of, low } if low > 0 || kernel.ty(of).bits() > 32);
                let moves = group.ends(kernel).iter().filter(is_moved).count();
                group.lanes.len() as i32 - 1 + moves as i32
            }
            WordSource::Whole(_) | WordSource::Part(_) | WordSource::Const(_) | WordSource::Splat => 0,
        }
    }
}

/// Returns `true` if a slice is an `f32` that is converted to a half.
fn is_converted(kernel: &Kernel, slice: Slice) -> bool {
    let Slice::Bits { of, low: 0 } = slice else { return false };
    let Some(inst) = kernel.def_inst(of).filter(|&inst| kernel.insts[inst].op == Op::Fcvt) else { return false };
    kernel.args(inst).first().is_some_and(|&from| kernel.ty(from) == Type::F32)
}
