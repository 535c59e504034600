//! Functions for AVX-512, which compute thirty-two halves at a time.
//!
//! AVX-512 can round an f32 operation in any direction. Rounding down twice equals rounding down
//! once, so for a directed rounding the f32 operation is rounded in the direction of the half. For
//! rounding to nearest, the operation is rounded down and up, to two f32s that are equal or
//! adjacent. If they are adjacent, the f32 whose last bit is set is used. This f32 rounds to the
//! same half as the exact result, because the last bit acts as a sticky bit.

use std::arch::x86_64::*;

use halfbyte_isa::half::{Clamp, Format, HalfMode, NAN, NAN_F32, Rounding};
use halfbyte_isa::halu::domain::{HalfKind, HalfOp};

use super::choice::functions;
use super::{LOT, RowFn, RowOp, Span, plain};

/// Returns `true` if the host supports the functions.
pub(super) fn is_here() -> bool {
    super::avx2::is_here()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
const ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

functions!(plain_row);

/// Maximum length in bytes of a row of which two fit into the first-level cache.
const NEAR: usize = 16 << 10;

/// Computes the operations that the compiler vectorises. Longer rows of byte operations come from the second-level
/// cache, from which 256-bit loads are faster than 512-bit loads.
///
/// # Safety
/// As for every [`RowFn`], and [`is_here`].
unsafe extern "C" fn plain_row(
    result: *mut u32,
    a: *const u32,
    b: *const u32,
    c: *const u32,
    span: usize,
    op: *const RowOp,
) {
    // SAFETY: the caller's promise. A host with AVX-512 has AVX2.
    unsafe {
        match *op {
            RowOp::Bytes(_) if span > NEAR => plain::avx2::row(result, a, b, c, span, op),
            _ => plain::avx512::row(result, a, b, c, span, op),
        }
    }
}

/// Computes an operation on halves. A `PLAIN` operation neither flushes nor clamps.
///
/// # Safety
/// As for every [`RowFn`], and [`is_here`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
unsafe extern "C" fn half_row<const KIND: u8, const BF16: bool, const ROUNDING: i32, const PLAIN: bool>(
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
    for k in (0..items).step_by(LOT) {
        // SAFETY: every row has a lot from `k` on, and any other operand is a lot.
        unsafe {
            let a = load::<BF16, PLAIN>(a.add(k * steps[0]), mode);
            let b = load::<BF16, PLAIN>(b.add(k * steps[1]), mode);
            let c = if KIND == FMA { load::<BF16, PLAIN>(c.add(k * steps[2]), mode) } else { b };
            let floats = if KIND == MUL && !BF16 {
                // The product of two f16 values is exact in f32.
                [_mm512_mul_ps(a[0], b[0]), _mm512_mul_ps(a[1], b[1])]
            } else {
                [nearly::<KIND, ROUNDING>(a[0], b[0], c[0]), nearly::<KIND, ROUNDING>(a[1], b[1], c[1])]
            };
            let words = canonical(narrow::<BF16, ROUNDING>(floats), mode.format);
            let words = if PLAIN { words } else { finish(words, mode) };
            _mm512_storeu_si512(result.add(k).cast(), words);
        }
    }
}

/// Loads thirty-two halves as f32s. f16 values stay in order. bf16 values are separated into the low halves and the
/// high halves of the words.
///
/// # Safety
/// Sixteen words may be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
unsafe fn load<const BF16: bool, const PLAIN: bool>(at: *const u32, mode: HalfMode) -> [__m512; 2] {
    // SAFETY: the caller's promise.
    unsafe {
        if !BF16 && (PLAIN || !mode.ftz) {
            let at = at.cast::<__m256i>();
            return [_mm512_cvtph_ps(_mm256_loadu_si256(at)), _mm512_cvtph_ps(_mm256_loadu_si256(at.add(1)))];
        }
        let words = _mm512_loadu_si512(at.cast());
        let words = if PLAIN || !mode.ftz { words } else { flush(words, mode.format) };
        if BF16 {
            let high = _mm512_and_si512(words, _mm512_set1_epi32(0xFFFF_0000_u32 as i32));
            return [_mm512_castsi512_ps(_mm512_slli_epi32::<16>(words)), _mm512_castsi512_ps(high)];
        }
        [_mm512_cvtph_ps(_mm512_castsi512_si256(words)), _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(words))]
    }
}

/// Rounds f32s in the layout of [`load`] to the words of halves. A NaN stays a NaN.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn narrow<const BF16: bool, const ROUNDING: i32>(floats: [__m512; 2]) -> __m512i {
    if BF16 {
        let low = _mm512_srli_epi32::<16>(bf16_round::<ROUNDING>(floats[0]));
        return _mm512_mask_blend_epi16(0xAAAA_AAAA, low, bf16_round::<ROUNDING>(floats[1]));
    }
    let (low, high) = (_mm512_cvtps_ph::<ROUNDING>(floats[0]), _mm512_cvtps_ph::<ROUNDING>(floats[1]));
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// Returns an f32 that rounds to the same half as the exact result: the exact result, or an adjacent f32.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn nearly<const KIND: u8, const ROUNDING: i32>(a: __m512, b: __m512, c: __m512) -> __m512 {
    if ROUNDING != NEAREST {
        return compute::<KIND, ROUNDING>(a, b, c);
    }
    let (below, above) = (compute::<KIND, DOWN>(a, b, c), compute::<KIND, UP>(a, b, c));
    // If the exact result is 0, this selects the positive zero, as rounding to nearest does.
    let even = _mm512_testn_epi32_mask(_mm512_castps_si512(below), _mm512_set1_epi32(1));
    _mm512_mask_mov_ps(below, even, above)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn compute<const KIND: u8, const ROUNDING: i32>(a: __m512, b: __m512, c: __m512) -> __m512 {
    match KIND {
        ADD => _mm512_add_round_ps::<ROUNDING>(a, b),
        MUL => _mm512_mul_round_ps::<ROUNDING>(a, b),
        _ => _mm512_fmadd_round_ps::<ROUNDING>(a, b, c),
    }
}

