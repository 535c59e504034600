//! Idioms of narrow arithmetic in wide registers: absolute differences, saturating sums and averages.

use halfbyte_ir::{Attr, Inst, IntCC, KnownValues, Op, Value};
use smallvec::smallvec;

use super::lane_op::{Extension, Kind, LaneOp, NarrowOpFinder, int_word};
use super::slice::{Slice, fits_s, fits_u, ones, shift_count, source};
use crate::idioms;
use crate::range::Range;
use crate::rewrite::{constant_lanes, signed_lane};

/// An operand of a wide op.
#[derive(Clone, Copy)]
enum Operand {
    Value(Value),
    Number(i128),
}

impl<'k> NarrowOpFinder<'k> {
    pub(super) fn number(self, value: Value) -> Option<i128> {
        let (ty, [lane, ..]) = constant_lanes(self.kernel, value)?;
        (ty.is_int() && ty.is_scalar()).then(|| i128::from(signed_lane(ty.elem(), lane)))
    }

    /// Returns the operands of a difference. A negation and a sum with a negative constant are differences, too.
    fn difference(self, value: Value) -> Option<[Operand; 2]> {
        match self.def(value)? {
            (Op::Sub, &[a, b]) => Some([Operand::Value(a), Operand::Value(b)]),
            (Op::Neg, &[a]) => Some([Operand::Number(0), Operand::Value(a)]),
            (Op::Add, &[a, b]) => {
                let number = self.number(b).filter(|&number| number < 0)?;
                Some([Operand::Value(a), Operand::Number(-number)])
            }
            _ => None,
        }
    }

    fn extends(self, operand: Operand, extension: Extension) -> bool {
        match operand {
            Operand::Value(value) => self.is_extension(value, extension),
            Operand::Number(number) => self.lanes(extension).contains(&number),
        }
    }

    /// Returns the range of numbers that a lane can hold.
    fn lanes(self, extension: Extension) -> Range {
        match extension {
            Extension::Zero => 0..=i128::from(ones(self.width)),
            Extension::Sign => -(1 << (self.width - 1))..=(1 << (self.width - 1)) - 1,
        }
    }

    fn slice(self, operand: Operand) -> Slice {
        match operand {
            Operand::Value(value) => Slice::lowest(value),
            Operand::Number(number) => Slice::Known(number as u64 & ones(self.width)),
        }
    }

    fn of_operands(self, op: Op, args: [Operand; 2]) -> LaneOp {
        self.made(op, args.map(|arg| self.slice(arg)))
    }

    /// Matches a wide value that is the absolute difference of narrow operands.
    pub(super) fn distance(self, of: Value) -> Option<LaneOp> {
        let args = self.distance_operands(of)?;
        let fit = |extension: Extension| args.iter().all(|&arg| self.extends(arg, extension));
        if fit(Extension::Zero) {
            return Some(self.of_operands(Op::AbsDiffU, args));
        }
        fit(Extension::Sign).then(|| self.of_operands(Op::AbsDiffS, args))
    }

    fn distance_operands(self, of: Value) -> Option<[Operand; 2]> {
        // Operands as narrow as a lane are not extended, so their difference may wrap.
        let is_wide = |value: Value| self.kernel.ty(value).bits() > self.width;
        match self.def(of)? {
            (Op::AbsDiffS | Op::AbsDiffU, _) if !is_wide(of) => None,
            (Op::AbsDiffS, &[a, b]) => Some([Operand::Value(a), Operand::Value(b)]),
            // The operands of an unsigned difference must be zero extensions.
            (Op::AbsDiffU, &[a, b]) => {
                self.both(a, b, Extension::Zero).then_some([Operand::Value(a), Operand::Value(b)])
            }
            _ => self.difference(self.absolute(of).filter(|&difference| is_wide(difference))?),
        }
    }

