//! With AVX2, F16C and FMA: sixteen halves at a time.
//!
//! The f32 nearest to the exact result is made odd by its error, which f32 operations give: unless it is the exact result, it
//! becomes the one of the two f32 beside that whose last bit is set. The bit says that more follows, so that the f32 rounds to
//! the half that the exact result rounds to, whatever the rounding. Most sums of binary16 are made odd by another way, with the
//! rounding of f32 operations changed ([`f16_sums`]).
//!
//! A binary16 has so small exponents that no f32 loses anything else. A bfloat16 has those of an f32. There the nearest f32 is
//! taken as it is where none of sixteen lies where the rounding changes, and f64s compute what leaves the range of f32.

use std::arch::asm;
use std::arch::x86_64::*;

use halfbyte_isa::half::{Clamp, Format, Mode, NAN, NAN_F32, Rounding};
use halfbyte_isa::halu::domain::{HalfKind, HalfOp};

use super::{LOT, RowFn, RowOp, Span, plain};

/// Whether the functions can be called.
pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c") && is_x86_feature_detected!("fma")
}

/// Words, that is work items, that are computed at a time.
const WORDS: usize = 8;

/// Two lots of eight f32.
type Pair = [__m256; 2];

const ADD: u8 = 0;
const MUL: u8 = 1;
const FMA: u8 = 2;

const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;
const DOWN: i32 = _MM_FROUND_TO_NEG_INF;
const UP: i32 = _MM_FROUND_TO_POS_INF;
const ZERO: i32 = _MM_FROUND_TO_ZERO;

const MAGNITUDE: i32 = i32::MAX;
/// The bits of infinity, as an f32.
const INFINITY: i32 = 0x7F80_0000;

/// The function of an operation.
pub(super) fn function(op: &RowOp) -> RowFn {
    match op {
        RowOp::Half(op) => half(op),
        RowOp::Widen(Format::F16) => widen_row::<false>,
        RowOp::Widen(Format::Bf16) => widen_row::<true>,
        RowOp::Narrow(Format::F16, Rounding::Nearest) => narrow_row::<false, NEAREST>,
        RowOp::Narrow(Format::F16, Rounding::Down) => narrow_row::<false, DOWN>,
        RowOp::Narrow(Format::F16, Rounding::Up) => narrow_row::<false, UP>,
        RowOp::Narrow(Format::F16, Rounding::Zero) => narrow_row::<false, ZERO>,
        RowOp::Narrow(Format::Bf16, Rounding::Nearest) => narrow_row::<true, NEAREST>,
        RowOp::Narrow(Format::Bf16, Rounding::Down) => narrow_row::<true, DOWN>,
        RowOp::Narrow(Format::Bf16, Rounding::Up) => narrow_row::<true, UP>,
        RowOp::Narrow(Format::Bf16, Rounding::Zero) => narrow_row::<true, ZERO>,
        _ => plain::avx2::row,
    }
}

fn half(HalfOp { kind, mode }: &HalfOp) -> RowFn {
    let plain = !mode.ftz && mode.clamp == Clamp::None;
    macro_rules! pick {
        ($row:ident, $kind:ident) => {
            match (mode.rounding, plain) {
                (Rounding::Nearest, true) => $row::<$kind, NEAREST, true>,
                (Rounding::Down, true) => $row::<$kind, DOWN, true>,
                (Rounding::Up, true) => $row::<$kind, UP, true>,
                (Rounding::Zero, true) => $row::<$kind, ZERO, true>,
                (Rounding::Nearest, false) => $row::<$kind, NEAREST, false>,
                (Rounding::Down, false) => $row::<$kind, DOWN, false>,
                (Rounding::Up, false) => $row::<$kind, UP, false>,
                (Rounding::Zero, false) => $row::<$kind, ZERO, false>,
            }
        };
    }
    match (mode.format, kind) {
        (Format::F16, HalfKind::Add) => pick!(f16_row, ADD),
        (Format::F16, HalfKind::Mul) => pick!(f16_row, MUL),
        (Format::F16, HalfKind::Fma) => pick!(f16_row, FMA),
        (Format::Bf16, HalfKind::Add) => pick!(bf16_row, ADD),
        (Format::Bf16, HalfKind::Mul) => pick!(bf16_row, MUL),
        (Format::Bf16, HalfKind::Fma) => pick!(bf16_row, FMA),
    }
}

