//! Generation of random ops and their operands.

use std::sync::LazyLock;

use crate::op::ArgType;
use crate::{
    Attr, AttrKind, Axis, Clamp, Effect, FlagKind, FloatCC, FloatFlags, IntCC, LaneMap, Op, Rounding, Type, Value,
};

use super::Generator;
use super::memory::MOST_SCALARS;
use super::palette::{Drawn, GeneratedForm, OpForm};

/// Maximum number of attempts to find a supported op or operand.
const DRAWS: usize = 50;

/// Removes `contract` from an attribute, because the support of a target does not depend on it.
fn uncontracted(attr: Attr) -> Attr {
    match attr {
        Attr::Float(flags) => Attr::Float(FloatFlags { contract: false, ..flags }),
        other => other,
    }
}

/// Ops that this module generates: all except those for the cooperation of items.
static DRAWN: LazyLock<Vec<Op>> = LazyLock::new(|| {
    let meets = |op: Op| op.orders_memory() || matches!(op, Op::SubgroupId | Op::LaneId);
    Op::ALL.iter().copied().filter(|&op| !meets(op)).collect()
});

impl Generator<'_, '_> {
    /// Generates an op whose result later ops can use.
    pub(super) fn op(&mut self) {
        for _ in 0..DRAWS {
            if self.one_in(40)
                && let Some(value) = self.intrinsic()
            {
                self.scope.push(value);
                return;
            }
            let near = self.any().map(|value| self.ty(value));
            let ty = match near {
                Some(ty) if !self.one_in(3) => ty,
                _ => self.some_type(),
            };
            let Some(op) = self.pick(&DRAWN) else { return };
            if let Some(value) = self.try_op(op, ty) {
                self.scope.push(value);
                return;
            }
        }
    }

    fn some_type(&mut self) -> Type {
        let number = self.random.below(self.palette.types.len());
        self.palette.types.get(number).copied().unwrap_or(Type::I32)
    }

    /// Generates an op with a controlling type, if the op accepts the type and the target supports it.
    fn try_op(&mut self, op: Op, ty: Type) -> Option<Value> {
        let row = op.row();
        let ty = row.fixed_type().unwrap_or(ty);
        let drawn = match row.attr {
            AttrKind::Const | AttrKind::Mem | AttrKind::Targets | AttrKind::Intrinsic => false,
            _ => row.effect == Effect::Pure && row.types.is_none_or(|types| types.contains(ty)),
        };
        // Addresses are generated together with the loads and stores that use them.
        let result = row.result_type(ty).filter(|&result| result != Type::PTR || op == Op::Select)?;
        if !drawn || !self.has(ty) || !self.has(result) {
            return None;
        }
        let from = match row.convert {
            Some(_) => {
                let from: Vec<Type> = row.sources(ty).filter(|&from| self.has(from)).collect();
                self.pick(&from)
            }
            None => None,
        };
        let condition = match row.args.contains(&ArgType::Condition) {
            true => ty.mask_type().filter(|_| self.one_in(2)).or(Some(Type::I1)),
            false => None,
        };
        let attr = self.attr(op, ty, from);
        let is_shift =
            matches!(op, Op::Shl | Op::ShrS | Op::ShrU | Op::RoundShrS | Op::RoundShrU | Op::Rotl | Op::Rotr);
        let constant = is_shift && !self.one_in(3);
        let form = OpForm { op, ty, from, condition, attr: uncontracted(attr), constant };
        let types = form.operands()?;
        // Many selection rules match an integer op only with a constant as its last operand.
        let has_constant = constant
            || types.len() > 1
                && types.last().is_some_and(|ty| !ty.is_float() && !ty.is_mask() && *ty != Type::PTR)
                && self.palette.takes(GeneratedForm::Op(OpForm::plain(Op::Const, ty)))
                && self.one_in(6);
        if !types.iter().all(|&ty| self.has(ty)) || !self.palette.takes(GeneratedForm::Op(form)) {
            return None;
        }
        // Numbers whose high bits are cleared compare alike as signed and as unsigned numbers.
        let are_small = op == Op::Icmp && self.one_in(4);
        let mut args = Vec::with_capacity(types.len());
        for (number, &ty) in types.iter().enumerate() {
            args.push(if has_constant && number + 1 == types.len() {
                self.splat(ty, is_shift)
            } else {
                let value = self.operand(ty)?;
                if are_small { self.masked(value) } else { value }
            });
        }
        if op == Op::Or && ty == Type::I32 && self.one_in(4) {
            args = self.word_parts().unwrap_or(args);
        }
        if let Some(product) = self.product(op, ty, attr)
            && let number = self.random.below(args.len())
            && let Some(arg) = args.get_mut(number)
        {
            *arg = product;
        }
        if result.is_wide() {
            self.wide = self.wide.saturating_sub(1);
        }
        Some(self.builder.value(op, ty, attr, &args))
    }

