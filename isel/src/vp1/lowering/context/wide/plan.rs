//! Plans of the instructions that compute narrowed bytes in the accumulator: a sequence of products, and the readout of
//! their sum.
//!
//! The accumulator holds 256 times a sum, which has 20 bits with its sign. A readout is one byte of sum * 2^SHIFT,
//! saturated to 16 bits. The high byte is the sum divided by 2^(8 - SHIFT), saturated to 8 bits. If no SHIFT gives the
//! required divisor, the sum is computed at a larger scale.

use arrayvec::ArrayVec;
use halfbyte_ir::{Kernel, Op, Type, Value};

use super::bytes::{self, fits};
use super::sum::{Byte, MAX_TERMS, Quotient, Sum, Term};
use super::uses::Uses;
use crate::vp1::operands::{Half, Readout, Round, Sign};

/// Treatment of a number that does not fit a byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clip {
    /// Keeps the low bits.
    Wrap,
    /// Saturates to the nearest signed byte.
    Signed,
    /// Saturates to the nearest unsigned byte.
    Unsigned,
}

/// Factor of a product: a vector of bytes, or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    Byte(Byte),
    Number(i64),
}

/// Two vectors of the same signedness, each multiplied by a weight from the scalar unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub values: [Value; 2],
    pub sign: Sign,
    pub weights: Weights,
}

/// Weights by which the two vectors of a pair are multiplied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Weights {
    Numbers([i64; 2]),
    /// Weights that are twice the values of the given uniform scalars.
    Scalars([Scalar; 2]),
}

/// Multiple of a uniform byte. The multiple is also a signed byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scalar {
    pub value: Value,
    pub times: i64,
}

/// Term that an instruction adds to the accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Addend {
    Product(Operand, Operand),
    Pair(Pair),
}

/// Sequence of terms of a sum. If the first one is a pair, its instruction also adds the base,
/// which is multiplied by 2^(8 - SHIFT).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chain {
    base: Operand,
    steps: [Addend; MAX_STEPS],
    count: usize,
}

const MAX_STEPS: usize = MAX_TERMS + 1;
const NOTHING: Operand = Operand::Number(0);

impl Chain {
    /// Returns the sequence without its last term, and this term. Returns `None` if there are no terms.
    pub(crate) fn split_last(&self) -> Option<(Chain, Addend)> {
        let count = self.count.checked_sub(1)?;
        let last = *self.steps.get(count)?;
        Some((Chain { count, ..*self }, last))
    }

    /// Returns `true` if the sequence has no terms.
    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the base that the instruction of a leading pair adds.
    pub(crate) const fn base(&self) -> Operand {
        self.base
    }
}

/// Instructions that compute the bytes of a quotient.
// The variants differ in size, but only one plan exists at a time, on the stack.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Plan {
    /// Interpolation between two vectors of unsigned bytes. Weight 0 gives the second vector.
    Blend { readout: Readout, ends: [Value; 2], weight: Operand },
    /// Sum of products in the accumulator.
    Chain { readout: Readout, chain: Chain },
}

/// Facts about a kernel that planning needs.
pub(super) struct Facts<'a> {
    pub kernel: &'a Kernel,
    pub uses: &'a Uses,
    /// Predicate that returns `true` for uniform values.
    pub is_uniform: &'a dyn Fn(Value) -> bool,
}

/// Number of bits of a sum in the accumulator, without the sign.
pub(super) const SUM_BITS: u32 = 19;
/// Binary logarithm of the largest useful scale of a sum.
const MAX_SCALE: u32 = 8;