/// A binary16 operation. One that is `PLAIN` neither flushes nor clamps.
///
/// # Safety
/// As for every [`RowFn`], and [`is_here`].
#[target_feature(enable = "avx2,f16c,fma")]
unsafe extern "C" fn f16_row<const KIND: u8, const ROUNDING: i32, const PLAIN: bool>(
    result: *mut u32,
    a: *const u32,
    b: *const u32,
    c: *const u32,
    span: usize,
    op: *const RowOp,
) {
    let Span { items, steps } = Span::new(span);
    // SAFETY: the caller's promise.
    let RowOp::Half(HalfOp { mode, .. }) = (unsafe { *op }) else { return };
    if PLAIN && KIND != MUL {
        // SAFETY: the caller's promise.
        return unsafe { f16_sums::<KIND, ROUNDING>(result, [a, b, c], Span { items, steps }) };
    }
    for k in (0..items).step_by(WORDS) {
        // SAFETY: every row has eight words from `k` on, and what is no row has sixteen.
        unsafe {
            let a = f16_load::<PLAIN>(a.add(k * steps[0]), mode);
            let b = f16_load::<PLAIN>(b.add(k * steps[1]), mode);
            let c = if KIND == FMA { f16_load::<PLAIN>(c.add(k * steps[2]), mode) } else { b };
            let floats = odd_pair::<KIND, ROUNDING>(a, b, c, nearest_pair::<KIND>(a, b, c));
            let (low, high) = (_mm256_cvtps_ph::<ROUNDING>(floats[0]), _mm256_cvtps_ph::<ROUNDING>(floats[1]));
            let words = canonical(_mm256_set_m128i(high, low), Format::F16);
            store::<PLAIN>(result.add(k), words, mode);
        }
    }
}

/// Eight sums at an offset, for [`f16_sums`]: `$sum` makes x of the addends or factors x and y, and the addend z.
macro_rules! sums {
    ($at:literal, $sum:literal) => {
        concat!(
            "vcvtph2ps {x}, xmmword ptr [{a} + ",
            $at,
            "]\n",
            "vcvtph2ps {y}, xmmword ptr [{b} + ",
            $at,
            "]\n",
            "vcvtph2ps {z}, xmmword ptr [{c} + ",
            $at,
            "]\n",
            $sum,
            "vcvtps2ph {x:x}, {x}, {rounding}\n",
            // NaNs become the one NaN.
            "vpand {y:x}, {x:x}, {nan:x}\n",
            "vpcmpgtw {y:x}, {y:x}, {infinity:x}\n",
            "vpblendvb {x:x}, {x:x}, {nan:x}, {y:x}\n",
            "vmovdqu xmmword ptr [{result} + ",
            $at,
            "], {x:x}\n",
        )
    };
}