    /// For half of all sums with `contract`, generates a product with which the sum is contracted.
    fn product(&mut self, op: Op, ty: Type, attr: Attr) -> Option<Value> {
        let flags = match attr {
            Attr::Float(flags) if flags.contract && matches!(op, Op::Fadd | Op::Fsub) => flags,
            _ => return None,
        };
        let attr = Attr::Float(FloatFlags { clamp: Clamp::None, ..flags });
        let form = OpForm { attr: uncontracted(attr), ..OpForm::plain(Op::Fmul, ty) };
        if self.one_in(2) || !self.palette.takes(GeneratedForm::Op(form)) {
            return None;
        }
        let args = [self.operand(ty)?, self.operand(ty)?];
        let product = self.builder.value(Op::Fmul, ty, attr, &args);
        self.scope.push(product);
        Some(product)
    }

    /// Generates a target instruction as an intrinsic.
    fn intrinsic(&mut self) -> Option<Value> {
        let number = self.random.below(self.palette.instructions.len());
        let draw = self.palette.instructions.get(number)?;
        let Drawn { data, result, operands } = draw(self.random)?;
        if !self.palette.has(result) || !operands.iter().all(|&ty| self.palette.has(ty)) {
            return None;
        }
        if !self.palette.takes_intrinsic(result, &operands, &data.target, &data.text) {
            return None;
        }
        let args = operands.iter().map(|&ty| self.operand(ty)).collect::<Option<Vec<Value>>>()?;
        Some(self.builder.intrinsic(result, &data.target, &data.text, &args))
    }

    fn attr(&mut self, op: Op, ty: Type, from: Option<Type>) -> Attr {
        let row = op.row();
        match row.attr {
            AttrKind::Float(_) => Attr::Float(self.flags(op, ty)),
            AttrKind::IntCC => Attr::IntCC(self.pick(IntCC::ALL).unwrap_or(IntCC::Eq)),
            AttrKind::FloatCC => Attr::FloatCC {
                cc: self.pick(FloatCC::ALL).unwrap_or(FloatCC::Eq),
                ftz: row.flags(ty).contains(FlagKind::Ftz) && self.one_in(3),
            },
            AttrKind::Lane => {
                let parts = match (op, from) {
                    (Op::Split, Some(from)) => from.bits() / ty.bits(),
                    _ => ty.lanes() as u32,
                };
                Attr::Lane(self.random.below(parts as usize) as u8)
            }
            AttrKind::Axis => match self.random.below(4) {
                number @ 0..3 => Attr::Axis(Axis::ALL[number]),
                _ => Attr::None,
            },
            AttrKind::Lanes => {
                let lanes: Vec<u8> = (0..ty.lanes()).map(|_| self.random.below(2 * ty.lanes()) as u8).collect();
                Attr::Lanes(LaneMap::new(&lanes))
            }
            _ => Attr::None,
        }
    }

    fn flags(&mut self, op: Op, ty: Type) -> FloatFlags {
        let takes = op.row().flags(ty);
        let mut flags = FloatFlags::default();
        if takes.rounding && self.one_in(2) {
            flags.rounding = self.pick(&Rounding::ALL).unwrap_or_default();
        }
        if takes.clamp && self.one_in(3) {
            flags.clamp = if self.one_in(2) { Clamp::Sat } else { Clamp::Relu };
        }
        flags.ftz = takes.ftz && self.one_in(3);
        flags.contract = takes.contract && self.one_in(2);
        flags.nan = takes.nan && self.one_in(2);
        flags
    }

    /// Returns a value of a type: an earlier value, with a preference for recent ones, or a new
    /// value. The lanes of some integers have a small range.
    pub(super) fn operand(&mut self, ty: Type) -> Option<Value> {
        let value = self.unmasked(ty)?;
        Some(if self.one_in(16) { self.masked(value) } else { value })
    }

    /// Returns `true` if the target supports constants of a type and an op on two operands of the type.
    fn takes_with_constant(&mut self, op: Op, ty: Type) -> bool {
        [Op::Const, op].into_iter().all(|op| self.palette.takes(GeneratedForm::Op(OpForm::plain(op, ty))))
    }

    /// Clears the high bits of each lane of an integer. Returns any other value unchanged.
    fn masked(&mut self, value: Value) -> Value {
        let ty = self.ty(value);
        let is_integer = !ty.is_float() && !ty.is_mask() && ty != Type::PTR;
        if !is_integer || !self.takes_with_constant(Op::And, ty) {
            return value;
        }
        let mask = self.low_mask(ty);
        let mask = self.builder.constant(ty, &[mask]);
        let masked = self.builder.value(Op::And, ty, Attr::None, &[value, mask]);
        self.scope.push(masked);
        masked
    }

