//! NarrowOpFinder ops: finds the op on lanes that computes the bits of a slice.
//!
//! Compilers compute bytes and half-words in registers of 16 or 32 bits. The low bits of a wide sum are the narrow sum.
//! Other wide ops give the same bits as a narrow op if their operands are extensions of narrow operands.

use halfbyte_ir::op::{ArgType, ResultType};
use halfbyte_ir::{Attr, AttrKind, Inst, IntCC, Kernel, Op, Type, Value};
use smallvec::{SmallVec, smallvec};

use super::compare::{Condition, LaneCompare};
use super::slice::{Slice, are_zero, fits_s, fits_u, ones, shift_count, source};
use super::word_of;
use crate::rewrite::constant_lanes;

/// An op on lanes that computes a slice from slices.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LaneOp {
    pub kind: Kind,
    /// Type of the word whose lanes are computed.
    pub ty: Type,
    /// Condition of a select, which becomes the first operand of the packed op.
    pub condition: Option<Condition>,
    pub args: SmallVec<[Slice; 3]>,
}

/// Kind of an op on lanes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind {
    /// An op of the IR.
    Op(Op, Attr),
    /// The unsigned average, rounded down.
    FloorAverage,
}

/// Signedness with which wide operands extend narrow ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extension {
    Zero,
    Sign,
}

/// Analysis that finds the narrow ops of the slices of `width` bits of a kernel.
#[derive(Clone, Copy)]
pub(super) struct NarrowOpFinder<'k> {
    pub kernel: &'k Kernel,
    pub width: u32,
}

/// Returns the type of a word with integer lanes of `width` bits.
pub(super) fn int_word(width: u32) -> Type {
    if width == 8 { Type::I8X4 } else { Type::I16X2 }
}