/// Sums of binary16, by f32 operations that round as the half will or, where that is to nearest, downwards and upwards: of
/// two f32 beside the exact result the one whose last bit is set rounds as it does.
///
/// It is one block of assembly because Rust code must not meet another rounding than to nearest.
///
/// # Safety
/// As for every [`RowFn`], and [`is_here`].
#[target_feature(enable = "avx2,f16c,fma")]
unsafe fn f16_sums<const KIND: u8, const ROUNDING: i32>(result: *mut u32, rows: [*const u32; 3], span: Span) {
    if span.items == 0 {
        return;
    }
    let [a, b, c] = rows;
    let [a_step, b_step, c_step] = span.steps.map(|step| 64 * step);
    let mut control = [0_u32; 2];
    macro_rules! rows {
        ($sum:literal) => {
            asm!(
                // Bits 13 and 14 of the control register are the rounding.
                "vstmxcsr dword ptr [{control}]",
                "mov {bits:e}, dword ptr [{control}]",
                "and {bits:e}, -24577",
                "or {bits:e}, {direction}",
                "mov dword ptr [{control} + 4], {bits:e}",
                "vldmxcsr dword ptr [{control} + 4]",
                "2:",
                sums!("0", $sum),
                sums!("16", $sum),
                sums!("32", $sum),
                sums!("48", $sum),
                "add {a}, {a_step}",
                "add {b}, {b_step}",
                "add {c}, {c_step}",
                "add {result}, 64",
                "dec {lots}",
                "jnz 2b",
                "vldmxcsr dword ptr [{control}]",
                control = in(reg) control.as_mut_ptr(),
                bits = out(reg) _,
                direction = const if ROUNDING == NEAREST { DOWN << 13 } else { ROUNDING << 13 },
                rounding = const ROUNDING,
                a = inout(reg) a => _,
                b = inout(reg) b => _,
                c = inout(reg) c => _,
                a_step = in(reg) a_step,
                b_step = in(reg) b_step,
                c_step = in(reg) c_step,
                result = inout(reg) result => _,
                lots = inout(reg) span.items / LOT => _,
                x = out(ymm_reg) _,
                y = out(ymm_reg) _,
                z = out(ymm_reg) _,
                below = out(ymm_reg) _,
                sign = in(ymm_reg) _mm256_set1_ps(-0.0),
                nan = in(ymm_reg) _mm256_set1_epi16(NAN as i16),
                infinity = in(ymm_reg) _mm256_set1_epi16(Format::F16.infinity() as i16),
                options(nostack),
            )
        };
    }
    // SAFETY: the rows are as long as the span says, and the control register is in the end what it was. Operands that a sum
    // does not need stand in comments.
    unsafe {
        match (KIND, ROUNDING) {
            (ADD, NEAREST) => rows!(
                "
                vaddps {below}, {x}, {y}
                vxorps {x}, {x}, {sign}
                vsubps {x}, {x}, {y}
                vpslld {y}, {below}, 31
                vxorps {x}, {x}, {sign}
                vblendvps {x}, {x}, {below}, {y}
                "
            ),
            (ADD, _) => rows!("vaddps {x}, {x}, {y}\n# {below} {sign}\n"),
            (_, NEAREST) => rows!(
                "
                vmovaps {below}, {x}
                vfmadd213ps {below}, {y}, {z}
                vfnmsub213ps {x}, {y}, {z}
                vpslld {y}, {below}, 31
                vxorps {x}, {x}, {sign}
                vblendvps {x}, {x}, {below}, {y}
                "
            ),
            (_, _) => rows!("vfmadd213ps {x}, {y}, {z}\n# {below} {sign}\n"),
        }
    }
}

