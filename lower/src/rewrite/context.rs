//! The terms of the rules that ISLE cannot express: conditions, constants and new instructions.

use halfbyte_ir::{Clamp, Rounding};

use super::*;
use crate::idioms;
use crate::word_lanes::{self, Operand};

impl generated::Context for Rewriter<'_> {
    ir_methods!();

    fn fired(&mut self, rule: u32) {
        self.fired.push(self.first + rule);
    }

    fn fired_inst(&mut self, rule: u32, _: Inst) {
        self.fired.push(self.first + rule);
    }

    fn fired_value(&mut self, rule: u32, _: Value) {
        self.fired.push(self.first + rule);
    }

    fn iconst(&mut self, value: Value) -> Option<i64> {
        let (elem, lane) = self.lane_of(value)?;
        (!matches!(elem, Elem::F16 | Elem::BF16 | Elem::F32 | Elem::F64 | Elem::E4M3 | Elem::E5M2))
            .then(|| signed_lane(elem, lane))
    }

    fn constant(&mut self, value: Value) -> Option<()> {
        holds(is_constant(self.kernel, value))
    }

    fn float_one(&mut self, value: Value) -> Option<()> {
        self.is_lane(value, one)
    }

    fn float_negative_zero(&mut self, value: Value) -> Option<()> {
        self.is_lane(value, negative_zero)
    }

    fn has_type(&mut self, value: Value) -> (Type, Value) {
        (self.kernel.ty(value), value)
    }

    fn integer(&mut self, ty: Type, value: i64) -> Value {
        self.constant_of(ty, |_| value.cast_unsigned())
    }

    fn bits_of(&mut self, ty: Type, bits: i64) -> Value {
        self.constant_of(ty, |_| bits.cast_unsigned())
    }

    fn float_one_of(&mut self, ty: Type) -> Value {
        self.float(ty, one)
    }

    fn float_zero_of(&mut self, ty: Type) -> Value {
        self.constant_of(ty, |_| 0)
    }

    fn float_negative_zero_of(&mut self, ty: Type) -> Value {
        self.float(ty, negative_zero)
    }

    fn const_part(&mut self, ty: Type, part: u8, whole: Inst) -> Value {
        let bits = self.kernel.const_bits(whole).unwrap_or_default();
        let start = u32::from(part) * ty.bits();
        // A part has at most 64 bits, or it is the whole constant.
        let word = bits.get((start / 64) as usize).copied().unwrap_or(0) >> (start % 64);
        let bits = [word & (u64::MAX >> (64 - ty.bits().min(64))), 0, 0, 0, 0, 0, 0, 0];
        let attr = self.kernel.const_attr(ty, bits);
        self.make(Op::Const, ty, attr, &[])
    }

    fn const_lanes(&mut self, ty: Type, from: Inst) -> Value {
        let lanes = self.kernel.result(from).and_then(|value| constant_lanes(self.kernel, value));
        let lanes = lanes.map_or([0; MAX_LANES], |(_, lanes)| lanes);
        self.constant_of(ty, |i| lanes.get(i).copied().unwrap_or(0))
    }

    fn int(&mut self, ty: Type) -> Option<Type> {
        ty.is_int().then_some(ty)
    }

    fn scalar_int(&mut self, ty: Type) -> Option<Type> {
        (ty.is_int() && ty.is_scalar()).then_some(ty)
    }

    fn half(&mut self, ty: Type) -> Option<Type> {
        ty.is_half().then_some(ty)
    }

    fn has_one_nan(&mut self, ty: Type) -> Option<()> {
        holds(ty != Type::F64)
    }

    fn fp8(&mut self, ty: Type) -> Option<()> {
        holds(ty.is_fp8())
    }

    fn not_f16(&mut self, ty: Type) -> Option<()> {
        holds(ty.is_float() && ty != Type::F16)
    }

    fn float(&mut self, ty: Type) -> Option<Type> {
        ty.is_float().then_some(ty)
    }

    fn splittable(&mut self, ty: Type) -> Option<()> {
        holds(!ty.is_mask() && ty.bits() <= 128)
    }

    fn packed_word(&mut self, ty: Type) -> Option<()> {
        holds(!ty.is_scalar() && !ty.is_mask() && ty.bits() == 32)
    }

    fn pair(&mut self, ty: Type) -> Option<()> {
        holds(ty.lanes() == 2 && ty.bits() == 32)
    }

    fn summable(&mut self, ty: Type) -> Option<()> {
        holds(Op::SadU.row().types.is_some_and(|set| set.contains(ty)))
    }

    fn is_half(&mut self, ty: Type) -> Option<()> {
        holds(ty.is_half())
    }

    fn same_type(&mut self, a: Type, b: Type) -> Option<()> {
        holds(a == b)
    }

    fn lane_type(&mut self, ty: Type) -> Type {
        ty.lane_type()
    }

    fn mask_type(&mut self, ty: Type) -> Option<Type> {
        ty.mask_type()
    }

    fn widened(&mut self, ty: Type) -> Option<Type> {
        ty.widened()
    }

    fn as_int(&mut self, ty: Type) -> Option<Type> {
        let elem = match ty.elem().bits() {
            16 => Elem::I16,
            32 => Elem::I32,
            _ => return None,
        };
        Type::new(elem, ty.lanes())
    }

    fn mask_word(&mut self, mask: Type) -> Option<Type> {
        match mask {
            Type::I1 => Some(Type::I32),
            Type::I1X2 => Some(Type::I16X2),
            Type::I1X4 => Some(Type::I8X4),
            _ => None,
        }
    }

    fn sign_shift(&mut self, ty: Type) -> i64 {
        i64::from(ty.elem().bits()) - 1
    }

    fn sign_bit(&mut self, ty: Type) -> i64 {
        i64::MIN >> (64 - ty.elem().bits())
    }

    fn other_bits(&mut self, ty: Type) -> i64 {
        !self.sign_bit(ty)
    }

    fn sign_sum(&mut self, ty: Type) -> i64 {
        (ty.lanes() as i64) << (ty.elem().bits() - 1)
    }

    fn lane_mask(&mut self, ty: Type) -> i64 {
        ty.elem().mask().cast_signed()
    }

    fn lane_offset(&mut self, ty: Type, lane: u8) -> i64 {
        i64::from(lane) * i64::from(ty.elem().bits())
    }

    fn rest(&mut self, ty: Type, count: i64) -> i64 {
        i64::from(ty.elem().bits()) - (count & self.sign_shift(ty))
    }

    fn unused(&mut self, ty: Type) -> i64 {
        32 - i64::from(ty.elem().bits())
    }

    fn above(&mut self, ty: Type) -> i64 {
        1 << ty.elem().bits().min(63)
    }

    fn type_of(&mut self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    fn narrower(&mut self, a: Type, b: Type) -> Option<()> {
        holds(a.lanes() == b.lanes() && a.elem().bits() < b.elem().bits())
    }

    fn swapped(&mut self, (cc, ftz): FloatCond) -> FloatCond {
        (cc.swapped(), ftz)
    }

    fn inverted(&mut self, cc: &IntCC) -> IntCC {
        cc.inverted()
    }

    fn float_inverted(&mut self, (cc, ftz): FloatCond) -> FloatCond {
        (cc.inverted(), ftz)
    }

    fn reflexive(&mut self, cc: &IntCC) -> i64 {
        match cc {
            IntCC::Eq | IntCC::LeS | IntCC::GeS | IntCC::LeU | IntCC::GeU => -1,
            IntCC::Ne | IntCC::LtS | IntCC::GtS | IntCC::LtU | IntCC::GtU => 0,
        }
    }

    fn orders(&mut self, cc: &IntCC) -> Option<()> {
        holds(!matches!(cc, IntCC::Eq | IntCC::Ne))
    }

    fn unsigned(&mut self, cc: &IntCC) -> IntCC {
        match cc {
            IntCC::LtS => IntCC::LtU,
            IntCC::LeS => IntCC::LeU,
            IntCC::GtS => IntCC::GtU,
            IntCC::GeS => IntCC::GeU,
            &same => same,
        }
    }

    fn less_s(&mut self, cc: &IntCC) -> Option<()> {
        holds(matches!(cc, IntCC::LtS | IntCC::LeS))
    }

    fn less_u(&mut self, cc: &IntCC) -> Option<()> {
        holds(matches!(cc, IntCC::LtU | IntCC::LeU))
    }

    fn greater_s(&mut self, cc: &IntCC) -> Option<()> {
        holds(matches!(cc, IntCC::GtS | IntCC::GeS))
    }

    fn greater_u(&mut self, cc: &IntCC) -> Option<()> {
        holds(matches!(cc, IntCC::GtU | IntCC::GeU))
    }

    fn equates(&mut self, cc: &IntCC) -> Option<()> {
        holds(matches!(cc, IntCC::Eq | IntCC::Ne))
    }

    fn narrow_int(&mut self, ty: Type) -> Option<Type> {
        (ty.is_int() && ty.elem() != Elem::I64 && ty.bits() <= 128).then_some(ty)
    }

    fn short_int(&mut self, ty: Type) -> Option<Type> {
        self.narrow_int(ty).filter(|ty| ty.elem() != Elem::I32)
    }

    fn clamped_s(&mut self, ty: Type, value: Value) -> Option<Value> {
        idioms::clamped(self.kernel, &mut self.known, value, &range::signed_lanes(ty))
    }

    fn clamped_u(&mut self, ty: Type, value: Value) -> Option<Value> {
        idioms::clamped(self.kernel, &mut self.known, value, &range::unsigned_lanes(ty))
    }

    fn fits_s(&mut self, ty: Type, value: Value) -> Option<()> {
        holds(range::is_in(&self.signed_range(value), &range::signed_lanes(ty)))
    }

    fn fits_u(&mut self, ty: Type, value: Value) -> Option<()> {
        holds(range::is_in(&self.signed_range(value), &range::unsigned_lanes(ty)))
    }

    fn negative_fits_u(&mut self, ty: Type, value: Value) -> Option<()> {
        let range = range::negated(&self.signed_range(value));
        holds(range::is_in(&range, &range::unsigned_lanes(ty)))
    }

    fn unsigned_fits_u(&mut self, ty: Type, value: Value) -> Option<()> {
        holds(range::is_in(&self.unsigned_range(value), &range::unsigned_lanes(ty)))
    }

    fn clears_nothing(&mut self, x: Value, y: Value) -> Option<()> {
        let (x, y) = (self.known.of(self.kernel, x), self.known.of(self.kernel, y));
        holds(x.lanes().zip(y.lanes()).all(|(x, y)| !(x.zeros() | y.ones()) & (u64::MAX >> (64 - x.width())) == 0))
    }

    fn non_negative(&mut self, value: Value) -> Option<()> {
        holds(*self.signed_range(value).start() >= 0)
    }

    fn non_zero(&mut self, value: Value) -> Option<()> {
        holds(*self.unsigned_range(value).start() > 0)
    }

    fn known_truth(&mut self, cc: &IntCC, x: Value, y: Value) -> Option<i64> {
        self.known.compared(self.kernel, *cc, x, y).map(|holds| -i64::from(holds))
    }

    fn sum_fits_s(&mut self, x: Value, y: Value) -> Option<()> {
        self.fits(true, [x, y], range::sum)
    }

    fn sum_fits_u(&mut self, x: Value, y: Value) -> Option<()> {
        self.fits(false, [x, y], range::sum)
    }

    fn difference_fits_s(&mut self, x: Value, y: Value) -> Option<()> {
        self.fits(true, [x, y], |a, b| range::sum(a, &range::negated(b)))
    }

    fn raised_fits_s(&mut self, x: Value, by: i64) -> Option<()> {
        let by = i128::from(by);
        self.fits(true, [x, x], |a, _| range::sum(a, &(by..=by)))
    }

    fn raised_fits_u(&mut self, x: Value, by: i64) -> Option<()> {
        let by = i128::from(by);
        self.fits(false, [x, x], |a, _| range::sum(a, &(by..=by)))
    }

    fn rounding(&mut self, ty: Type, count: i64) -> Option<i64> {
        (1..i64::from(ty.elem().bits())).contains(&count).then(|| 1 << (count - 1))
    }

    fn last_shift(&mut self, ty: Type, count: i64) -> Option<i64> {
        // A narrow scalar is extended for each shift, so one sum in a word is shorter.
        let is_narrow = ty.is_scalar() && ty.elem().bits() < 32;
        (!is_narrow && (2..i64::from(ty.elem().bits())).contains(&count)).then(|| count - 1)
    }

    fn exponent(&mut self, ty: Type, number: i64) -> Option<i64> {
        let bits = number as u64 & ty.elem().mask();
        bits.is_power_of_two().then(|| bits.trailing_zeros().into())
    }

    fn multiplier(&mut self, reciprocal: Reciprocal) -> i64 {
        reciprocal.multiplier.cast_signed()
    }

    fn shift_of(&mut self, reciprocal: Reciprocal) -> i64 {
        reciprocal.shift.into()
    }

    fn high_product_u(&mut self, x: Value, shift: i64, divisor: i64) -> Option<Reciprocal> {
        self.division_u(x, divisor)?.shifted(shift).high_product()
    }

    fn sum_u(&mut self, x: Value, divisor: i64) -> Option<Reciprocal> {
        self.division_u(x, divisor)?.sum()
    }

    fn increased_product_u(&mut self, x: Value, divisor: i64) -> Option<Reciprocal> {
        self.division_u(x, divisor)?.increased_product()
    }

    fn low_product_u(&mut self, x: Value, divisor: i64) -> Option<Reciprocal> {
        self.division_u(x, divisor)?.low_product()
    }

    fn low_sum_u(&mut self, x: Value, divisor: i64) -> Option<Reciprocal> {
        self.division_u(x, divisor)?.in_half_word()?.sum()
    }

    fn high_product_s(&mut self, x: Value, divisor: i64) -> Option<Reciprocal> {
        self.division_s(x, divisor)?.signed_high_product()
    }

    fn sum_s(&mut self, x: Value, divisor: i64) -> Option<Reciprocal> {
        self.division_s(x, divisor)?.signed_sum()
    }

    fn low_product_s(&mut self, x: Value, divisor: i64) -> Option<Reciprocal> {
        self.division_s(x, divisor)?.signed_low_product()
    }

    fn word_or_pair(&mut self, ty: Type) -> Option<Type> {
        matches!(ty, Type::I32 | Type::I64).then_some(ty)
    }

    fn unsigned_lane(&mut self, ty: Type, number: i64) -> i64 {
        (number.cast_unsigned() & ty.elem().mask()).cast_signed()
    }

    fn negated(&mut self, number: i64) -> i64 {
        number.wrapping_neg()
    }

    fn absolute(&mut self, number: i64) -> i64 {
        number.wrapping_abs()
    }

    fn is_positive(&mut self, number: i64) -> Option<()> {
        holds(number > 0)
    }

    fn positive_power(&mut self, ty: Type, number: i64) -> Option<i64> {
        self.exponent(ty, number).filter(|&exponent| exponent > 0 && number > 0)
    }

    fn negative_power(&mut self, ty: Type, number: i64) -> Option<i64> {
        self.exponent(ty, number.wrapping_neg()).filter(|&exponent| exponent > 0 && number < 0)
    }

    fn twos(&mut self, number: i64) -> Option<i64> {
        let zeros = number.trailing_zeros();
        (zeros > 0 && number.count_ones() > 1).then_some(zeros.into())
    }

    fn contains_once_u(&mut self, x: Value, divisor: i64) -> Option<()> {
        holds(self.division_u(x, divisor)?.contains_once())
    }

    fn has_sign_bits(&mut self, x: Value, count: i64) -> Option<()> {
        let most = 1i128 << (i64::from(self.kernel.ty(x).elem().bits()) - count);
        holds(range::is_in(&self.signed_range(x), &(-most..=most - 1)))
    }

    fn rounded_shift(&mut self, value: Value) -> Option<(Value, i64)> {
        idioms::rounded_shift(self.kernel, value)
    }

    fn half_up(&mut self, value: Value) -> Option<(Value, Value)> {
        idioms::half_up(self.kernel, value)
    }

    fn distance(&mut self, value: Value) -> Option<(Value, Value)> {
        idioms::distance(self.kernel, value)
    }

    fn above_s(&mut self, value: Value) -> Option<(Value, Value)> {
        idioms::above(self.kernel, value, true)
    }

    fn above_u(&mut self, value: Value) -> Option<(Value, Value)> {
        idioms::above(self.kernel, value, false)
    }

    fn wrapped_sum(&mut self, value: Value) -> Option<Value> {
        idioms::wrapped_sum(self.kernel, value, true)
    }

    fn whole_sum(&mut self, value: Value) -> Option<Value> {
        idioms::wrapped_sum(self.kernel, value, false)
    }

    fn signs_of(&mut self, mask: Value) -> Option<Value> {
        idioms::signs_of(self.kernel, mask)
    }

    fn ordered_s(&mut self, a: Value, b: Value) -> Option<()> {
        holds(idioms::of_lanes(self.kernel, a, b, |a, b| a <= b))
    }

    fn complements(&mut self, a: Value, b: Value) -> Option<()> {
        holds(idioms::of_lanes(self.kernel, a, b, |a, b| a == !b))
    }

    fn rotated_int(&mut self, ty: Type) -> Option<Type> {
        (ty.is_int() && ty.bits() <= 64).then_some(ty)
    }

    fn count_below(&mut self, ty: Type, count: Value) -> Option<Value> {
        idioms::count_below(self.kernel, ty, count)
    }

    fn is_word_s(&mut self, number: i64) -> Option<()> {
        holds(i32::try_from(number).is_ok())
    }

    fn differ(&mut self, a: i64, b: i64) -> Option<()> {
        holds(a != b)
    }

    fn makes_width(&mut self, ty: Type, a: i64, b: i64) -> Option<()> {
        let width = i64::from(ty.elem().bits());
        holds((1..width).contains(&a) && a + b == width)
    }

    fn fills_lane(&mut self, ty: Type, number: i64) -> Option<()> {
        holds(number.cast_unsigned() == ty.elem().mask())
    }

    fn is_lane_width(&mut self, ty: Type, bits: i64) -> Option<()> {
        holds(bits == i64::from(ty.elem().bits()))
    }

    fn lane_op(&mut self, inst: Inst) -> Option<SwarOp> {
        word_lanes::lane_op(self.kernel, inst)
    }

    fn lane_signs(&mut self, ty: Type, value: Value) -> Option<SwarOp> {
        word_lanes::signs(self.kernel, ty, value)
    }

    fn lanes_of_signs(&mut self, mask: i64, count: i64) -> Option<Type> {
        word_lanes::lanes_of_signs(mask, count)
    }

    fn new_lanes(&mut self, lanes: SwarOp) -> Value {
        let mut args: SmallVec<[Value; 3]> = lanes.condition.into_iter().collect();
        for operand in lanes.args {
            args.push(match operand {
                Operand::Of(value) if self.kernel.ty(value) == lanes.ty => value,
                Operand::Of(value) => self.make(Op::Bitcast, lanes.ty, Attr::None, &[value]),
                Operand::Zero => self.constant_of(lanes.ty, |_| 0),
                Operand::None => break,
            });
        }
        let value = self.make(lanes.op, lanes.ty, lanes.attr, &args);
        match lanes.result {
            Some(ty) if ty != self.kernel.ty(value) => self.make(Op::Bitcast, ty, Attr::None, &[value]),
            _ => value,
        }
    }

    fn makes_dot(&mut self, x: Value, y: Value) -> Option<()> {
        holds(idioms::dot(self.kernel, x, y).is_some())
    }

    fn new_dot(&mut self, x: Value, y: Value) -> Value {
        let Some(dot) = idioms::dot(self.kernel, x, y) else { return x };
        let rest = dot.rest.unwrap_or_else(|| self.constant_of(Type::I32, |_| 0));
        self.make(dot.op, self.kernel.ty(dot.a), Attr::None, &[dot.a, dot.b, rest])
    }

    fn sign_test(&mut self, ty: Type, cc: &IntCC, number: i64) -> Option<IntCC> {
        let elem = ty.elem();
        let least = -1i64 << (elem.bits() - 1);
        let number = signed_lane(elem, number as u64 & elem.mask());
        if ty.is_scalar() || elem.bits() > 16 {
            return None;
        }
        Some(match (*cc, number) {
            (IntCC::GtS, -1) => IntCC::GeS,
            (IntCC::LeS, -1) => IntCC::LtS,
            (IntCC::GeS, 1) => IntCC::GtS,
            (IntCC::LtS, 1) => IntCC::LeS,
            (IntCC::GeU, 1) => IntCC::Ne,
            (IntCC::GtU, number) if number == -1 - least => IntCC::LtS,
            (IntCC::LeU, number) if number == -1 - least => IntCC::GeS,
            (IntCC::GeU, number) if number == least => IntCC::LtS,
            (IntCC::LtU, number) if number == least => IntCC::GeS,
            _ => return None,
        })
    }

    fn shifted_mask(&mut self, ty: Type, mask: i64, count: i64) -> Option<i64> {
        let lane = ty.elem().mask();
        let mask = mask as u64 & lane;
        let count = u32::try_from(count).ok().filter(|&count| count < ty.elem().bits())?;
        let shifted = mask << count & lane;
        (shifted >> count == mask).then_some(signed_lane(ty.elem(), shifted))
    }

    fn total_count(&mut self, ty: Type, a: i64, b: i64) -> Option<i64> {
        let counts = 0..i64::from(ty.elem().bits());
        (counts.contains(&a) && counts.contains(&b) && counts.contains(&(a + b))).then(|| a + b)
    }

    fn keeps_count(&mut self, ty: Type, mask: i64) -> Option<()> {
        let most = i64::from(ty.elem().bits()) - 1;
        holds(mask & most == most)
    }

    fn uncontracted(&mut self, flags: FloatFlags) -> FloatFlags {
        FloatFlags { contract: false, ..flags }
    }

    fn plain(&mut self) -> FloatFlags {
        FloatFlags { rounding: Rounding::Rn, ftz: false, clamp: Clamp::None, contract: false, nan: false }
    }

    fn is_plain(&mut self, flags: FloatFlags) -> Option<()> {
        let plain = self.plain();
        holds(self.uncontracted(flags) == plain)
    }

    fn keeps_zeros(&mut self, flags: FloatFlags) -> Option<()> {
        holds(flags.rounding != Rounding::Rm)
    }

    fn concat_part(&mut self, ty: Type, part: u8, whole: Value) -> Option<Value> {
        let inst = self.kernel.def_inst(whole)?;
        let &part = self.kernel.args(inst).get(usize::from(part))?;
        (self.kernel.insts[inst].op == Op::Concat && self.kernel.ty(part) == ty).then_some(part)
    }

    fn concat_whole(&mut self, inst: Inst) -> Option<Value> {
        let mut whole = None;
        for (number, &part) in self.kernel.args(inst).iter().enumerate() {
            let data = &self.kernel.insts[self.kernel.def_inst(part)?];
            let from = data.args.as_slice(&self.kernel.pool).first().copied()?;
            let in_order = matches!(data.op, Op::Split | Op::Extract) && data.attr == Attr::Lane(number as u8);
            if !in_order || whole.is_some_and(|whole| whole != from) {
                return None;
            }
            whole = Some(from);
        }
        whole.filter(|&whole| self.kernel.ty(whole) == self.kernel.insts[inst].ty)
    }

    fn shuffle_operand(&mut self, ty: Type, map: LaneMap, lane: u8, x: Value, y: Value) -> Value {
        if map.get(usize::from(lane)) < ty.lanes() { x } else { y }
    }

    fn shuffle_lane(&mut self, ty: Type, map: LaneMap, lane: u8) -> u8 {
        (map.get(usize::from(lane)) % ty.lanes()) as u8
    }

    fn keeps_first(&mut self, ty: Type, map: LaneMap) -> Option<()> {
        holds((0..ty.lanes()).all(|i| map.get(i) == i))
    }

    fn keeps_second(&mut self, ty: Type, map: LaneMap) -> Option<()> {
        holds((0..ty.lanes()).all(|i| map.get(i) == i + ty.lanes()))
    }

    fn one_operand(&mut self, ty: Type, map: LaneMap) -> Option<LaneMap> {
        let lanes = ty.lanes();
        let names_second = (0..lanes).any(|i| map.get(i) >= lanes);
        names_second.then(|| lane_map(lanes, |i| map.get(i) % lanes))
    }

    fn composed(&mut self, ty: Type, outer: LaneMap, inner: LaneMap) -> Option<LaneMap> {
        let lanes = ty.lanes();
        let first_only = (0..lanes).all(|i| outer.get(i) < lanes);
        first_only.then(|| lane_map(lanes, |i| inner.get(outer.get(i))))
    }

    fn rotated(&mut self, ty: Type, n: u8) -> LaneMap {
        lane_map(ty.lanes(), |i| (i + usize::from(n)) % ty.lanes())
    }

    fn backward(&mut self, ty: Type) -> LaneMap {
        lane_map(ty.lanes(), |i| ty.lanes() - 1 - i)
    }

    fn byte_lanes(&mut self, map: LaneMap) -> LaneMap {
        lane_map(4, |i| 2 * map.get(i / 2) + i % 2)
    }

    fn inserted(&mut self, ty: Type, lane: u8) -> LaneMap {
        lane_map(ty.lanes(), |i| if i == usize::from(lane) { ty.lanes() } else { i })
    }

    fn word_of(&mut self, byte: u8) -> u8 {
        byte / 4
    }

    fn lane_in_word(&mut self, byte: u8) -> u8 {
        byte % 4
    }
}
