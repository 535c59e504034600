//! With AVX-512: thirty-two halves at a time.
//!
//! An f32 operation can be rounded in any direction. Rounding downwards twice is rounding downwards once, so for a directed
//! rounding the f32 operation is rounded as the half will be. To round to nearest, the f32s below and above the exact result
//! are computed, which are neighbours or the same. Of neighbours the one whose last bit is set is taken: it rounds to the half
//! that the exact result rounds to, because the bit says that more follows.

use std::arch::x86_64::*;

use halfbyte_isa::half::{Clamp, Format, HalfMode, NAN, NAN_F32, Rounding};
use halfbyte_isa::halu::domain::{HalfKind, HalfOp};

use super::choice::functions;
use super::{LOT, RowFn, RowOp, Span, plain};

/// Whether the functions can be called.
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

/// Two rows of so many bytes fit into the first-level cache.
const NEAR: usize = 16 << 10;

/// What the compiler vectorises. Longer rows of bytes come from the second-level cache, from which loads of 256 bits are faster than of 512.
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
    // SAFETY: the caller's promise; a computer with AVX-512 has AVX2.
    unsafe {
        match *op {
            RowOp::Bytes(_) if span > NEAR => plain::avx2::row(result, a, b, c, span, op),
            _ => plain::avx512::row(result, a, b, c, span, op),
        }
    }
}

/// A half operation. One that is `PLAIN` neither flushes nor clamps.
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
        // SAFETY: every row has a lot from `k` on, and what is no row is one.
        unsafe {
            let a = load::<BF16, PLAIN>(a.add(k * steps[0]), mode);
            let b = load::<BF16, PLAIN>(b.add(k * steps[1]), mode);
            let c = if KIND == FMA { load::<BF16, PLAIN>(c.add(k * steps[2]), mode) } else { b };
            let floats = if KIND == MUL && !BF16 {
                // The product of two binary16 is an f32.
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

/// The f32s of thirty-two halves: in order if they are binary16, else the low and the high ones of the words.
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

/// The words of the halves that these round to, laid out as [`load`] does. A NaN stays one.
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

/// An f32 that rounds to the half that the exact result rounds to: that result, or an f32 beside it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn nearly<const KIND: u8, const ROUNDING: i32>(a: __m512, b: __m512, c: __m512) -> __m512 {
    if ROUNDING != NEAREST {
        return compute::<KIND, ROUNDING>(a, b, c);
    }
    let (below, above) = (compute::<KIND, DOWN>(a, b, c), compute::<KIND, UP>(a, b, c));
    // Of the two zeros of an exact 0 it takes the positive one, as rounding to nearest does.
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

/// Rounds to bfloat16, in the high half of each f32. A NaN must have zeros in the low half to stay one.
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

/// NaNs become the one NaN.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn canonical(words: __m512i, format: Format) -> __m512i {
    let magnitude = _mm512_and_si512(words, _mm512_set1_epi16(i16::MAX));
    let nan = _mm512_cmpgt_epi16_mask(magnitude, _mm512_set1_epi16(format.infinity() as i16));
    _mm512_mask_mov_epi16(words, nan, _mm512_set1_epi16(NAN as i16))
}

/// Subnormal halves become zeros of their sign.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn flush(words: __m512i, format: Format) -> __m512i {
    // The exponent is where infinity has its ones.
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
            // As integers all below zero but the least, which is -0.
            let below = _mm512_cmplt_epi16_mask(words, zero);
            let below = _mm512_mask_cmpneq_epi16_mask(below, words, _mm512_set1_epi16(i16::MIN));
            _mm512_mask_mov_epi16(words, below, zero)
        }
    };
    if mode.ftz { flush(words, mode.format) } else { words }
}

/// The f32 of the half in each word.
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
        // SAFETY: a row has a lot from `k` on, and what is no row is one.
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

/// The half of each f32.
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
        // SAFETY: a row has a lot from `k` on, and what is no row is one.
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

/// `other` where a float is NaN, else the word.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
fn unless_nan(floats: __m512i, words: __m512i, other: u32) -> __m512i {
    let floats = _mm512_castsi512_ps(floats);
    let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(floats, floats);
    _mm512_mask_mov_epi32(words, nan, _mm512_set1_epi32(other as i32))
}