/// A bfloat16 operation. One that is `PLAIN` neither flushes nor clamps.
///
/// # Safety
/// As for every [`RowFn`], and [`is_here`].
#[target_feature(enable = "avx2,f16c,fma")]
unsafe extern "C" fn bf16_row<const KIND: u8, const ROUNDING: i32, const PLAIN: bool>(
    result: *mut u32,
    a: *const u32,
    b: *const u32,
    c: *const u32,
    span: usize,
    op: *const RowOp,
) {
    let Span { items, steps } = Span::new(span);
    // SAFETY: the caller's promise.
    let RowOp::Half(HalfOp { mode, .. }) = (unsafe { *op }) else { return };
    for k in (0..items).step_by(WORDS) {
        // SAFETY: every row has eight words from `k` on, and what is no row has sixteen.
        unsafe {
            let a = bf16_load::<PLAIN>(a.add(k * steps[0]), mode);
            let b = bf16_load::<PLAIN>(b.add(k * steps[1]), mode);
            let c = if KIND == FMA { bf16_load::<PLAIN>(c.add(k * steps[2]), mode) } else { b };
            let mut floats = nearest_pair::<KIND>(a, b, c);
            let turns = if ROUNDING == NEAREST { any_turns::<15>(floats) } else { any_turns::<16>(floats) };
            if turns {
                floats = if leaves_range::<KIND>(a[0], b[0], floats[0]) || leaves_range::<KIND>(a[1], b[1], floats[1]) {
                    [odd_by_f64::<KIND, ROUNDING>(a[0], b[0], c[0]), odd_by_f64::<KIND, ROUNDING>(a[1], b[1], c[1])]
                } else {
                    odd_pair::<KIND, ROUNDING>(a, b, c, floats)
                };
            }
            let low = _mm256_srli_epi32::<16>(bf16_round::<ROUNDING>(floats[0]));
            let mut words = _mm256_blend_epi16::<0xAA>(low, bf16_round::<ROUNDING>(floats[1]));
            if turns {
                words = canonical(words, Format::Bf16);
            }
            store::<PLAIN>(result.add(k), words, mode);
        }
    }
}

/// The halves of eight words, in order.
///
/// # Safety
/// Eight words may be read.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
unsafe fn f16_load<const PLAIN: bool>(at: *const u32, mode: Mode) -> Pair {
    // SAFETY: the caller's promise.
    unsafe {
        if PLAIN || !mode.ftz {
            let at = at.cast::<__m128i>();
            return [_mm256_cvtph_ps(_mm_loadu_si128(at)), _mm256_cvtph_ps(_mm_loadu_si128(at.add(1)))];
        }
        let words = flush(_mm256_loadu_si256(at.cast()), Format::F16);
        let (low, high) = (_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
        [_mm256_cvtph_ps(low), _mm256_cvtph_ps(high)]
    }
}

/// The low and the high halves of eight words.
///
/// # Safety
/// Eight words may be read.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
unsafe fn bf16_load<const PLAIN: bool>(at: *const u32, mode: Mode) -> Pair {
    // SAFETY: the caller's promise.
    let mut words = unsafe { _mm256_loadu_si256(at.cast()) };
    if !PLAIN && mode.ftz {
        words = flush(words, Format::Bf16);
    }
    let high = _mm256_and_si256(words, _mm256_set1_epi32(0xFFFF_0000_u32 as i32));
    [_mm256_castsi256_ps(_mm256_slli_epi32::<16>(words)), _mm256_castsi256_ps(high)]
}

/// Writes sixteen rounded halves, clamped and flushed.
///
/// # Safety
/// Eight words may be written.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
unsafe fn store<const PLAIN: bool>(at: *mut u32, mut words: __m256i, mode: Mode) {
    if !PLAIN {
        let zero = _mm256_setzero_si256();
        match mode.clamp {
            Clamp::None => {}
            Clamp::Sat => {
                let nan = _mm256_cmpgt_epi16(words, _mm256_set1_epi16(mode.format.infinity() as i16));
                let words_or_zero = _mm256_max_epi16(_mm256_andnot_si256(nan, words), zero);
                words = _mm256_min_epi16(words_or_zero, _mm256_set1_epi16(mode.format.one() as i16));
            }
            Clamp::Relu => {
                let minus_zero = _mm256_cmpeq_epi16(words, _mm256_set1_epi16(i16::MIN));
                let below = _mm256_andnot_si256(minus_zero, _mm256_cmpgt_epi16(zero, words));
                words = _mm256_andnot_si256(below, words);
            }
        }
        if mode.ftz {
            words = flush(words, mode.format);
        }
    }
    // SAFETY: the caller's promise.
    unsafe { _mm256_storeu_si256(at.cast(), words) };
}

/// Subnormal halves become zeros of their sign.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn flush(words: __m256i, format: Format) -> __m256i {
    // The exponent is where infinity has its ones.
    let exponent = _mm256_and_si256(words, _mm256_set1_epi16(format.infinity() as i16));
    let small = _mm256_cmpeq_epi16(exponent, _mm256_setzero_si256());
    let magnitude = _mm256_and_si256(small, _mm256_set1_epi16(i16::MAX));
    _mm256_andnot_si256(magnitude, words)
}