    /// Returns the value `x` whose absolute value is `of`. Also matches `(x + m) ^ m` and `(x ^ m) - m`, where all bits
    /// of `m` are the sign of `x`.
    fn absolute(self, of: Value) -> Option<Value> {
        let low = |value: Value| match source(self.kernel, Slice::lowest(value), self.width) {
            Slice::Bits { of, low: 0 } => Some(of),
            _ => None,
        };
        let by_sign = |sum: Value, mask: Value, op: Op| {
            let (sum, mask) = (low(sum)?, low(mask)?);
            let value = idioms::signs_of(self.kernel, mask)?;
            match self.def(sum)? {
                (found, &[a, b]) if found == op && ((a, b) == (value, mask) || (a, b) == (mask, value)) => Some(value),
                _ => None,
            }
        };
        match self.def(of)? {
            (Op::Abs, &[value]) => Some(value),
            (Op::Xor, &[a, b]) => by_sign(a, b, Op::Add).or_else(|| by_sign(b, a, Op::Add)),
            (Op::Sub, &[a, b]) => by_sign(a, b, Op::Xor),
            _ => None,
        }
    }

    /// Matches a wide value that is the absolute value of a narrow operand.
    pub(super) fn magnitude(self, of: Value) -> Option<LaneOp> {
        let value = self.absolute(of).filter(|&value| self.kernel.ty(value).bits() > self.width)?;
        fits_s(self.kernel, value, self.width).then(|| self.made(Op::Abs, [Slice::lowest(value)]))
    }

    /// Matches a saturating narrowing of a difference of narrow operands, or of a narrow operand with the other
    /// signedness.
    pub(super) fn narrowed(self, inst: Inst) -> Option<LaneOp> {
        let &[wide] = self.kernel.args(inst) else { return None };
        if self.kernel.insts[inst].op == Op::NarrowSatS
            && let Some(args) = self.difference(wide)
            && args.iter().all(|&arg| self.extends(arg, Extension::Sign))
        {
            return Some(self.of_operands(Op::SubSatS, args));
        }
        let greatest = ones(self.width - 1);
        match self.kernel.insts[inst].op {
            Op::NarrowSatS if fits_u(self.kernel, wide, self.width) => {
                Some(self.made(Op::MinU, [Slice::lowest(wide), Slice::Known(greatest)]))
            }
            Op::NarrowSatU if fits_s(self.kernel, wide, self.width) => {
                Some(self.made(Op::MaxS, [Slice::lowest(wide), Slice::Known(0)]))
            }
            _ => None,
        }
    }

    /// Matches a wide sum or difference that is clamped to the range of a lane. Returns the saturating narrow op.
    pub(super) fn saturated(self, of: Value) -> Option<LaneOp> {
        let clamped = |extension: Extension| {
            let inner = idioms::clamped(self.kernel, &mut KnownValues::default(), of, &self.lanes(extension))?;
            let fits = |args: &[Operand; 2]| args.iter().all(|&arg| self.extends(arg, extension));
            let (add, sub) = match extension {
                Extension::Zero => (Op::AddSatU, Op::SubSatU),
                Extension::Sign => (Op::AddSatS, Op::SubSatS),
            };
            if let Some(args) = self.difference(inner).filter(fits) {
                return Some(self.of_operands(sub, args));
            }
            match self.def(inner)? {
                (Op::Add, &[a, b]) => {
                    let args = [Operand::Value(a), Operand::Value(b)];
                    fits(&args).then(|| self.of_operands(add, args))
                }
                _ => None,
            }
        };
        clamped(Extension::Zero).or_else(|| clamped(Extension::Sign))
    }

    /// Matches a wide value that is the average of narrow operands.
    pub(super) fn average(self, of: Value) -> Option<LaneOp> {
        if let Some((a, b)) = idioms::half_up(self.kernel, of)
            && self.both(a, b, Extension::Zero)
        {
            return Some(self.made(Op::AvgU, [Slice::lowest(a), Slice::lowest(b)]));
        }
        let (Op::ShrU | Op::ShrS, &[sum, count]) = self.def(of)? else {
            return None;
        };
        (self.number(count) == Some(1)).then(|| self.halved(sum)).flatten()
    }

