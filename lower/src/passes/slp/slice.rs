//! Bit slices: the bits of a value that form one lane of a word.
//!
//! A program often moves bytes and half-words by shifts, masks, extensions and concatenations. The analysis looks
//! through such moves, so that a slice of a moved value becomes a slice of the value that was moved.

use halfbyte_ir::{Attr, Kernel, Known, Op, Value};
use smallvec::SmallVec;

use crate::range::is_in;
use crate::rewrite::constant_lanes;

/// Maximum number of moves between a slice and the value that defines its bits.
const MAX_MOVES: usize = 16;

/// Consecutive bits of a value. The number of bits is that of the lane of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slice {
    /// The bits of a value from bit `low` on.
    Bits { of: Value, low: u32 },
    /// Bits that are constant.
    Known(u64),
}

impl Slice {
    /// Returns the slice that begins at the lowest bit of a value.
    pub(super) fn lowest(of: Value) -> Slice {
        Slice::Bits { of, low: 0 }
    }
}

/// Returns a slice of `width` bits, followed by the slices from which moves have copied its bits, nearest first.
/// Returns at most [`MAX_MOVES`] slices.
pub(super) fn chain(kernel: &Kernel, slice: Slice, width: u32) -> SmallVec<[Slice; 8]> {
    let mut chain = SmallVec::from_slice(&[slice]);
    let mut last = slice;
    while let Some(next) = moved(kernel, last, width).filter(|_| chain.len() < MAX_MOVES) {
        chain.push(next);
        last = next;
    }
    chain
}

/// Returns the slice from which moves have copied the bits of a slice of `width` bits. Without moves, this is the slice
/// itself.
pub(super) fn source(kernel: &Kernel, mut slice: Slice, width: u32) -> Slice {
    for _ in 0..MAX_MOVES {
        match moved(kernel, slice, width) {
            Some(next) => slice = next,
            None => break,
        }
    }
    slice
}

/// Returns the slice from which a move has copied the bits of a slice; `None` if no move defines the slice.
fn moved(kernel: &Kernel, slice: Slice, width: u32) -> Option<Slice> {
    let Slice::Bits { of, low } = slice else { return None };
    let inst = kernel.def_inst(of)?;
    let (data, args) = (&kernel.insts[inst], kernel.args(inst));
    let lanes = ones(width);
    let at = |of: Value, low: u32| (low + width <= kernel.ty(of).bits()).then_some(Slice::Bits { of, low });
    match (data.op, args) {
        (Op::Const, _) => Some(Slice::Known(constant_bits(kernel, of, low)? & lanes)),
        (Op::Bitcast, &[a]) => at(a, low),
        (Op::Trunc, &[a]) if kernel.ty(of).is_scalar() => at(a, low),
        (Op::Zext, &[a]) if kernel.ty(of).is_scalar() => {
            at(a, low).or((low >= kernel.ty(a).bits()).then_some(Slice::Known(0)))
        }
        (Op::Sext, &[a]) if kernel.ty(of).is_scalar() => at(a, low),
        (Op::Shl, &[a, count]) => {
            let count = shift_count(kernel, count, of)?;
            let is_moved = low >= count && (low - count).is_multiple_of(width);
            let from = is_moved.then(|| at(a, low - count)).flatten();
            from.or((low + width <= count).then_some(Slice::Known(0)))
        }
        // The product with a power of two is an extension and a shift.
        (Op::MulWideU, &[a, factor]) => {
            let count = power(kernel, factor)?;
            let is_moved = low >= count && (low - count).is_multiple_of(width);
            let from = is_moved.then(|| at(a, low - count)).flatten();
            let is_zero = low + width <= count || low >= count + kernel.ty(a).bits();
            from.or(is_zero.then_some(Slice::Known(0)))
        }
        (Op::ShrU, &[a, count]) => {
            let from = low + shift_count(kernel, count, of)?;
            let is_moved = from.is_multiple_of(width);
            let moved = is_moved.then(|| at(a, from)).flatten();
            moved.or((from >= kernel.ty(a).bits()).then_some(Slice::Known(0)))
        }
        (Op::ShrS, &[a, count]) => {
            let from = low + shift_count(kernel, count, of)?;
            from.is_multiple_of(width).then(|| at(a, from)).flatten()
        }
        (Op::And, &[a, b]) => {
            let masked = |kept: Value, mask: Value| match constant_bits(kernel, mask, low)? & lanes {
                0 => Some(Slice::Known(0)),
                mask => at(kept, low).filter(|_| mask == lanes),
            };
            masked(a, b).or_else(|| masked(b, a))
        }
        (Op::Or | Op::Xor, &[a, b]) => {
            let is_zero = |of: Value| known_zeros(kernel, of) >> low & lanes == lanes;
            if is_zero(b) {
                at(a, low)
            } else if is_zero(a) {
                at(b, low)
            } else {
                None
            }
        }
        (Op::Add, &[a, b]) if kernel.ty(of).is_scalar() => {
            let (zeros_a, zeros_b) = (known_zeros(kernel, a), known_zeros(kernel, b));
            let is_union = (zeros_a | zeros_b) & ones(low + width) == ones(low + width);
            let zero_in = |zeros: u64| zeros >> low & lanes == lanes;
            if is_union && zero_in(zeros_b) {
                at(a, low)
            } else if is_union && zero_in(zeros_a) {
                at(b, low)
            } else {
                None
            }
        }
        (Op::Concat, parts) => {
            let bits = parts.first().map_or(1, |&part| kernel.ty(part).bits());
            at(*parts.get((low / bits) as usize)?, low % bits)
        }
        (Op::Split | Op::Extract, &[a]) => {
            let Attr::Lane(lane) = data.attr else { return None };
            at(a, u32::from(lane) * kernel.ty(of).bits() + low)
        }
        (Op::Insert, &[whole, part]) => {
            let (Attr::Lane(lane), bits) = (data.attr, kernel.ty(part).bits()) else { return None };
            let start = u32::from(lane) * bits;
            if low + width <= start || low >= start + bits {
                at(whole, low)
            } else if low >= start {
                at(part, low - start)
            } else {
                None
            }
        }
        (Op::Splat, &[a]) if !kernel.ty(of).is_mask() => at(a, low % kernel.ty(a).bits()),
        (Op::Shuffle, &[a, b]) if !kernel.ty(of).is_mask() => {
            let Attr::Lanes(map) = data.attr else { return None };
            let (bits, count) = (kernel.ty(of).elem().bits(), kernel.ty(of).lanes() as u32);
            let first = map.get((low / bits) as usize) as u32;
            // A slice of several lanes is moved if the lanes stay neighbours.
            let is_next = |next: u32| map.get((low / bits + next) as usize) as u32 == first + next;
            let is_moved = (1..width / bits).all(is_next) && (first * bits).is_multiple_of(width.max(bits));
            let from = if first < count { a } else { b };
            is_moved.then(|| at(from, first % count * bits + low % bits)).flatten()
        }
        _ => None,
    }
}

