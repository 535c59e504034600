//! Default implementations of the domain's compound operations, in terms of its primitive operations.

use crate::approx::Function;
use crate::half::{Compare, Format, NAN_F32, Rounding};

use super::{Domain, DotOp, Element, VideoKind, VideoMerge, VideoOp};

/// Implements [`Domain::half_elementary`].
pub(super) fn half_elementary<D: Domain>(d: &mut D, function: Function, format: Format, a: D::Word) -> D::Word {
    let shift = d.word(16);
    let high = d.shr(a, shift);
    let [low, high] = [a, high].map(|lane| {
        let x = d.widen(format, lane);
        let y = d.elementary(function, x);
        d.narrow(format, Rounding::Nearest, y)
    });
    let high = d.shl(high, shift);
    d.or(low, high)
}

/// Implements [`Domain::video`] with 32-bit operations. The exact result of a lane fits in 18 bits,
/// so a signed 32-bit integer holds it.
pub(super) fn video<D: Domain>(d: &mut D, op: &VideoOp, a: D::Word, b: D::Word, c: D::Word) -> D::Word {
    let (lanes, bits) = (op.lanes.count(), op.lanes.bits());
    let lane_mask = u32::MAX >> (32 - bits);
    let mut result = if op.merge == VideoMerge::Accumulate {
        c
    } else {
        let kept = (0..lanes).filter(|i| op.mask >> i & 1 == 0).fold(0, |m, i| m | lane_mask << (i * bits));
        let kept = d.word(kept);
        d.and(c, kept)
    };
    for (i, (&x, &y)) in (0..lanes).zip(op.a_select.iter().zip(&op.b_select)) {
        if op.mask >> i & 1 == 0 {
            continue;
        }
        let x = element(d, [a, b], x.into(), bits, op.a_signed);
        let y = element(d, [a, b], y.into(), bits, op.b_signed);
        let mut t = lane(d, op.kind, x, y);
        if op.merge == VideoMerge::Accumulate {
            result = d.add(result, t);
            continue;
        }
        if op.merge == VideoMerge::Saturate {
            let (low, high) = if op.d_signed { (!(lane_mask >> 1), lane_mask >> 1) } else { (0, lane_mask) };
            let (low, high) = (d.word(low), d.word(high));
            t = min(d, t, high);
            t = max(d, t, low);
        }
        let (lane_mask, position) = (d.word(lane_mask), d.word(i * bits));
        let t = d.and(t, lane_mask);
        let t = d.shl(t, position);
        result = d.or(result, t);
    }
    result
}

/// Returns element `index` of a register pair, extended to 32 bits. The first register holds the
/// elements with the lower numbers.
fn element<D: Domain>(d: &mut D, pair: [D::Word; 2], index: u32, bits: u32, signed: bool) -> D::Word {
    let [low, high] = pair;
    let lanes = 32 / bits;
    let word = if index < lanes { low } else { high };
    extended(d, word, Element { start: bits * (index % lanes), bits }, signed)
}

/// Returns an element of a word, extended to 32 bits.
fn extended<D: Domain>(d: &mut D, word: D::Word, Element { start, bits }: Element, signed: bool) -> D::Word {
    let left = d.word(32 - bits - start);
    let right = d.word(32 - bits);
    let top = d.shl(word, left);
    if signed { d.sar(top, right) } else { d.shr(top, right) }
}

/// Returns the minimum or maximum of two f32, where -0 is less than +0. If one operand is NaN, the
/// result is the other operand, or NaN if `nan` is set.
pub fn float_minmax<D: Domain>(d: &mut D, min: D::Pred, nan: bool, a: D::Word, b: D::Word) -> D::Word {
    let (less, equal) = (d.fcompare(Compare::LT, a, b), d.fcompare(Compare::EQ, a, b));
    let takes_b = d.differ(less, min);
    let one_of = d.select(takes_b, b, a);
    // Equal numbers have the same bits, except +0 and -0. The OR of the bits is the lower zero, and
    // the AND is the higher zero.
    let (lowest, highest) = (d.or(a, b), d.and(a, b));
    let same = d.select(min, lowest, highest);
    let number = d.select(equal, same, one_of);
    let [nan_a, nan_b] = [a, b].map(|x| d.fcompare(Compare::NAN, x, x));
    let other = d.select(nan_a, b, number);
    let other = d.select(nan_b, a, other);
    let spoilt = if nan { d.either(nan_a, nan_b) } else { d.both(nan_a, nan_b) };
    let nan = d.word(NAN_F32);
    d.select(spoilt, nan, other)
}

/// Implements [`Domain::dot`] with multiplications.
pub(super) fn dot<D: Domain>(d: &mut D, op: &DotOp, a: D::Word, b: D::Word, c: D::Word) -> D::Word {
    op.elements.pairs().iter().fold(c, |sum, &[x, y]| {
        let (x, y) = (extended(d, a, x, op.a_signed), extended(d, b, y, op.b_signed));
        let product = d.mul(x, y);
        d.add(sum, product)
    })
}

/// Implements [`Domain::count_ones`] by adding adjacent bits, pairs, nibbles, bytes and halfwords.
pub(super) fn count_ones<D: Domain>(d: &mut D, a: D::Word) -> D::Word {
    let mut counts = a;
    for (n, kept) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0F0F_0F0F), (8, 0x00FF_00FF), (16, 0x0000_FFFF)] {
        let (n, kept) = (d.word(n), d.word(kept));
        let low = d.and(counts, kept);
        let high = d.shr(counts, n);
        let high = d.and(high, kept);
        counts = d.add(low, high);
    }
    counts
}