    /// Matches a wide sum of narrow operands whose lowest bit the caller drops. Returns the average of the operands.
    pub(super) fn halved(self, sum: Value) -> Option<LaneOp> {
        let (Op::Add, &[a, b]) = self.def(sum)? else {
            return None;
        };
        let less_one = |value: Value| match self.def(value) {
            Some((Op::Add, &[rest, one])) if self.number(one) == Some(1) => Some(rest),
            _ => None,
        };
        let parts = match self.def(a) {
            Some((Op::Add, &[x, y])) if self.number(b) == Some(1) => Some((x, y)),
            _ => less_one(a).map(|a| (a, b)).or_else(|| less_one(b).map(|b| (a, b))),
        };
        if let Some((x, y)) = parts.filter(|&(x, y)| self.both(x, y, Extension::Zero)) {
            return Some(self.made(Op::AvgU, [Slice::lowest(x), Slice::lowest(y)]));
        }
        if self.both(a, b, Extension::Zero) {
            let args = smallvec![Slice::lowest(a), Slice::lowest(b)];
            return Some(LaneOp { kind: Kind::FloorAverage, ty: int_word(self.width), condition: None, args });
        }
        let rounded = |sum: Value, unit: Value| {
            let (Op::Add, &[a, b]) = self.def(sum)? else {
                return None;
            };
            let is_average = self.is_unit_of_sign(unit, sum) && self.both(a, b, Extension::Sign);
            is_average.then(|| self.made(Op::AvgS, [Slice::lowest(a), Slice::lowest(b)]))
        };
        rounded(a, b).or_else(|| rounded(b, a))
    }

    /// Matches `(a + b << low - 1) + (1 << low - 1)`. Returns the average of `a` and `b`, rounded up, which is in the
    /// bits from `low` on.
    pub(super) fn half_at(self, shifted: Value, unit: Value, low: u32) -> Option<LaneOp> {
        let (Op::Shl, &[sum, count]) = self.def(shifted)? else {
            return None;
        };
        let count = shift_count(self.kernel, count, shifted).filter(|count| count + 1 == low)?;
        let (Op::Add, &[a, b]) = self.def(sum)? else {
            return None;
        };
        let is_average = self.number(unit) == Some(1 << count) && self.both(a, b, Extension::Zero);
        is_average.then(|| self.made(Op::AvgU, [Slice::lowest(a), Slice::lowest(b)]))
    }

    /// Returns `true` if `unit` is 1 for a non-negative `of`, and 0 for a negative one.
    fn is_unit_of_sign(self, unit: Value, of: Value) -> bool {
        let sign = i128::from(self.kernel.ty(of).bits()) - 1;
        let is_sign = |value: Value, of: Value| match self.def(value) {
            Some((Op::ShrU, &[shifted, count])) => shifted == of && self.number(count) == Some(sign),
            _ => false,
        };
        match self.def(unit) {
            Some((Op::Xor, &[value, one])) => self.number(one) == Some(1) && is_sign(value, of),
            Some((Op::ShrU, &[complement, _])) => {
                let is_complement = match self.def(complement) {
                    Some((Op::Not, &[value])) => value == of,
                    Some((Op::Xor, &[value, ones])) => value == of && self.number(ones) == Some(-1),
                    _ => false,
                };
                is_complement && is_sign(unit, complement)
            }
            Some((Op::Select, &[condition, one, zero])) => {
                let Some((Attr::IntCC(cc), &[value, bound])) = self.icmp(condition) else {
                    return false;
                };
                let is_bound = matches!((cc, self.number(bound)), (IntCC::GeS, Some(0)) | (IntCC::GtS, Some(-1)));
                let is_complement = matches!((cc, self.number(bound)), (IntCC::LtS, Some(0)) | (IntCC::LeS, Some(-1)));
                let units = [one, zero].map(|value| self.number(value));
                value == of && (is_bound && units == [Some(1), Some(0)] || is_complement && units == [Some(0), Some(1)])
            }
            _ => false,
        }
    }

    fn icmp(self, truth: Value) -> Option<(Attr, &'k [Value])> {
        let inst = self.kernel.def_inst(truth).filter(|&inst| self.kernel.insts[inst].op == Op::Icmp)?;
        Some((self.kernel.insts[inst].attr, self.kernel.args(inst)))
    }
}
