//! Plain Rust for any operation, compiled for every variant. The code lets the compiler vectorise
//! all operations without rounding.

use halfbyte_isa::half::{Format, NAN, NAN_F32, Relation};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Domain, HalfCompare, HalfMinMax, VideoKind};

use super::{LOT, RowOp, Span};

type Words = [u32; LOT];
type Halves = [u16; 2 * LOT];

/// Defines a module with the function for a set of CPU features.
macro_rules! variant {
    ($module:ident $(, $features:literal)?) => {
        pub(super) mod $module {
            use super::RowOp;

            /// Computes any operation.
            ///
            /// # Safety
            /// As for every [`RowFn`](super::super::RowFn). The host has the features.
            $(#[target_feature(enable = $features)])?
            pub unsafe extern "C" fn row(
                result: *mut u32,
                a: *const u32,
                b: *const u32,
                c: *const u32,
                span: usize,
                op: *const RowOp,
            ) {
                // SAFETY: the caller's promise.
                unsafe { super::row(result, [a, b, c], span, &*op) }
            }
        }
    };
}

variant! { portable }
#[cfg(target_arch = "x86_64")]
variant! { avx2, "avx2,fma" }
#[cfg(target_arch = "x86_64")]
variant! { avx512, "avx512f,avx512bw,avx512dq,avx512vl" }

/// Computes any operation.
///
/// # Safety
/// As for every [`RowFn`](super::RowFn).
#[inline(always)]
unsafe fn row(result: *mut u32, operands: [*const u32; 3], span: usize, op: &RowOp) {
    macro_rules! each {
        ($compute:expr) => {
            // SAFETY: the caller's promise.
            unsafe { each(result, operands, span, $compute) }
        };
    }
    macro_rules! pairs {
        ($compute:expr) => {
            // SAFETY: the caller's promise.
            unsafe { pairs(result, operands, span, $compute) }
        };
    }
    match op {
        RowOp::Shl => each!(|a, b, _| words(|k| a[k].wrapping_shl(b[k]))),
        RowOp::Shr => each!(|a, b, _| words(|k| a[k].wrapping_shr(b[k]))),
        RowOp::Sar => each!(|a, b, _| words(|k| (a[k] as i32).wrapping_shr(b[k]) as u32)),
        RowOp::MulHigh(true) => {
            each!(|a, b, _| words(|k| (i64::from(a[k] as i32).wrapping_mul((b[k] as i32).into()) >> 32) as u32))
        }
        RowOp::MulHigh(false) => {
            each!(|a, b, _| words(|k| (u64::from(a[k]).wrapping_mul(b[k].into()) >> 32) as u32))
        }
        RowOp::Divide(op) => each!(|a, b, _| words(|k| Concrete.divide(*op, a[k], b[k]))),
        RowOp::Fma => each!(|a, b, c| words(|k| fma(a[k], b[k], c[k]))),
        RowOp::MinMax(op) => each!(|a, b, min| min_max(op, a, b, min)),
        RowOp::Compare(op, lane) => each!(|a, b, _| compare(op, *lane, a, b)),
        RowOp::Bytes(VideoKind::Add) => pairs!(|a, b| bytes(a, b, u8::saturating_add)),
        RowOp::Bytes(VideoKind::Sub) => pairs!(|a, b| bytes(a, b, u8::saturating_sub)),
        RowOp::Bytes(VideoKind::Avrg) => {
            pairs!(|a, b| bytes(a, b, |a, b| ((u16::from(a) + u16::from(b) + 1) >> 1) as u8))
        }
        RowOp::Bytes(VideoKind::AbsDiff) => pairs!(|a, b| bytes(a, b, u8::abs_diff)),
        RowOp::Bytes(VideoKind::Min) => pairs!(|a, b| bytes(a, b, u8::min)),
        RowOp::Bytes(VideoKind::Max) => pairs!(|a, b| bytes(a, b, u8::max)),
        RowOp::Narrow(..) | RowOp::Widen(_) | RowOp::Half(_) | RowOp::Elementary(_) => {
            each!(|a, b, c| words(|k| op.word(a[k], b[k], c[k])))
        }
        RowOp::Single(_) | RowOp::Convert(..) => each!(|a, b, c| words(|k| op.word(a[k], b[k], c[k]))),
    }
}

/// Computes an operation lot by lot.
///
/// # Safety
/// As for every [`RowFn`](super::RowFn).
#[inline(always)]
unsafe fn each(
    result: *mut u32,
    [a, b, c]: [*const u32; 3],
    span: usize,
    compute: impl Fn(&Words, &Words, &Words) -> Words,
) {
    let Span { items, steps } = Span::new(span);
    for k in (0..items).step_by(LOT) {
        // SAFETY: every row has a lot from `k` on, and any other operand is a lot. Reads and writes may be unaligned.
        unsafe {
            let a = a.add(k * steps[0]).cast::<Words>().read_unaligned();
            let b = b.add(k * steps[1]).cast::<Words>().read_unaligned();
            let c = c.add(k * steps[2]).cast::<Words>().read_unaligned();
            result.add(k).cast::<Words>().write_unaligned(compute(&a, &b, &c));
        }
    }
}

/// Computes an operation on two operands lot by lot. If both operands are rows, the loop does nothing else.
///
/// # Safety
/// As for every [`RowFn`](super::RowFn).
#[inline(always)]
unsafe fn pairs(result: *mut u32, [a, b, _]: [*const u32; 3], span: usize, compute: impl Fn(&Words, &Words) -> Words) {
    let Span { items, steps } = Span::new(span);
    if (steps[0], steps[1]) != (1, 1) {
        // SAFETY: the caller's promise.
        return unsafe { each(result, [a, b, b], span, |a, b, _| compute(a, b)) };
    }
    let mut k = 0;
    while k < items {
        // SAFETY: every row has a lot from `k` on. Reads and writes may be unaligned.
        unsafe {
            let a = a.add(k).cast::<Words>().read_unaligned();
            let b = b.add(k).cast::<Words>().read_unaligned();
            result.add(k).cast::<Words>().write_unaligned(compute(&a, &b));
        }
        k += LOT;
    }
}

#[inline(always)]
fn words(mut word: impl FnMut(usize) -> u32) -> Words {
    let mut words = [0; LOT];
    for (k, place) in words.iter_mut().enumerate() {
        *place = word(k);
    }
    words
}

/// Computes an operation byte by byte.
#[inline(always)]
fn bytes(a: &Words, b: &Words, byte: impl Fn(u8, u8) -> u8) -> Words {
    type Bytes = [u8; 4 * LOT];
    // SAFETY: words and bytes have the same size, and any bits are valid.
    let [a, b] = [a, b].map(|words| unsafe { std::mem::transmute::<Words, Bytes>(*words) });
    let mut result: Bytes = [0; 4 * LOT];
    for ((place, a), b) in result.iter_mut().zip(a).zip(b) {
        *place = byte(a, b);
    }
    // SAFETY: likewise.
    unsafe { std::mem::transmute::<Bytes, Words>(result) }
}

#[inline(always)]
fn halves(words: &Words) -> Halves {
    let mut halves = [0; 2 * LOT];
    for (pair, word) in halves.as_chunks_mut().0.iter_mut().zip(words) {
        *pair = [*word as u16, (*word >> 16) as u16];
    }
    halves
}

#[inline(always)]
fn joined(halves: Halves) -> Words {
    words(|k| u32::from(halves[2 * k + 1]) << 16 | u32::from(halves[2 * k]))
}

#[inline(always)]
fn fma(a: u32, b: u32, c: u32) -> u32 {
    let [a, b, c] = [a, b, c].map(f32::from_bits);
    let result = a.mul_add(b, c);
    if result.is_nan() { NAN_F32 } else { result.to_bits() }
}

#[inline(always)]
fn pick(condition: bool, a: u16, b: u16) -> u16 {
    if condition { a } else { b }
}

/// Flushes a subnormal half to zero if `ftz` is set.
#[inline(always)]
fn flushed(format: Format, ftz: bool, x: u16) -> u16 {
    pick(ftz & (x & format.infinity() == 0), x & 0x8000, x)
}

/// Maps a half to a signed integer of the same order, with -0 below +0.
#[inline(always)]
fn key(x: u16) -> i16 {
    x as i16 ^ (x as i16 >> 15 & 0x7FFF)
}

#[inline(always)]
fn is_nan(format: Format, x: u16) -> bool {
    x & 0x7FFF > format.infinity()
}

#[inline(always)]
fn min_max(op: &HalfMinMax, a: &Words, b: &Words, min: &Words) -> Words {
    let HalfMinMax { format, ftz, nan } = *op;
    let (a, b, min) = (halves(a), halves(b), halves(&words(|k| truth(min[k] != 0))));
    let mut result = [0; 2 * LOT];
    for (k, result) in result.iter_mut().enumerate() {
        let (a, b) = (flushed(format, ftz, a[k]), flushed(format, ftz, b[k]));
        let least = pick(key(a) <= key(b), a, b);
        let most = pick(key(a) >= key(b), a, b);
        let number = pick(min[k] != 0, least, most);
        let (no_a, no_b) = (is_nan(format, a), is_nan(format, b));
        let number = pick(no_a, b, pick(no_b, a, number));
        *result = pick((no_a & no_b) | (nan & (no_a | no_b)), NAN, number);
    }
    joined(result)
}

#[inline(always)]
fn compare(op: &HalfCompare, lane: u8, a: &Words, b: &Words) -> Words {
    let HalfCompare { format, ftz, compare } = *op;
    let [less, equal, greater, unordered] =
        [Relation::Less, Relation::Equal, Relation::Greater, Relation::Unordered].map(|r| truth(compare.holds(r)));
    words(|k| {
        let [a, b] = [a[k], b[k]].map(|word| flushed(format, ftz, (word >> (16 * lane)) as u16));
        // The two zeros are equal.
        let [x, y] = [a, b].map(|x| key(pick(x & 0x7FFF == 0, 0, x)));
        let ordered = if x < y {
            less
        } else if x == y {
            equal
        } else {
            greater
        };
        if is_nan(format, a) | is_nan(format, b) { unordered } else { ordered }
    })
}

#[inline(always)]
fn truth(holds: bool) -> u32 {
    u32::from(holds).wrapping_neg()
}