/// NaNs become the one NaN.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn canonical(words: __m256i, format: Format) -> __m256i {
    let magnitude = _mm256_and_si256(words, _mm256_set1_epi16(i16::MAX));
    let nan = _mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16(format.infinity() as i16));
    _mm256_blendv_epi8(words, _mm256_set1_epi16(NAN as i16), nan)
}

#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn nearest_pair<const KIND: u8>(a: Pair, b: Pair, c: Pair) -> Pair {
    [nearest::<KIND>(a[0], b[0], c[0]), nearest::<KIND>(a[1], b[1], c[1])]
}

/// The f32 nearest to the exact result.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn nearest<const KIND: u8>(a: __m256, b: __m256, c: __m256) -> __m256 {
    match KIND {
        ADD => _mm256_add_ps(a, b),
        MUL => _mm256_mul_ps(a, b),
        _ => _mm256_fmadd_ps(a, b, c),
    }
}

/// Whether the last `BITS` bits of any are zeros: 16 are where a bfloat16 is, from which directed roundings turn, and 15 also
/// in the middle between two, where rounding to nearest does. So they are of zeros, infinities, and NaNs.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn any_turns<const BITS: u32>(floats: Pair) -> bool {
    let last = _mm256_set1_epi32((1 << BITS) - 1);
    let low = _mm256_and_si256(_mm256_castps_si256(floats[0]), last);
    let high = _mm256_and_si256(_mm256_castps_si256(floats[1]), last);
    let turns = _mm256_cmpeq_epi32(_mm256_min_epu32(low, high), _mm256_setzero_si256());
    _mm256_movemask_epi8(turns) != 0
}

/// Whether [`odd`] may be wrong for bfloat16: a result or a product is infinite, or a product has lost bits to underflow.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn leaves_range<const KIND: u8>(a: __m256, b: __m256, near: __m256) -> bool {
    let magnitude = _mm256_set1_epi32(MAGNITUDE);
    let infinity = _mm256_set1_epi32(INFINITY);
    let result = _mm256_and_si256(_mm256_castps_si256(near), magnitude);
    let mut leaves = _mm256_cmpeq_epi32(result, infinity);
    if KIND != ADD {
        let product = _mm256_and_si256(_mm256_castps_si256(_mm256_mul_ps(a, b)), magnitude);
        let zero = _mm256_setzero_ps();
        let factors = _mm256_and_ps(_mm256_cmp_ps::<_CMP_NEQ_OQ>(a, zero), _mm256_cmp_ps::<_CMP_NEQ_OQ>(b, zero));
        let small = _mm256_cmpgt_epi32(_mm256_set1_epi32(1 << 23), product);
        let small = _mm256_and_si256(small, _mm256_castps_si256(factors));
        let large = _mm256_cmpeq_epi32(product, infinity);
        leaves = _mm256_or_si256(leaves, _mm256_or_si256(small, large));
    }
    _mm256_movemask_epi8(leaves) != 0
}

#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn odd_pair<const KIND: u8, const ROUNDING: i32>(a: Pair, b: Pair, c: Pair, near: Pair) -> Pair {
    [odd::<KIND, ROUNDING>(a[0], b[0], c[0], near[0]), odd::<KIND, ROUNDING>(a[1], b[1], c[1], near[1])]
}

