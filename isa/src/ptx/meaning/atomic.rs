//! Atomic operations: what becomes of a place in memory.

use arrayvec::ArrayVec;

use super::{Access, Context, Reader, wide};
use crate::half::{Clamp, Format, Mode, Rounding};
use crate::halu::domain::{Domain, FloatKind, FloatOp, HalfKind, HalfMinMax, HalfOp};
use crate::ptx::Vector;
use crate::ptx::inst::Inst;
use crate::ptx::operand::Operand;
use crate::ptx::types::{Kind, Token, Type};

const SIGN: u32 = 0x8000_0000;
const EXPONENT: u32 = 0x7F80_0000;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// `into` says whether the old value is wanted.
    pub(super) fn atomic(&mut self, into: bool) {
        let first = usize::from(into);
        let Some(place) = self.place(first) else { return };
        let into = match self.operand(0) {
            Some(&Operand::Register(reg)) if into => Vector::from_iter([Some(reg)]),
            Some(&Operand::Vector(regs)) if into => regs,
            _ => Vector::from_iter([]),
        };
        let [b, c] = [first + 1, first + 2].map(|i| self.each(i));
        let none = wide::constant(self.d, 0);
        let operands = b.into_iter().zip(c.into_iter().chain(std::iter::repeat(none))).map(|(b, c)| [b, c]).collect();
        self.effects.access = Some(Access::Atomic { place, element: self.inst.element(), operands, into });
    }

    /// The elements of an operand.
    fn each(&mut self, i: usize) -> ArrayVec<[D::Word; 2], { Vector::MOST }> {
        match self.operand(i) {
            Some(&Operand::Vector(regs)) => regs.iter().flatten().map(|reg| self.read.register(self.d, reg)).collect(),
            Some(_) => ArrayVec::from_iter([self.value(i)]),
            None => ArrayVec::new(),
        }
    }
}

/// What elements in memory become where an atomic instruction finds `old` there; `flushes` says that it is global memory, where sums of
/// f32 have no subnormals. Elements of what is swapped are compared together.
pub fn atomically<D: Domain>(
    inst: &Inst,
    domain: &mut D,
    old: &[[D::Word; 2]],
    operands: &[[[D::Word; 2]; 2]],
    flushes: bool,
) -> ArrayVec<[D::Word; 2], { Vector::MOST }> {
    let elements = old.iter().zip(operands).take(Vector::MOST);
    if !inst.has(Token::Cas) {
        return elements.map(|(&old, &[b, _])| element(inst, domain, old, b, flushes)).collect();
    }
    let bits = inst.element().bits();
    let extend = |d: &mut D, value| wide::extend(d, bits, false, value);
    let mut is_same = domain.truth(true);
    for (&old, &[b, _]) in elements.clone() {
        let [old, b] = [old, b].map(|value| extend(domain, value));
        let alike = wide::equal(domain, old, b);
        is_same = domain.both(is_same, alike);
    }
    let pick = |(&old, &[_, c]): (&[D::Word; 2], &[[D::Word; 2]; 2])| {
        [domain.select(is_same, c[0], old[0]), domain.select(is_same, c[1], old[1])]
    };
    elements.map(pick).collect()
}

/// What an element becomes.
fn element<D: Domain>(inst: &Inst, domain: &mut D, old: [D::Word; 2], b: [D::Word; 2], flushes: bool) -> [D::Word; 2] {
    let (d, ty) = (domain, inst.ty(0));
    let has = |token| inst.has(token);
    let pick =
        |d: &mut D, p: D::Pred, a: [D::Word; 2], b: [D::Word; 2]| [d.select(p, a[0], b[0]), d.select(p, a[1], b[1])];
    match ty {
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => {
            let format = if matches!(ty, Type::F16 | Type::F16x2) { Format::F16 } else { Format::Bf16 };
            if !has(Token::Add) {
                let op = HalfMinMax { format, ftz: false, nan: false };
                let min = d.truth(has(Token::Min));
                return [d.half_minmax(&op, min, old[0], b[0]), old[1]];
            }
            let mode = Mode { format, rounding: Rounding::Nearest, ftz: false, clamp: Clamp::None };
            let sum = d.half(&HalfOp { kind: HalfKind::Add, mode }, old[0], b[0], b[0]);
            [sum, old[1]]
        }
        Type::F32 => {
            let op = FloatOp { kind: FloatKind::Add, rounding: Rounding::Nearest };
            let flush = |d: &mut D, a: D::Word| {
                if !flushes {
                    return a;
                }
                let (exponent, sign, zero) = (d.word(EXPONENT), d.word(SIGN), d.word(0));
                let found = d.and(a, exponent);
                let small = d.equal(found, zero);
                let flushed = d.and(a, sign);
                d.select(small, flushed, a)
            };
            let [a, b] = [flush(d, old[0]), flush(d, b[0])];
            let sum = d.single(&op, [a, b, b]);
            [flush(d, sum), old[1]]
        }
        Type::F64 => d.double(&FloatOp { kind: FloatKind::Add, rounding: Rounding::Nearest }, [old, b, b]),
        _ => {
            let signed = ty.kind() == Kind::Integer && ty.is_signed();
            let extend = |d: &mut D, value| wide::extend(d, ty.bits(), signed, value);
            let [old, b] = [extend(d, old), extend(d, b)];
            let one = wide::constant(d, 1);
            let zero = wide::constant(d, 0);
            match () {
                () if has(Token::Add) => wide::add(d, old, b),
                () if has(Token::Min) => {
                    let less = wide::less(d, signed, b, old);
                    pick(d, less, b, old)
                }
                () if has(Token::Max) => {
                    let less = wide::less(d, signed, old, b);
                    pick(d, less, b, old)
                }
                () if has(Token::Inc) => {
                    let below = wide::less(d, false, old, b);
                    let more = wide::add(d, old, one);
                    pick(d, below, more, zero)
                }
                () if has(Token::Dec) => {
                    let above = wide::less(d, false, b, old);
                    let none = wide::equal(d, old, zero);
                    let wraps = d.either(above, none);
                    let less = wide::sub(d, old, one);
                    pick(d, wraps, b, less)
                }
                () if has(Token::And) => [d.and(old[0], b[0]), d.and(old[1], b[1])],
                () if has(Token::Or) => [d.or(old[0], b[0]), d.or(old[1], b[1])],
                () if has(Token::Xor) => [d.xor(old[0], b[0]), d.xor(old[1], b[1])],
                () => b,
            }
        }
    }
}
