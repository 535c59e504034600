//! Analysis of values with wide lanes as quotients: sums of bytes and of products of two bytes, divided by a power of
//! two.
//!
//! Wide lanes wrap, so the analysis knows a sum only modulo 2^16 or 2^32. An op such as a right shift needs the exact
//! sum. In that case, the value range of the sum must show that it fits the lane.

use std::ops::RangeInclusive;

use arrayvec::ArrayVec;
use halfbyte_ir::{Inst, Kernel, Op, Type, Value};

use super::bytes;
use crate::vp1::operands::Sign;

/// Maximum number of terms in a sum.
pub(super) const MAX_TERMS: usize = 16;
/// Maximum number of ops that the analysis inspects. An op with several uses counts for each use.
const MAX_OPS: u32 = 100;
/// Maximum magnitude of a constant or a multiplier in a sum.
const MAX_NUMBER: i64 = 1 << 32;

type Range = RangeInclusive<i64>;

/// Vector of bytes that are read with a signedness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Byte {
    pub value: Value,
    pub sign: Sign,
}

/// Multiple of a vector of bytes, or of the product of two such vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub times: i64,
    pub byte: Byte,
    pub by: Option<Byte>,
}

/// Sum of terms and a constant, lane by lane.
#[derive(Clone, Default, Debug)]
pub(super) struct Sum {
    pub terms: ArrayVec<Term, MAX_TERMS>,
    pub number: i64,
}

/// Sum divided by 2^shift, rounded down.
#[derive(Clone, Debug)]
pub(super) struct Quotient {
    pub sum: Sum,
    pub shift: u32,
}

impl Sum {
    fn of_number(number: i64) -> Sum {
        Sum { number, ..Sum::default() }
    }

    /// Adds a term to the sum. Returns `None` if there are too many terms or a multiplier becomes too large.
    fn add(&mut self, term: Term) -> Option<()> {
        let same = self.terms.iter().position(|other| (other.byte, other.by) == (term.byte, term.by));
        let Some(at) = same else { return self.terms.try_push(term).ok() };
        let other = self.terms.get_mut(at)?;
        other.times = small(other.times + term.times)?;
        if other.times == 0 {
            self.terms.remove(at);
        }
        Some(())
    }

    fn times(mut self, factor: i64) -> Option<Sum> {
        if factor == 0 {
            return Some(Sum::default());
        }
        self.number = small(self.number.checked_mul(factor)?)?;
        for term in &mut self.terms {
            term.times = small(term.times.checked_mul(factor)?)?;
        }
        Some(self)
    }

    fn plus(mut self, other: Sum) -> Option<Sum> {
        self.number = small(self.number + other.number)?;
        other.terms.into_iter().try_for_each(|term| self.add(term))?;
        Some(self)
    }

    fn product(&self, other: &Sum) -> Option<Sum> {
        let without_number = Sum { number: 0, ..other.clone() };
        let mut result = self.clone().times(other.number)?.plus(without_number.times(self.number)?)?;
        for a in &self.terms {
            for b in &other.terms {
                let (None, None) = (a.by, b.by) else { return None };
                let (byte, by) = if a.byte.value <= b.byte.value { (a.byte, b.byte) } else { (b.byte, a.byte) };
                result.add(Term { times: small(a.times.checked_mul(b.times)?)?, byte, by: Some(by) })?;
            }
        }
        Some(result)
    }

    /// Returns the value range of the sum.
    pub(super) fn range(&self, kernel: &Kernel) -> Range {
        self.terms.iter().fold(self.number..=self.number, |sum, term| {
            let one = bytes::range(kernel, term.byte.value, term.byte.sign);
            let one = match term.by {
                Some(by) => products(&one, &bytes::range(kernel, by.value, by.sign)),
                None => one,
            };
            let all = products(&one, &(term.times..=term.times));
            sum.start() + all.start()..=sum.end() + all.end()
        })
    }
}

