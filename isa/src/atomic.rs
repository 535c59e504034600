//! Atomic read-modify-write operations of all targets: the computation of the new value of a memory location.

use arrayvec::ArrayVec;

use crate::half::{Clamp, Format, HalfMode, Rounding};
use crate::halu::domain::{Domain, FloatKind, FloatOp, HalfKind, HalfMinMax, HalfOp, Width, wide};

const SIGN: u32 = 0x8000_0000;
const EXPONENT: u32 = 0x7F80_0000;

/// An atomic operation, which determines the new value in memory from the old value and the
/// operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    /// The sum modulo 2^n, where n is the number of bits.
    Add,
    /// The minimum.
    Min {
        /// `true` to compare as signed integers.
        signed: bool,
    },
    /// The maximum.
    Max {
        /// `true` to compare as signed integers.
        signed: bool,
    },
    /// The old value plus 1, or 0 if the old value is at least the operand (unsigned).
    Inc,
    /// The old value minus 1, or the operand if the old value is 0 or greater than the operand (unsigned).
    Dec,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The operand, which replaces the old value.
    Exchange,
    /// Compare-and-swap: the second operand if the old value equals the first, else the old value.
    CompareSwap,
    /// The sum of each packed half of the old value and the same half of the operand, rounded to nearest even.
    AddHalf(Format),
    /// The minimum or maximum of each packed half of the old value and the same half of the operand.
    MinMaxHalf {
        /// The format of the halves.
        format: Format,
        /// `true` for the minimum, `false` for the maximum.
        min: bool,
    },
    /// The f32 sum.
    AddSingle,
    /// The f64 sum.
    AddDouble,
}

impl AtomicOp {
    /// Returns the number of operands, not counting the old value.
    pub const fn operands(self) -> usize {
        if matches!(self, AtomicOp::CompareSwap) { 2 } else { 1 }
    }

    /// Returns `true` if the new value does not depend on the old one.
    pub const fn ignores_old_value(self) -> bool {
        matches!(self, AtomicOp::Exchange)
    }
}

/// Computes the new values of memory elements of `bits` bits each, from their old values and the
/// operands. If `flushes` is set, f32 sums flush subnormals to zero, as global memory requires. A
/// compare-and-swap of several elements compares all elements, and swaps either all or no elements.
pub fn apply_atomic<D: Domain, const N: usize>(
    domain: &mut D,
    change: AtomicOp,
    bits: u32,
    old: &[[D::Word; 2]],
    operands: &[[[D::Word; 2]; 2]],
    flushes: bool,
) -> ArrayVec<[D::Word; 2], N> {
    let elements = old.iter().zip(operands).take(N);
    if let ([old], [operands]) = (old, operands) {
        return [apply_atomic_to_element(domain, change, bits, *old, *operands, flushes)].into_iter().take(N).collect();
    }
    if change != AtomicOp::CompareSwap {
        return elements.map(|(&old, &[b, _])| element(domain, change, bits, [old, b], flushes)).collect();
    }
    let extend = |d: &mut D, value| wide::extend(d, bits, false, value);
    let mut is_same = domain.truth(true);
    for (&old, &[b, _]) in elements.clone() {
        let [old, b] = [old, b].map(|value| extend(domain, value));
        let alike = wide::equal(domain, old, b);
        is_same = domain.both(is_same, alike);
    }
    elements.map(|(&old, &[_, c])| pick(domain, is_same, c, old)).collect()
}

/// Computes the new value of an atomic operation on values in registers. The old value and each operand take
/// [`Width::registers`] 32-bit words, lowest word first. A 128-bit value is two 64-bit elements.
pub fn apply_atomic_to_registers<D: Domain>(
    d: &mut D,
    change: AtomicOp,
    width: Width,
    old: &[D::Word],
    operands: &[D::Word],
    flushes: bool,
) -> ArrayVec<D::Word, 4> {
    let zero = d.word(0);
    let words = usize::from(width.registers());
    let elements = |words: &[D::Word]| -> ArrayVec<[D::Word; 2], 2> {
        let element = |k: usize| words.get(k).map(|&low| [low, words.get(k + 1).copied().unwrap_or(zero)]);
        [0, 2].into_iter().filter_map(element).collect()
    };
    let mut operands = operands.chunks(words).map(elements);
    let (b, c) = (operands.next().unwrap_or_default(), operands.next().unwrap_or_default());
    let c = c.into_iter().chain(std::iter::repeat([zero; 2]));
    let pairs: ArrayVec<[[D::Word; 2]; 2], 2> = b.into_iter().zip(c).map(|(b, c)| [b, c]).collect();
    let bits = (8 * width.bytes()).min(64);
    let new: ArrayVec<_, 2> = apply_atomic(d, change, bits, &elements(old), &pairs, flushes);
    new.into_iter().flatten().take(words).collect()
}