/// The exact result where it is an f32; else one of the two f32 beside it, the one whose last bit is set. A zero has the sign
/// that the rounding gives it. `near` is the f32 nearest to the result; a product must be an f32.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn odd<const KIND: u8, const ROUNDING: i32>(a: __m256, b: __m256, c: __m256, near: __m256) -> __m256 {
    // Of the addends x and y of a sum s one is the larger, and the error is x - s + y or y - s + x. The other one of these,
    // in which the difference is rounded, has the sign of the error or is zero.
    let errors = match KIND {
        ADD => [_mm256_add_ps(_mm256_sub_ps(a, near), b), _mm256_add_ps(_mm256_sub_ps(b, near), a)],
        MUL => return near,
        _ => [_mm256_add_ps(_mm256_fmsub_ps(a, b, near), c), _mm256_fmadd_ps(a, b, _mm256_sub_ps(c, near))],
    };
    signed_zero::<KIND, ROUNDING>(a, b, c, next_odd(near, _mm256_add_ps(errors[0], errors[1])))
}

/// [`odd`] of bfloat16s, by way of f64, in which no product leaves the range.
#[target_feature(enable = "avx2,f16c,fma")]
fn odd_by_f64<const KIND: u8, const ROUNDING: i32>(a: __m256, b: __m256, c: __m256) -> __m256 {
    let (wide_a, wide_b, wide_c) = (wide(a), wide(b), wide(c));
    let zero = _mm256_setzero_pd();
    let mut floats = [_mm_setzero_ps(); 2];
    let mut errors = [zero; 2];
    for i in 0..2 {
        let (x, y) = match KIND {
            ADD => (wide_a[i], wide_b[i]),
            MUL => (_mm256_mul_pd(wide_a[i], wide_b[i]), _mm256_set1_pd(-0.0)),
            _ => (_mm256_mul_pd(wide_a[i], wide_b[i]), wide_c[i]),
        };
        let sum = _mm256_add_pd(x, y);
        let of_y = _mm256_add_pd(_mm256_sub_pd(x, sum), y);
        let of_x = _mm256_add_pd(_mm256_sub_pd(y, sum), x);
        floats[i] = _mm256_cvtpd_ps(sum);
        // What the sum lost is less than what the f32 lost, if that is anything.
        let narrowed = _mm256_sub_pd(sum, _mm256_cvtps_pd(floats[i]));
        let exact = _mm256_cmp_pd::<_CMP_EQ_OQ>(narrowed, zero);
        let error = _mm256_blendv_pd(narrowed, _mm256_add_pd(of_y, of_x), exact);
        // As an f32 the error could be 0, but 1 of its sign is not.
        let one = _mm256_or_pd(_mm256_and_pd(error, _mm256_set1_pd(-0.0)), _mm256_set1_pd(1.0));
        errors[i] = _mm256_and_pd(one, _mm256_cmp_pd::<_CMP_NEQ_OQ>(error, zero));
    }
    let near = _mm256_set_m128(floats[1], floats[0]);
    let error = _mm256_set_m128(_mm256_cvtpd_ps(errors[1]), _mm256_cvtpd_ps(errors[0]));
    signed_zero::<KIND, ROUNDING>(a, b, c, next_odd(near, error))
}

#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn wide(x: __m256) -> [__m256d; 2] {
    [_mm256_cvtps_pd(_mm256_castps256_ps128(x)), _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x))]
}

/// A float; where its error is not zero, the one of it and its neighbour in the direction of the error whose last bit is set.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn next_odd(near: __m256, error: __m256) -> __m256 {
    let inexact = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_NEQ_OQ>(error, _mm256_setzero_ps()));
    // Where the error points to zero, the neighbour is the float before.
    let inwards = _mm256_srai_epi32::<31>(_mm256_castps_si256(_mm256_xor_ps(error, near)));
    let below = _mm256_add_epi32(_mm256_castps_si256(near), _mm256_and_si256(inwards, inexact));
    _mm256_castsi256_ps(_mm256_or_si256(below, _mm256_srli_epi32::<31>(inexact)))
}

