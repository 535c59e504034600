//! Values of wide lanes as what they are of bytes: sums of bytes and of products of two, divided by a power of two.
//!
//! Wide lanes wrap, so a sum is known up to multiples of 2^16 or 2^32 only, and so is what is added to it. Where an op asks
//! for the number itself, as shifts to the right do, the sum's range has to say that it is the number.

use std::ops::RangeInclusive;

use arrayvec::ArrayVec;
use halfbyte_ir::{Inst, Kernel, Op, Type, Value};

use super::bytes;
use crate::vp1::operands::Sign;

/// The most terms of a sum.
pub(super) const MAX_TERMS: usize = 16;
/// How many ops a sum may be made of, those met twice counted twice.
const MAX_OPS: u32 = 100;
/// What no number in a sum exceeds.
const MAX_NUMBER: i64 = 1 << 32;

type Range = RangeInclusive<i64>;

/// A vector of bytes, which are numbers of a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Byte {
    pub value: Value,
    pub sign: Sign,
}

/// A multiple of a byte, or of a product of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub times: i64,
    pub byte: Byte,
    pub by: Option<Byte>,
}

/// A sum of terms and a number.
#[derive(Clone, Default, Debug)]
pub(super) struct Sum {
    pub terms: ArrayVec<Term, MAX_TERMS>,
    pub number: i64,
}

/// A sum divided by 2^shift, rounded down.
#[derive(Clone, Debug)]
pub(super) struct Quotient {
    pub sum: Sum,
    pub shift: u32,
}

impl Sum {
    fn of_number(number: i64) -> Sum {
        Sum { number, ..Sum::default() }
    }

    /// Adds a term; none where that makes too many.
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

    /// From the least that it can be to the most.
    pub fn range(&self, kernel: &Kernel) -> Range {
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

/// A number that is not too large to go on with.
fn small(number: i64) -> Option<i64> {
    (number.abs() <= MAX_NUMBER).then_some(number)
}

/// The products of two ranges' numbers.
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
        // What is rounded down becomes rounded up.
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

    /// The same without what the terms and the divisor have in common.
    fn reduced(mut self) -> Quotient {
        let common = self.sum.terms.iter().map(|term| term.times.trailing_zeros()).min();
        let common = common.unwrap_or_default().min(self.shift);
        for term in &mut self.sum.terms {
            term.times >>= common;
        }
        // What the number loses is less than a whole of what the terms count by.
        self.sum.number >>= common;
        self.shift -= common;
        self
    }

    /// From the least that it can be to the most.
    pub fn range(&self, kernel: &Kernel) -> Range {
        let range = self.sum.range(kernel);
        range.start() >> self.shift..=range.end() >> self.shift
    }

    /// The quotient, if lanes of so many bits hold it as numbers of the sign.
    pub fn exact(self, kernel: &Kernel, bits: u32, sign: Sign) -> Option<Quotient> {
        let all = match sign {
            Sign::U => 0..=(1 << bits) - 1,
            Sign::S => -(1 << (bits - 1))..=(1 << (bits - 1)) - 1,
        };
        let range = self.range(kernel);
        (all.contains(range.start()) && all.contains(range.end())).then_some(self)
    }
}

/// What a value of wide lanes is, up to multiples of what its lanes hold.
pub(super) fn quotient(kernel: &Kernel, value: Value) -> Option<Quotient> {
    Reader { kernel, left: MAX_OPS }.value(value)
}

struct Reader<'k> {
    kernel: &'k Kernel,
    /// How many ops may still be looked at.
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

    /// A value as the number that it is, of bytes or of wide lanes.
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

/// The signed number that a constant has in all its lanes.
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

/// A shift count that is the same in all lanes, modulo their width.
pub(super) fn count(kernel: &Kernel, value: Value) -> Option<u32> {
    let inst = kernel.def_inst(value).filter(|&inst| kernel.insts[inst].op == Op::Const)?;
    let number = everywhere(kernel, inst)?;
    Some(number as u32 % kernel.ty(value).elem().bits())
}