/// Rounds to bf16, in the high half of each f32. A NaN stays a NaN only if its low half is zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn bf16_round<const ROUNDING: i32>(floats: __m512) -> __m512i {
    let bits = _mm512_castps_si512(floats);
    let low = _mm512_set1_epi32(0xFFFF);
    let negative = _mm512_srai_epi32::<31>(bits);
    let more = match ROUNDING {
        NEAREST => {
            let last = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
            _mm512_add_epi32(last, _mm512_set1_epi32(0x7FFF))
        }
        DOWN => _mm512_and_si512(negative, low),
        UP => _mm512_andnot_si512(negative, low),
        _ => return bits,
    };
    _mm512_add_epi32(bits, more)
}

/// Replaces NaNs by the canonical NaN.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn canonical(words: __m512i, format: Format) -> __m512i {
    let magnitude = _mm512_and_si512(words, _mm512_set1_epi16(i16::MAX));
    let nan = _mm512_cmpgt_epi16_mask(magnitude, _mm512_set1_epi16(format.infinity() as i16));
    _mm512_mask_mov_epi16(words, nan, _mm512_set1_epi16(NAN as i16))
}

/// Replaces subnormal halves by zeros of the same sign.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn flush(words: __m512i, format: Format) -> __m512i {
    // The exponent field is the set bits of infinity.
    let small = _mm512_testn_epi16_mask(words, _mm512_set1_epi16(format.infinity() as i16));
    _mm512_mask_mov_epi16(words, small, _mm512_and_si512(words, _mm512_set1_epi16(i16::MIN)))
}

/// Clamps and flushes rounded halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn finish(words: __m512i, mode: HalfMode) -> __m512i {
    let zero = _mm512_setzero_si512();
    let words = match mode.clamp {
        Clamp::None => words,
        Clamp::Sat => {
            let number = _mm512_cmple_epi16_mask(words, _mm512_set1_epi16(mode.format.infinity() as i16));
            let least = _mm512_maskz_max_epi16(number, words, zero);
            _mm512_min_epi16(least, _mm512_set1_epi16(mode.format.one() as i16))
        }
        Clamp::Relu => {
            // As integers, negative halves are below zero. The least integer is -0.
            let below = _mm512_cmplt_epi16_mask(words, zero);
            let below = _mm512_mask_cmpneq_epi16_mask(below, words, _mm512_set1_epi16(i16::MIN));
            _mm512_mask_mov_epi16(words, below, zero)
        }
    };
    if mode.ftz { flush(words, mode.format) } else { words }
}

/// Widens the half in each word to f32.
///
/// # Safety
/// As for every [`RowFn`], and [`is_here`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
unsafe extern "C" fn widen_row<const BF16: bool>(
    result: *mut u32,
    a: *const u32,
    _: *const u32,
    _: *const u32,
    span: usize,
    _: *const RowOp,
) {
    let Span { items, steps } = Span::new(span);
    for k in (0..items).step_by(LOT) {
        // SAFETY: a row has a lot from `k` on, and any other operand is a lot.
        unsafe {
            let words = _mm512_loadu_si512(a.add(k * steps[0]).cast());
            let floats = match BF16 {
                true => _mm512_slli_epi32::<16>(words),
                false => _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(words))),
            };
            _mm512_storeu_si512(result.add(k).cast(), unless_nan(floats, floats, NAN_F32));
        }
    }
}

/// Narrows each f32 to a half.
///
/// # Safety
/// As for every [`RowFn`], and [`is_here`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
unsafe extern "C" fn narrow_row<const BF16: bool, const ROUNDING: i32>(
    result: *mut u32,
    a: *const u32,
    _: *const u32,
    _: *const u32,
    span: usize,
    _: *const RowOp,
) {
    let Span { items, steps } = Span::new(span);
    for k in (0..items).step_by(LOT) {
        // SAFETY: a row has a lot from `k` on, and any other operand is a lot.
        unsafe {
            let words = _mm512_loadu_si512(a.add(k * steps[0]).cast());
            let floats = _mm512_castsi512_ps(words);
            let halves = match BF16 {
                true => _mm512_srli_epi32::<16>(bf16_round::<ROUNDING>(floats)),
                false => _mm512_cvtepu16_epi32(_mm512_cvtps_ph::<ROUNDING>(floats)),
            };
            _mm512_storeu_si512(result.add(k).cast(), unless_nan(words, halves, NAN.into()));
        }
    }
}

/// Returns `other` for each float that is NaN, and the word otherwise.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn unless_nan(floats: __m512i, words: __m512i, other: u32) -> __m512i {
    let floats = _mm512_castsi512_ps(floats);
    let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(floats, floats);
    _mm512_mask_mov_epi32(words, nan, _mm512_set1_epi32(other as i32))
}