/// A sum; where it is zero with the sign of rounding downwards, if that is the rounding: negative, unless both addends are
/// positive.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn signed_zero<const KIND: u8, const ROUNDING: i32>(a: __m256, b: __m256, c: __m256, sum: __m256) -> __m256 {
    if ROUNDING != DOWN || KIND == MUL {
        return sum;
    }
    let either = if KIND == ADD { _mm256_or_ps(a, b) } else { _mm256_or_ps(_mm256_xor_ps(a, b), c) };
    let zero = _mm256_cmp_ps::<_CMP_EQ_OQ>(sum, _mm256_setzero_ps());
    _mm256_or_ps(sum, _mm256_and_ps(zero, _mm256_and_ps(either, _mm256_set1_ps(-0.0))))
}

/// Rounds to bfloat16, in the high half of each f32. A NaN must have zeros in the low half to stay one.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn bf16_round<const ROUNDING: i32>(floats: __m256) -> __m256i {
    let bits = _mm256_castps_si256(floats);
    let low = _mm256_set1_epi32(0xFFFF);
    let negative = _mm256_srai_epi32::<31>(bits);
    let more = match ROUNDING {
        NEAREST => {
            let last = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
            _mm256_add_epi32(last, _mm256_set1_epi32(0x7FFF))
        }
        DOWN => _mm256_and_si256(negative, low),
        UP => _mm256_andnot_si256(negative, low),
        _ => return bits,
    };
    _mm256_add_epi32(bits, more)
}

/// The f32 of the half in each word.
///
/// # Safety
/// As for every [`RowFn`], and [`is_here`].
#[target_feature(enable = "avx2,f16c,fma")]
unsafe extern "C" fn widen_row<const BF16: bool>(
    result: *mut u32,
    a: *const u32,
    _: *const u32,
    _: *const u32,
    span: usize,
    _: *const RowOp,
) {
    let Span { items, steps } = Span::new(span);
    for k in (0..items).step_by(WORDS) {
        // SAFETY: a row has eight words from `k` on, and what is no row has sixteen.
        unsafe {
            let words = _mm256_loadu_si256(a.add(k * steps[0]).cast());
            let floats = match BF16 {
                true => _mm256_slli_epi32::<16>(words),
                false => {
                    let low = _mm256_and_si256(words, _mm256_set1_epi32(0xFFFF));
                    // Packing is done in each half of the vector.
                    let halves = _mm256_permute4x64_epi64::<0b10_00>(_mm256_packus_epi32(low, low));
                    _mm256_castps_si256(_mm256_cvtph_ps(_mm256_castsi256_si128(halves)))
                }
            };
            _mm256_storeu_si256(result.add(k).cast(), unless_nan(floats, floats, NAN_F32));
        }
    }
}

/// The half of each f32.
///
/// # Safety
/// As for every [`RowFn`], and [`is_here`].
#[target_feature(enable = "avx2,f16c,fma")]
unsafe extern "C" fn narrow_row<const BF16: bool, const ROUNDING: i32>(
    result: *mut u32,
    a: *const u32,
    _: *const u32,
    _: *const u32,
    span: usize,
    _: *const RowOp,
) {
    let Span { items, steps } = Span::new(span);
    for k in (0..items).step_by(WORDS) {
        // SAFETY: a row has eight words from `k` on, and what is no row has sixteen.
        unsafe {
            let words = _mm256_loadu_si256(a.add(k * steps[0]).cast());
            let floats = _mm256_castsi256_ps(words);
            let halves = match BF16 {
                true => _mm256_srli_epi32::<16>(bf16_round::<ROUNDING>(floats)),
                false => _mm256_cvtepu16_epi32(_mm256_cvtps_ph::<ROUNDING>(floats)),
            };
            _mm256_storeu_si256(result.add(k).cast(), unless_nan(words, halves, NAN.into()));
        }
    }
}

/// `other` where a float is NaN, else the word.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn unless_nan(floats: __m256i, words: __m256i, other: u32) -> __m256i {
    let floats = _mm256_castsi256_ps(floats);
    let nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(floats, floats);
    _mm256_blendv_epi8(words, _mm256_set1_epi32(other as i32), _mm256_castps_si256(nan))
}