impl Facts<'_> {
    /// Returns the plan for the bytes of a quotient, or `None` if they cannot be computed exactly.
    pub(super) fn plan(&self, quotient: &Quotient, clip: Clip) -> Option<Plan> {
        if quotient.sum.terms.is_empty() {
            return None;
        }
        let range = quotient.range(self.kernel);
        let sign = match clip {
            Clip::Signed => Some(Sign::S),
            Clip::Unsigned => Some(Sign::U),
            Clip::Wrap => [Sign::U, Sign::S].into_iter().find(|&sign| fits(&range, sign)),
        };
        if let Some(blend) = Self::blend(quotient, sign) {
            return Some(blend);
        }
        let sums = quotient.sum.range(self.kernel);
        let in_accumulator =
            |scale: u32| -(1 << SUM_BITS) <= sums.start() << scale && sums.end() << scale < 1 << SUM_BITS;
        let plans = (0..=MAX_SCALE).take_while(|&scale| in_accumulator(scale)).filter_map(|scale| {
            let shift = quotient.shift + scale;
            let (sign, half, by) = match (sign, shift) {
                (Some(sign), 5..=12) => (sign, Half::High, 8 - shift as i8),
                // A result that is not saturated to 8 bits must not be saturated to 16 bits either.
                (_, 0..=4) if sign.is_none_or(|sign| fits(&range, sign)) => {
                    let sign = match (*range.start(), *range.end()) {
                        (0.., ..0x1_0000) => Sign::U,
                        (-0x8000.., ..0x8000) => Sign::S,
                        _ => return None,
                    };
                    (sign, Half::Low, -(shift as i8))
                }
                _ => return None,
            };
            let (cost, round, chain) = self.arranged(&quotient.sum, scale, shift, half)?;
            Some((cost, Plan::Chain { readout: Readout { sign, half, round, shift: by }, chain }))
        });
        plans.min_by_key(|(cost, _)| *cost).map(|(_, plan)| plan)
    }

    /// Matches the interpolation `b + ((a - b) * w >> shift)`. A sum of multiples of two vectors
    /// also matches if the multipliers add up to 2^shift.
    fn blend(quotient: &Quotient, sign: Option<Sign>) -> Option<Plan> {
        let &Quotient { ref sum, shift } = quotient;
        let round = match sum.number {
            0 => Round::Down,
            number if shift > 0 && number == 1 << (shift - 1) => Round::Nearest,
            _ => return None,
        };
        let unsigned = |byte: Byte| (byte.sign == Sign::U).then_some(byte.value);
        let (ends, weight, shift) = match *sum.terms.as_slice() {
            [Term { times: p, byte: a, by: None }, Term { times: q, byte: b, by: None }]
                if p > 0 && q > 0 && shift <= 12 && p + q == 1 << shift =>
            {
                let (p, a, b) = if p <= q { (p, a, b) } else { (q, b, a) };
                let scale = 8u32.saturating_sub(shift);
                ([unsigned(a)?, unsigned(b)?], Operand::Number(p << scale), shift + scale)
            }
            [x, y, z] if (5..=12).contains(&shift) => {
                let terms = [x, y, z];
                let base = terms.iter().find(|term| term.by.is_none() && term.times == 1 << shift)?.byte;
                let product = |times: i64| terms.iter().find(|term| term.by.is_some() && term.times == times);
                let weight = product(-1)?.other(base)?;
                let end = product(1)?.other(weight)?;
                unsigned(weight)?;
                ([unsigned(end)?, unsigned(base)?], Operand::Byte(weight), shift)
            }
            _ => return None,
        };
        // The result is between the two bytes, and so needs no saturation, unless the weight can exceed 1.
        let is_right = sign == Some(Sign::U) || sign.is_none() && shift >= 8;
        let readout = Readout { sign: Sign::U, half: Half::High, round, shift: 8 - shift as i8 };
        is_right.then_some(Plan::Blend { readout, ends, weight })
    }

    /// Returns the cost, the rounding and the terms of 2^scale times a sum. The result is divided by 2^shift, and
    /// `half` is the byte of the readout that holds the quotient.
    fn arranged(&self, sum: &Sum, scale: u32, shift: u32, half: Half) -> Option<(Cost, Round, Chain)> {
        let number = sum.number << scale;
        // The constant term is split: rounding to nearest adds one part, and products add the other
        // part.
        let nearest = (shift > 0).then(|| 1 << (shift - 1));
        let (round, number) = match nearest {
            Some(nearest) if number != 0 && (number - nearest) % (nearest << 1) == 0 => {
                (Round::Nearest, number - nearest)
            }
            _ => (Round::Down, number),
        };
        let terms: ArrayVec<Term, MAX_TERMS> =
            sum.terms.iter().map(|term| Term { times: term.times << scale, ..*term }).collect();
        let whole = 1 << shift;
        let plain = [false, true].map(|in_pairs| Arrangement { in_pairs, base: NOTHING, without: None, number });
        let base_terms = terms.iter().enumerate().filter(|(_, term)| term.by.is_none() && term.times == whole);
        let base_terms = base_terms.map(|(at, term)| Arrangement {
            in_pairs: true,
            base: Operand::Byte(term.byte),
            without: Some(at),
            number,
        });
        let is_base = number != 0 && number % whole == 0 && byte_sign(number / whole).is_some();
        let base_number = is_base.then(|| Arrangement {
            in_pairs: true,
            base: Operand::Number(number / whole),
            without: None,
            number: 0,
        });
        let with_base = base_terms.chain(base_number).filter(|_| half == Half::High);
        let ways = plain.into_iter().chain(with_base).filter_map(|way| self.steps(&terms, way));
        let ((steps, constants), chain) = ways.min_by_key(|(cost, _)| *cost)?;
        Some(((steps, constants, scale), round, chain))
    }

    /// Returns the terms of a sum in an order that instructions can add, with the number of terms
    /// and the number of registers that their constants need.
    fn steps(&self, terms: &[Term], way: Arrangement) -> Option<((usize, usize), Chain)> {
        let mut pairs = ArrayVec::<Pair, MAX_STEPS>::new();
        let mut alone = ArrayVec::<(Term, Option<Weighted>), MAX_TERMS>::new();
        let is_fresh = |weighted: &Weighted| self.uses.is_fresh(self.kernel, weighted.byte.value);
        for (_, &term) in terms.iter().enumerate().filter(|(at, _)| Some(*at) != way.without) {
            let weighted = self.weighted(&term).filter(|_| way.in_pairs);
            let with = |second: Weighted| {
                alone
                    .iter()
                    .enumerate()
                    .find_map(|(at, (_, first))| Some((at, Pair::of(first.filter(is_fresh)?, second)?)))
            };
            match weighted.filter(is_fresh).and_then(with) {
                Some((at, pair)) => {
                    alone.remove(at);
                    pairs.push(pair);
                }
                None => alone.push((term, weighted)),
            }
        }
        if way.base != NOTHING && pairs.is_empty() {
            let mut weighted = alone.iter().enumerate();
            let (at, weighted) = weighted.find_map(|(at, (_, weighted))| Some((at, (*weighted)?)))?;
            alone.remove(at);
            pairs.push(Pair::twice(weighted));
        }
        let mut products = ArrayVec::<Addend, MAX_STEPS>::new();
        let mut constants = 0;
        for (term, weighted) in alone {
            match (term.by, byte_sign(term.times)) {
                (None, Some(_)) => {
                    constants += usize::from(!is_immediate(term.times));
                    products.push(Addend::Product(Operand::Byte(term.byte), Operand::Number(term.times)));
                }
                (Some(by), _) if term.times == 1 => {
                    products.push(Addend::Product(Operand::Byte(term.byte), Operand::Byte(by)));
                }
                _ => pairs.push(Pair::twice(weighted?)),
            }
        }
        if way.number != 0 {
            let mut divisors = (0..8).rev().map(|bit| 1 << bit);
            let divisor =
                divisors.find(|&divisor| way.number % divisor == 0 && byte_sign(way.number / divisor).is_some())?;
            constants += 1 + usize::from(!is_immediate(divisor));
            products.push(Addend::Product(Operand::Number(way.number / divisor), Operand::Number(divisor)));
        }
        let pairs_first = way.base != NOTHING || products.is_empty();
        constants += usize::from(pairs_first && !matches!(way.base, Operand::Byte(_)));
        let pairs = pairs.into_iter().map(Addend::Pair);
        let mut ordered = ArrayVec::<Addend, MAX_STEPS>::new();
        if pairs_first {
            ordered.extend(pairs.chain(products));
        } else {
            ordered.extend(products.into_iter().chain(pairs));
        }
        let count = ordered.len();
        let mut steps = [Addend::Product(NOTHING, NOTHING); MAX_STEPS];
        for (place, step) in steps.iter_mut().zip(ordered) {
            *place = step;
        }
        Some(((count, constants), Chain { base: way.base, steps, count }))
    }

    /// If the scalar unit can supply the factor of a term, returns the term as a vector times a weight.
    fn weighted(&self, term: &Term) -> Option<Weighted> {
        let Some(by) = term.by else {
            let weight = Weight::Number(term.times);
            return (-0x100..0x100).contains(&term.times).then_some(Weighted { byte: term.byte, weight });
        };
        let mut both = [(term.byte, by), (by, term.byte)].into_iter();
        let (byte, scalar, value) = both.find_map(|(byte, scalar)| Some((byte, scalar, self.scalar(scalar)?)))?;
        // The weight that the scalar unit supplies is twice a signed byte.
        let times = term.times / 2;
        let range = bytes::range(self.kernel, scalar.value, scalar.sign);
        let is_byte = [range.start(), range.end()].into_iter().all(|end| fits(&(end * times..=end * times), Sign::S));
        (term.times % 2 == 0 && is_byte).then_some(Weighted { byte, weight: Weight::Scalar(Scalar { value, times }) })
    }

    /// If a vector is the splat of a uniform byte, returns this byte.
    fn scalar(&self, byte: Byte) -> Option<Value> {
        let inst = self.kernel.def_inst(byte.value)?;
        match (self.kernel.insts[inst].op, self.kernel.args(inst)) {
            (Op::Splat, &[scalar]) if (self.is_uniform)(scalar) && self.kernel.ty(scalar) == Type::I8 => Some(scalar),
            _ => None,
        }
    }
}