/// Returns the bits of a constant from bit `low` on.
fn constant_bits(kernel: &Kernel, value: Value, low: u32) -> Option<u64> {
    let words = kernel.const_bits(kernel.def_inst(value)?)?;
    Some(words.get(low as usize / 64)? >> (low % 64))
}

/// Returns a number whose lowest `bits` bits are ones.
pub(super) fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Returns the constant count of a shift whose result is the scalar `of`.
pub(super) fn shift_count(kernel: &Kernel, count: Value, of: Value) -> Option<u32> {
    let ty = kernel.ty(of);
    let (_, [count, ..]) = constant_lanes(kernel, count).filter(|_| ty.is_scalar())?;
    Some((count % u64::from(ty.bits())) as u32)
}

/// Returns the exponent of a scalar constant that is a power of two.
fn power(kernel: &Kernel, factor: Value) -> Option<u32> {
    let (_, [factor, ..]) = constant_lanes(kernel, factor).filter(|(ty, _)| ty.is_scalar())?;
    factor.is_power_of_two().then(|| factor.trailing_zeros())
}

/// Returns `true` if all bits of `mask` are zero in a value.
pub(super) fn are_zero(kernel: &Kernel, value: Value, mask: u64) -> bool {
    known_zeros(kernel, value) & mask == mask
}

/// Returns a mask of the bits of a value that are known to be zero. The mask is empty for a value of more than 64 bits.
fn known_zeros(kernel: &Kernel, value: Value) -> u64 {
    let ty = kernel.ty(value);
    if ty.bits() > 64 || ty.is_mask() {
        return 0;
    }
    let known = Known::of(kernel, value);
    (0..).zip(known.lanes()).fold(0, |zeros, (number, lane)| zeros | lane.zeros() << (number * lane.width()))
}

/// Returns `true` if a scalar is the zero extension of its lowest `width` bits.
pub(super) fn fits_u(kernel: &Kernel, value: Value, width: u32) -> bool {
    let ty = kernel.ty(value);
    ty.is_int() && ty.is_scalar() && (ty.bits() <= width || are_zero(kernel, value, ones(ty.bits()) & !ones(width)))
}

/// Returns `true` if a scalar is the sign extension of its lowest `width` bits.
pub(super) fn fits_s(kernel: &Kernel, value: Value, width: u32) -> bool {
    let ty = kernel.ty(value);
    let half = 1 << (width - 1);
    ty.is_int()
        && ty.is_scalar()
        && (ty.bits() <= width || is_in(&Known::of(kernel, value).signed(), &(-half..=half - 1)))
}