/// Implements [`Domain::leading_zeros`]: sets all bits below the highest set bit and counts the clear bits.
pub(super) fn leading_zeros<D: Domain>(d: &mut D, a: D::Word) -> D::Word {
    let mut smeared = a;
    for n in [1, 2, 4, 8, 16] {
        let n = d.word(n);
        let below = d.shr(smeared, n);
        smeared = d.or(smeared, below);
    }
    let clear = d.not(smeared);
    d.count_ones(clear)
}

/// Implements [`Domain::reverse_bits`] by swapping adjacent bits, pairs, nibbles, bytes and halfwords.
pub(super) fn reverse_bits<D: Domain>(d: &mut D, a: D::Word) -> D::Word {
    let mut word = a;
    for (n, kept) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0F0F_0F0F), (8, 0x00FF_00FF), (16, 0x0000_FFFF)] {
        let (n, kept) = (d.word(n), d.word(kept));
        let down = d.shr(word, n);
        let down = d.and(down, kept);
        let up = d.and(word, kept);
        let up = d.shl(up, n);
        word = d.or(down, up);
    }
    word
}

fn lane<D: Domain>(d: &mut D, kind: VideoKind, x: D::Word, y: D::Word) -> D::Word {
    match kind {
        VideoKind::Add => d.add(x, y),
        VideoKind::Sub => d.sub(x, y),
        VideoKind::Avrg => {
            let (one, sign_bit) = (d.word(1), d.word(31));
            let s = d.add(x, y);
            let borrow = d.sar(s, sign_bit);
            let s = d.add(s, borrow);
            let s = d.add(s, one);
            d.sar(s, one)
        }
        VideoKind::AbsDiff => {
            let (p, n) = (d.sub(x, y), d.sub(y, x));
            max(d, p, n)
        }
        VideoKind::Min => min(d, x, y),
        VideoKind::Max => max(d, x, y),
    }
}

fn min<D: Domain>(d: &mut D, x: D::Word, y: D::Word) -> D::Word {
    let p = d.less(true, x, y);
    d.select(p, x, y)
}

fn max<D: Domain>(d: &mut D, x: D::Word, y: D::Word) -> D::Word {
    let p = d.less(true, x, y);
    d.select(p, y, x)
}

/// Implements [`Domain::lop3`] with bitwise operations.
pub(super) fn lop3<D: Domain>(d: &mut D, lut: u8, a: D::Word, b: D::Word, c: D::Word) -> D::Word {
    let constants = [d.word(0), d.word(u32::MAX)];
    truth_table(lut, [c, b, a], constants, |gate, x, y| match gate {
        Gate::And => d.and(x, y),
        Gate::Xor => d.xor(x, y),
    })
}

/// Implements [`Domain::permute`] with shifts.
pub fn permute<D: Domain>(d: &mut D, a: D::Word, b: D::Word, selector: D::Word) -> D::Word {
    let [zero, three, byte, sign_bit] = [0, 3, 0xFF, 31].map(|x| d.word(x));
    let mut result = zero;
    for i in 0..4 {
        // Bit 2 of the nibble selects the register, and bits 1:0 select the byte. The byte is
        // shifted to bits 31:24 of the word.
        let [in_a, plain] = [4 * i + 2, 4 * i + 3].map(|bit| {
            let mask = d.word(1 << bit);
            let bit = d.and(selector, mask);
            d.equal(bit, zero)
        });
        let word = d.select(in_a, a, b);
        let nibble = d.word(4 * i);
        let index = d.shr(selector, nibble);
        let index = d.and(index, three);
        let up = d.sub(three, index);
        let up = d.shl(up, three);
        let top = d.shl(word, up);
        let sign = d.sar(top, sign_bit);
        let top = d.select(plain, top, sign);
        let bottom = d.word(24);
        let element = d.shr(top, bottom);
        let element = d.and(element, byte);
        let position = d.word(8 * i);
        let element = d.shl(element, position);
        result = d.or(result, element);
    }
    result
}

/// Evaluates a truth table of three inputs in algebraic normal form, which is an exclusive or of
/// products. This form needs few gates for the tables that are common in programs. Bit i of `lut`
/// is the result if input k equals bit k of i for each k.
pub(in crate::halu) fn truth_table<T: Copy>(
    lut: u8,
    inputs: [T; 3],
    constants: [T; 2],
    mut gate: impl FnMut(Gate, T, T) -> T,
) -> T {
    let [zero, one] = constants;
    let mut products = lut;
    for (shift, absent) in [(1, 0xAA), (2, 0xCC), (4, 0xF0)] {
        products ^= (products << shift) & absent;
    }
    let mut sum = None;
    for i in (0..8).filter(|i| products >> i & 1 != 0) {
        let factors = inputs.into_iter().enumerate().filter(|&(k, _)| i >> k & 1 != 0).map(|x| x.1);
        let product = factors.reduce(|a, b| gate(Gate::And, a, b)).unwrap_or(one);
        sum = Some(sum.map_or(product, |sum| gate(Gate::Xor, sum, product)));
    }
    sum.unwrap_or(zero)
}

/// A two-input logical operation.
#[derive(Clone, Copy)]
pub(in crate::halu) enum Gate {
    And,
    Xor,
}