/// Returns the number if its magnitude is at most [`MAX_NUMBER`].
fn small(number: i64) -> Option<i64> {
    (number.abs() <= MAX_NUMBER).then_some(number)
}

/// Returns the range of all products of a number in `a` and a number in `b`.
fn products(a: &Range, b: &Range) -> Range {
    let ends = [a.start() * b.start(), a.start() * b.end(), a.end() * b.start(), a.end() * b.end()];
    let (least, most) = ends.into_iter().fold((i64::MAX, i64::MIN), |(a, b), n| (a.min(n), b.max(n)));
    least..=most
}

impl Quotient {
    const fn whole(sum: Sum) -> Quotient {
        Quotient { sum, shift: 0 }
    }

    fn plus(self, other: Quotient) -> Option<Quotient> {
        let (divided, whole) = if other.shift > 0 { (other, self) } else { (self, other) };
        if whole.shift > 0 {
            return None;
        }
        let sum = divided.sum.plus(whole.sum.times(1 << divided.shift)?)?;
        Some(Quotient { sum, shift: divided.shift }.reduced())
    }

    fn negated(self) -> Option<Quotient> {
        let mut sum = self.sum.times(-1)?;
        // The negation of a quotient rounded down is the negated quotient rounded up.
        sum.number += (1 << self.shift) - 1;
        Some(Quotient { sum, shift: self.shift })
    }

    fn times(self, factor: i64) -> Option<Quotient> {
        match factor {
            1 => Some(self),
            -1 => self.negated(),
            _ if self.shift > 0 => None,
            _ => Some(Quotient::whole(self.sum.times(factor)?)),
        }
    }

    fn product(self, other: Quotient) -> Option<Quotient> {
        let number = |q: &Quotient| (q.shift == 0 && q.sum.terms.is_empty()).then_some(q.sum.number);
        match (number(&self), number(&other)) {
            (Some(factor), _) => other.times(factor),
            (_, Some(factor)) => self.times(factor),
            _ if self.shift > 0 || other.shift > 0 => None,
            _ => Some(Quotient::whole(self.sum.product(&other.sum)?)),
        }
    }

    fn divided(mut self, shift: u32, rounded: bool) -> Option<Quotient> {
        self.shift += shift;
        if rounded && shift > 0 {
            self.sum.number = small(self.sum.number + (1 << (self.shift - 1)))?;
        }
        (self.shift < u32::BITS).then(|| self.reduced())
    }

    /// Divides the terms and the divisor by their common powers of two.
    fn reduced(mut self) -> Quotient {
        let common = self.sum.terms.iter().map(|term| term.times.trailing_zeros()).min();
        let common = common.unwrap_or_default().min(self.shift);
        for term in &mut self.sum.terms {
            term.times >>= common;
        }
        // The terms are multiples of 2^common, so the bits of the constant that are dropped cannot change the quotient.
        self.sum.number >>= common;
        self.shift -= common;
        self
    }

    /// Returns the value range of the quotient.
    pub(super) fn range(&self, kernel: &Kernel) -> Range {
        let range = self.sum.range(kernel);
        range.start() >> self.shift..=range.end() >> self.shift
    }

    /// Returns the quotient if lanes of `bits` bits, read with the given signedness, hold it exactly.
    pub(super) fn exact(self, kernel: &Kernel, bits: u32, sign: Sign) -> Option<Quotient> {
        let all = match sign {
            Sign::U => 0..=(1 << bits) - 1,
            Sign::S => -(1 << (bits - 1))..=(1 << (bits - 1)) - 1,
        };
        let range = self.range(kernel);
        (all.contains(range.start()) && all.contains(range.end())).then_some(self)
    }
}

/// Returns a value with wide lanes as a quotient, which is right modulo 2 to the power of the lane width.
pub(super) fn quotient(kernel: &Kernel, value: Value) -> Option<Quotient> {
    Reader { kernel, left: MAX_OPS }.value(value)
}