impl Term {
    /// If the term is a product with the factor `byte`, returns the other factor.
    fn other(&self, byte: Byte) -> Option<Byte> {
        match self.by {
            Some(by) if self.byte == byte => Some(by),
            Some(by) if by == byte => Some(self.byte),
            _ => None,
        }
    }
}

/// Cost of a plan, most significant number first: instructions, registers for constants, and scale of the sum.
type Cost = (usize, usize, u32);

/// Choices for the arrangement of a sum as instructions.
#[derive(Clone, Copy)]
struct Arrangement {
    in_pairs: bool,
    base: Operand,
    /// Index of the term that is the base and so needs no product of its own.
    without: Option<usize>,
    /// Constant that products add to the sum.
    number: i64,
}

/// Vector of bytes times a weight that the scalar unit supplies.
#[derive(Clone, Copy)]
struct Weighted {
    byte: Byte,
    weight: Weight,
}

#[derive(Clone, Copy)]
enum Weight {
    Number(i64),
    Scalar(Scalar),
}

impl Pair {
    fn of(first: Weighted, second: Weighted) -> Option<Pair> {
        let weights = match (first.weight, second.weight) {
            (Weight::Number(a), Weight::Number(b)) => Weights::Numbers([a, b]),
            (Weight::Scalar(a), Weight::Scalar(b)) => Weights::Scalars([a, b]),
            _ => return None,
        };
        let values = [first.byte.value, second.byte.value];
        (first.byte.sign == second.byte.sign).then_some(Pair { values, sign: first.byte.sign, weights })
    }

    /// Returns a pair whose vectors are both the given one; the second weight is 0.
    fn twice(one: Weighted) -> Pair {
        let weights = match one.weight {
            Weight::Number(number) => Weights::Numbers([number, 0]),
            Weight::Scalar(scalar) => Weights::Scalars([scalar, Scalar { times: 0, ..scalar }]),
        };
        Pair { values: [one.byte.value; 2], sign: one.byte.sign, weights }
    }
}

/// Returns the signedness with which a byte can represent a number, preferring unsigned.
pub(super) fn byte_sign(number: i64) -> Option<Sign> {
    [Sign::U, Sign::S].into_iter().find(|&sign| fits(&(number..=number), sign))
}

/// Returns `true` if a multiplication accepts the number as an immediate.
fn is_immediate(number: i64) -> bool {
    byte_sign(number).is_some() && number % 4 == 0
}