fn pick<D: Domain>(d: &mut D, p: D::Pred, a: [D::Word; 2], b: [D::Word; 2]) -> [D::Word; 2] {
    [d.select(p, a[0], b[0]), d.select(p, a[1], b[1])]
}

/// Computes the new value of a single element. See [`apply_atomic`].
#[inline(always)]
pub fn apply_atomic_to_element<D: Domain>(
    domain: &mut D,
    change: AtomicOp,
    bits: u32,
    old: [D::Word; 2],
    [b, c]: [[D::Word; 2]; 2],
    flushes: bool,
) -> [D::Word; 2] {
    if change != AtomicOp::CompareSwap {
        return element(domain, change, bits, [old, b], flushes);
    }
    let [held, wanted] = [old, b].map(|value| wide::extend(domain, bits, false, value));
    let is_same = wide::equal(domain, held, wanted);
    pick(domain, is_same, c, old)
}

/// Replaces a subnormal f32 by a zero of the same sign.
fn flush<D: Domain>(d: &mut D, a: D::Word) -> D::Word {
    let (exponent, sign, zero) = (d.word(EXPONENT), d.word(SIGN), d.word(0));
    let found = d.and(a, exponent);
    let small = d.equal(found, zero);
    let flushed = d.and(a, sign);
    d.select(small, flushed, a)
}

/// Computes the new value of one element for every operation except a compare-and-swap.
#[inline(always)]
fn element<D: Domain>(
    d: &mut D,
    change: AtomicOp,
    bits: u32,
    [old, b]: [[D::Word; 2]; 2],
    flushes: bool,
) -> [D::Word; 2] {
    match change {
        AtomicOp::AddHalf(format) => {
            let mode = HalfMode { format, rounding: Rounding::Nearest, ftz: false, clamp: Clamp::None };
            let sum = d.half(&HalfOp { kind: HalfKind::Add, mode }, old[0], b[0], b[0]);
            return [sum, old[1]];
        }
        AtomicOp::MinMaxHalf { format, min } => {
            let min = d.truth(min);
            return [d.half_minmax(&HalfMinMax { format, ftz: false, nan: false }, min, old[0], b[0]), old[1]];
        }
        AtomicOp::AddSingle => {
            let op = FloatOp { kind: FloatKind::Add, rounding: Rounding::Nearest };
            let [a, b] = [old[0], b[0]].map(|a| if flushes { flush(d, a) } else { a });
            let sum = d.single(&op, [a, b, b]);
            return [if flushes { flush(d, sum) } else { sum }, old[1]];
        }
        AtomicOp::AddDouble => {
            return d.double(&FloatOp { kind: FloatKind::Add, rounding: Rounding::Nearest }, [old, b, b]);
        }
        _ => {}
    }
    let signed = matches!(change, AtomicOp::Min { signed: true } | AtomicOp::Max { signed: true });
    let [old, b] = [old, b].map(|value| wide::extend(d, bits, signed, value));
    let (one, zero) = (wide::constant(d, 1), wide::constant(d, 0));
    match change {
        AtomicOp::Add => wide::add(d, old, b),
        AtomicOp::Min { .. } => {
            let less = wide::less(d, signed, b, old);
            pick(d, less, b, old)
        }
        AtomicOp::Max { .. } => {
            let less = wide::less(d, signed, old, b);
            pick(d, less, b, old)
        }
        AtomicOp::Inc => {
            let below = wide::less(d, false, old, b);
            let more = wide::add(d, old, one);
            pick(d, below, more, zero)
        }
        AtomicOp::Dec => {
            let above = wide::less(d, false, b, old);
            let none = wide::equal(d, old, zero);
            let wraps = d.either(above, none);
            let less = wide::sub(d, old, one);
            pick(d, wraps, b, less)
        }
        AtomicOp::And => [d.and(old[0], b[0]), d.and(old[1], b[1])],
        AtomicOp::Or => [d.or(old[0], b[0]), d.or(old[1], b[1])],
        AtomicOp::Xor => [d.xor(old[0], b[0]), d.xor(old[1], b[1])],
        _ => b,
    }
}