impl<'k> NarrowOpFinder<'k> {
    pub(super) fn new(kernel: &'k Kernel, width: u32) -> NarrowOpFinder<'k> {
        NarrowOpFinder { kernel, width }
    }

    /// Returns the op on lanes that computes a slice, if there is one. The caller has already looked through moves of
    /// bits.
    pub(super) fn lane_op(self, slice: Slice) -> Option<LaneOp> {
        let Slice::Bits { of, low } = slice else { return None };
        let (kernel, inst) = (self.kernel, self.kernel.def_inst(of)?);
        let ty = kernel.ty(of);
        if !ty.is_scalar() || ty == Type::I1 || ty.bits() < self.width {
            return None;
        }
        if low == 0
            && ty.is_int()
            && let Some(found) = self.distance(of).or_else(|| self.magnitude(of))
        {
            return Some(found);
        }
        if ty.bits() == self.width {
            return self.same_width(inst, ty).or_else(|| self.expanded(inst)).or_else(|| self.narrowed(inst));
        }
        ty.is_int().then(|| self.wide(inst, of, low)).flatten().or_else(|| self.expanded(inst))
    }

    /// Matches the expansion of a truth value to a scalar whose bits are all equal. Returns a select between all ones
    /// and zero.
    fn expanded(self, inst: Inst) -> Option<LaneOp> {
        let op = self.kernel.insts[inst].op;
        let &[condition] = self.kernel.args(inst) else {
            return None;
        };
        let is_truth = op == Op::MaskExpand && self.kernel.ty(condition) == Type::I1;
        let args = [Slice::Known(ones(self.width)), Slice::Known(0)];
        is_truth.then(|| selected(condition, args, int_word(self.width)))
    }

    /// Returns the op of an instruction whose operands and result have the width of the lane.
    fn same_width(self, inst: Inst, ty: Type) -> Option<LaneOp> {
        let data = self.kernel.insts[inst];
        let row = data.op.row();
        let is_in_lanes = row.lanewise
            && row.result == ResultType::Same
            && row.args.iter().all(|&arg| arg == ArgType::Same)
            && matches!(row.attr, AttrKind::None | AttrKind::Float(_));
        let args = self.kernel.args(inst);
        if data.op == Op::Select {
            return self.selection(inst, 0, word_of(ty)?);
        }
        let is_shift = matches!(data.op, Op::Shl | Op::ShrS | Op::ShrU | Op::Rotl | Op::Rotr);
        let is_known = |&count: &Value| constant_lanes(self.kernel, count).is_some();
        let has_count = !is_shift || args.get(1).is_some_and(is_known);
        (is_in_lanes && has_count).then_some(LaneOp {
            kind: Kind::Op(data.op, data.attr),
            ty: word_of(ty)?,
            condition: None,
            args: args.iter().map(|&arg| Slice::lowest(arg)).collect(),
        })
    }

    fn selection(self, inst: Inst, low: u32, ty: Type) -> Option<LaneOp> {
        let &[condition, a, b] = self.kernel.args(inst) else {
            return None;
        };
        if self.kernel.ty(condition) != Type::I1 {
            return None;
        }
        let args = [a, b].map(|of| source(self.kernel, Slice::Bits { of, low }, self.width));
        let choice = ty.is_int().then(|| self.choice(condition, args)).flatten();
        choice.or_else(|| Some(selected(condition, args, ty)))
    }

    /// Matches a select that computes the minimum, maximum or absolute difference of the slices that its condition
    /// compares.
    fn choice(self, condition: Value, [a, b]: [Slice; 2]) -> Option<LaneOp> {
        let truth = Condition { of: condition, is_complement: false };
        let LaneCompare { op: Op::Icmp, attr: Attr::IntCC(cc), args, .. } = self.compare(truth)? else {
            return None;
        };
        let (is_signed, is_greater) = match cc {
            IntCC::GtS | IntCC::GeS => (true, true),
            IntCC::LtS | IntCC::LeS => (true, false),
            IntCC::GtU | IntCC::GeU => (false, true),
            IntCC::LtU | IntCC::LeU => (false, false),
            _ => return None,
        };
        let [x, y] = args.map(|arg| source(self.kernel, arg, self.width));
        // Orders the slices such that `x` is the greater one if the condition is true.
        let (x, y) = if is_greater { (x, y) } else { (y, x) };
        let by_sign = |signed: Op, unsigned: Op| if is_signed { signed } else { unsigned };
        if (a, b) == (x, y) {
            return Some(self.made(by_sign(Op::MaxS, Op::MaxU), [x, y]));
        }
        if (a, b) == (y, x) {
            return Some(self.made(by_sign(Op::MinS, Op::MinU), [x, y]));
        }
        let difference = |slice: Slice| {
            let Slice::Bits { of, low: 0 } = slice else { return None };
            let (Op::Sub, &[a, b]) = self.def(of)? else { return None };
            Some([a, b].map(|of| source(self.kernel, Slice::lowest(of), self.width)))
        };
        let is_distance = difference(a) == Some([x, y]) && difference(b) == Some([y, x]);
        is_distance.then(|| self.made(by_sign(Op::AbsDiffS, Op::AbsDiffU), [x, y]))
    }

    /// Returns the narrow op that computes the bits of the integer `of` from bit `low` on. The integer is wider than a lane.
    fn wide(self, inst: Inst, of: Value, low: u32) -> Option<LaneOp> {
        let (kernel, width) = (self.kernel, self.width);
        let op = kernel.insts[inst].op;
        let args = kernel.args(inst);
        let at = |of: Value| Slice::Bits { of, low };
        if low == 0
            && let Some(found) = self.saturated(of).or_else(|| self.average(of))
        {
            return Some(found);
        }
        let is_top = low + width == kernel.ty(of).bits();
        let below = ones(low);
        let has_no_bits_below = |of: Value| low == 0 || are_zero(kernel, of, below);
        match (op, args) {
            (Op::And, &[a, b]) => {
                let (a, b) = (at(a), at(b));
                let masked = self.masked(a, b).or_else(|| self.masked(b, a));
                masked.or_else(|| Some(self.made(op, [a, b])))
            }
            (Op::Or | Op::Xor, &[a, b]) => Some(self.made(op, [at(a), at(b)])),
            (Op::Not, &[a]) => Some(self.made(op, [at(a)])),
            (Op::Select, _) => self.selection(inst, low, int_word(width)),
            // The bits below `low` produce no carry if these bits of one operand are zero.
            (Op::Add, &[a, b]) => self
                .half_at(a, b, low)
                .or_else(|| (has_no_bits_below(a) || has_no_bits_below(b)).then(|| self.made(op, [at(a), at(b)]))),
            (Op::Sub, &[a, b]) => has_no_bits_below(b).then(|| self.made(op, [at(a), at(b)])),
            (Op::Neg, &[a]) => has_no_bits_below(a).then(|| self.made(op, [at(a)])),
            (Op::MinS | Op::MaxS | Op::MinU | Op::MaxU, &[a, b]) => {
                if low == 0 && self.both(a, b, Extension::Zero) {
                    let op = match op {
                        Op::MinS | Op::MinU => Op::MinU,
                        _ => Op::MaxU,
                    };
                    return Some(self.made(op, [at(a), at(b)]));
                }
                // Sign extension preserves the unsigned order, too.
                let is_same = low == 0 && self.both(a, b, Extension::Sign)
                    || low > 0 && is_top && has_no_bits_below(a) && has_no_bits_below(b);
                is_same.then(|| self.made(op, [at(a), at(b)]))
            }
            (Op::Mul, &[a, b]) if low == 0 => Some(self.made(op, [at(a), at(b)])),
            (Op::Shl, &[a, count]) if low == 0 => self.shift(op, a, count, of),
            // If a sum is shifted left by `low - 1`, the bits from `low` on are half of the sum.
            (Op::Shl, &[a, count]) => {
                let is_half = shift_count(kernel, count, of).is_some_and(|count| count + 1 == low);
                is_half.then(|| self.halved(a)).flatten()
            }
            (Op::ShrU | Op::ShrS, &[a, count]) if low == 0 && fits_u(kernel, a, width) => {
                self.shift(Op::ShrU, a, count, of)
            }
            (Op::ShrS, &[a, count]) if low == 0 && fits_s(kernel, a, width) => self.shift(op, a, count, of),
            (Op::SubSatU, &[a, b]) if low == 0 && self.both(a, b, Extension::Zero) => {
                Some(self.made(op, [at(a), at(b)]))
            }
            (Op::AvgS, &[a, b]) if low == 0 && self.both(a, b, Extension::Sign) => Some(self.made(op, [at(a), at(b)])),
            (Op::AvgU | Op::AvgS, &[a, b]) if low == 0 && self.both(a, b, Extension::Zero) => {
                Some(self.made(Op::AvgU, [at(a), at(b)]))
            }
            _ => None,
        }
    }

    /// Matches the bitwise AND of a constant and an expanded truth value. Returns a select between the constant and
    /// zero.
    fn masked(self, truth: Slice, bits: Slice) -> Option<LaneOp> {
        let Slice::Bits { of, .. } = source(self.kernel, truth, self.width) else {
            return None;
        };
        let Slice::Known(_) = source(self.kernel, bits, self.width) else {
            return None;
        };
        let (Op::MaskExpand, &[condition]) = self.def(of)? else {
            return None;
        };
        let is_truth = self.kernel.ty(condition) == Type::I1;
        is_truth.then(|| selected(condition, [bits, Slice::Known(0)], int_word(self.width)))
    }

    pub(super) fn made<const N: usize>(self, op: Op, args: [Slice; N]) -> LaneOp {
        LaneOp {
            kind: Kind::Op(op, Attr::None),
            ty: int_word(self.width),
            condition: None,
            args: args.into_iter().collect(),
        }
    }

    /// Returns a shift by a constant count below the width of the lane.
    fn shift(self, op: Op, a: Value, count: Value, of: Value) -> Option<LaneOp> {
        let count = shift_count(self.kernel, count, of).filter(|&count| count < self.width)?;
        Some(self.made(op, [Slice::lowest(a), Slice::Known(u64::from(count))]))
    }

    pub(super) fn both(self, a: Value, b: Value, extension: Extension) -> bool {
        self.is_extension(a, extension) && self.is_extension(b, extension)
    }

    /// Returns `true` if a wide value is the extension of its low bits.
    pub(super) fn is_extension(self, value: Value, extension: Extension) -> bool {
        match extension {
            Extension::Zero => fits_u(self.kernel, value, self.width),
            Extension::Sign => fits_s(self.kernel, value, self.width),
        }
    }

    pub(super) fn def(self, value: Value) -> Option<(Op, &'k [Value])> {
        let inst = self.kernel.def_inst(value)?;
        Some((self.kernel.insts[inst].op, self.kernel.args(inst)))
    }
}

/// Returns the select between two slices. If only the first slice is zero, swaps the slices and complements the
/// condition.
fn selected(of: Value, [a, b]: [Slice; 2], ty: Type) -> LaneOp {
    let is_complement = a == Slice::Known(0) && b != a;
    let args = if is_complement { smallvec![b, a] } else { smallvec![a, b] };
    let kind = Kind::Op(Op::Select, Attr::None);
    LaneOp { kind, ty, condition: Some(Condition { of, is_complement }), args }
}