    /// Generates the operands of an `or` that joins two parts of a word: high bits that a shift
    /// moves there, and low bits from a shift or a mask.
    fn word_parts(&mut self) -> Option<Vec<Value>> {
        let ty = Type::I32;
        let mut shifts = [Op::Shl, Op::ShrU].map(|op| OpForm { constant: true, ..OpForm::plain(op, ty) }).into_iter();
        if !shifts.all(|form| self.palette.takes(GeneratedForm::Op(form))) || !self.takes_with_constant(Op::And, ty) {
            return None;
        }
        let (high, low) = (self.operand(ty)?, self.operand(ty)?);
        let count = 1 + self.random.below(31) as u64;
        let mut part = |op, value, number| {
            let number = self.builder.constant(ty, &[number]);
            self.builder.value(op, ty, Attr::None, &[value, number])
        };
        let high = part(Op::Shl, high, count);
        let low = match self.random.below(2) {
            0 => part(Op::ShrU, low, 32 - count),
            _ => part(Op::And, low, (1 << count) - 1),
        };
        Some(if self.one_in(2) { vec![high, low] } else { vec![low, high] })
    }

    fn unmasked(&mut self, ty: Type) -> Option<Value> {
        let before: Vec<Value> = self.scope.iter().copied().filter(|&value| self.ty(value) == ty).collect();
        let late = self.random.below(before.len()).max(self.random.below(before.len()));
        let before = before.get(late).copied();
        if before.is_some() && !self.one_in(8) {
            return before;
        }
        match self.source(ty) {
            Some(value) => {
                self.scope.push(value);
                Some(value)
            }
            None => before,
        }
    }

    /// Generates a new value of a type, such as a constant or a load.
    fn source(&mut self, ty: Type) -> Option<Value> {
        if ty == Type::PTR {
            return self.own_row();
        }
        if ty.is_wide() && !self.one_in(4) {
            let op = self.pick(&[Op::Zext, Op::Sext])?;
            return self.try_op(op, ty);
        }
        let choice = self.random.below(8);
        if ty == Type::I1 && choice < 4 || ty.is_mask() && ty != Type::I1 {
            return self.compared(ty);
        }
        let scalars = !self.is_affine() || self.scalars < MOST_SCALARS;
        match choice {
            0..=2 => self.constant(ty),
            3 | 4 if scalars && self.palette.takes(GeneratedForm::Scalar(ty)) => {
                self.scalars += 1;
                let name = format!("s{}", self.builder.kernel().params.len());
                Some(self.builder.scalar(&name, ty))
            }
            _ if ty == Type::I1 => self.compared(ty),
            _ => self.load(ty).or_else(|| self.constant(ty)),
        }
    }

    fn constant(&mut self, ty: Type) -> Option<Value> {
        if !self.palette.takes(GeneratedForm::Op(OpForm::plain(Op::Const, ty))) {
            return self.load(ty);
        }
        let other = self.random.bits();
        let lanes: Vec<u64> = match self.one_in(3) {
            true => vec![self.random.lane(ty.elem(), other)],
            false => (0..ty.lanes()).map(|_| self.random.lane(ty.elem(), other)).collect(),
        };
        Some(self.builder.constant(ty, &lanes))
    }

    /// Generates a constant with equal lanes: a value that simplifies many ops, or a random value.
    fn splat(&mut self, ty: Type, is_count: bool) -> Value {
        let bits = ty.elem().bits() as usize;
        let lane = match (self.random.below(4), is_count) {
            (0, true) => self.random.below(bits) as u64 & !7,
            (1, true) => self.random.below(bits) as u64,
            (0, false) => 0,
            (1, false) => self.low_mask(ty),
            _ => self.random.lane(ty.elem(), 0),
        };
        self.builder.constant(ty, &[lane])
    }

    /// Returns a mask of some low bits of a lane.
    fn low_mask(&mut self, ty: Type) -> u64 {
        ty.elem().mask() >> self.random.below(ty.elem().bits() as usize)
    }

    /// Generates a mask by a comparison.
    fn compared(&mut self, mask: Type) -> Option<Value> {
        let types = self.palette.types.iter().copied().filter(|ty| !ty.is_mask() && ty.mask_type() == Some(mask));
        let types: Vec<Type> = types.collect();
        for _ in 0..DRAWS {
            let ty = self.pick(&types)?;
            let op = if ty.is_float() { Op::Fcmp } else { Op::Icmp };
            if let Some(value) = self.try_op(op, ty) {
                return Some(value);
            }
        }
        None
    }
}