struct Reader<'k> {
    kernel: &'k Kernel,
    /// Number of ops that the analysis may still inspect.
    left: u32,
}

impl Reader<'_> {
    fn value(&mut self, value: Value) -> Option<Quotient> {
        self.left = self.left.checked_sub(1)?;
        let kernel = self.kernel;
        let inst = kernel.def_inst(value)?;
        let data = &kernel.insts[inst];
        match (data.op, kernel.args(inst)) {
            (Op::Const, _) => Some(Quotient::whole(Sum::of_number(everywhere(kernel, inst)?))),
            (Op::Add, &[a, b]) => self.value(a)?.plus(self.value(b)?),
            (Op::Sub, &[a, b]) => self.value(a)?.plus(self.value(b)?.negated()?),
            (Op::Neg, &[a]) => self.value(a)?.negated(),
            (Op::Mul, &[a, b]) => self.value(a)?.product(self.value(b)?),
            (Op::Shl, &[a, n]) => self.value(a)?.times(1 << count(kernel, n)?),
            (Op::MulWideS, &[a, b]) => self.number(a, Sign::S)?.product(self.number(b, Sign::S)?),
            (Op::MulWideU, &[a, b]) => self.number(a, Sign::U)?.product(self.number(b, Sign::U)?),
            (Op::Sext, &[a]) => self.number(a, Sign::S),
            (Op::Zext, &[a]) => self.number(a, Sign::U),
            (Op::Trunc, &[a]) => self.value(a),
            (Op::ShrS, &[a, n]) => self.number(a, Sign::S)?.divided(count(kernel, n)?, false),
            (Op::ShrU, &[a, n]) => self.number(a, Sign::U)?.divided(count(kernel, n)?, false),
            (Op::RoundShrS, &[a, n]) => self.number(a, Sign::S)?.divided(count(kernel, n)?, true),
            (Op::RoundShrU, &[a, n]) => self.number(a, Sign::U)?.divided(count(kernel, n)?, true),
            _ => None,
        }
    }

    /// Returns a value with byte or wide lanes, read with the given signedness, as an exact quotient.
    fn number(&mut self, value: Value, sign: Sign) -> Option<Quotient> {
        let kernel = self.kernel;
        let ty = kernel.ty(value);
        if ty != Type::I8X16 {
            return self.value(value)?.exact(kernel, ty.elem().bits(), sign);
        }
        let constant = kernel.def_inst(value).filter(|&inst| kernel.insts[inst].op == Op::Const);
        if let Some(number) = constant.and_then(|inst| everywhere(kernel, inst)) {
            return Some(Quotient::whole(Sum::of_number(if sign == Sign::U { number & 0xff } else { number })));
        }
        let mut sum = Sum::default();
        sum.add(Term { times: 1, byte: Byte { value, sign }, by: None })?;
        Some(Quotient::whole(sum))
    }
}

/// If a constant has the same signed number in all lanes, returns this number.
fn everywhere(kernel: &Kernel, constant: Inst) -> Option<i64> {
    let ty = kernel.insts[constant].ty;
    let bits = ty.elem().bits();
    let words = kernel.const_bits(constant)?;
    let lane = |i: u32| {
        let word = words.get((i * bits / u64::BITS) as usize)?;
        let up = word >> (i * bits % u64::BITS) << (u64::BITS - bits);
        Some(up.cast_signed() >> (u64::BITS - bits))
    };
    let first = lane(0)?;
    (1..ty.lanes() as u32).all(|i| lane(i) == Some(first)).then_some(first)
}

/// If all lanes of a constant have the same shift count, returns the count modulo the lane width.
pub(super) fn count(kernel: &Kernel, value: Value) -> Option<u32> {
    let inst = kernel.def_inst(value).filter(|&inst| kernel.insts[inst].op == Op::Const)?;
    let number = everywhere(kernel, inst)?;
    Some(number as u32 % kernel.ty(value).elem().bits())
}
