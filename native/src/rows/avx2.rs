//! Functions for AVX2, F16C and FMA, which compute sixteen halves at a time. Every arithmetic
//! operation on halves is a [`multiply_add`].

use std::arch::x86_64::*;

use halfbyte_isa::half::{Clamp, Format, HalfMode, NAN, NAN_F32, Rounding};
use halfbyte_isa::halu::domain::{HalfKind, HalfOp};

use super::choice::functions;
use super::multiply_add::{DOWN, NEAREST, Operand, UP, ZERO, multiply_add};
use super::{LOT, RowFn, RowOp, Span, plain};

/// Returns `true` if the host supports the functions.
pub(super) fn is_here() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c") && is_x86_feature_detected!("fma")
}

/// Number of words, one for each work item, in a vector.
const WORDS: usize = 8;

functions!(plain::avx2::row);

/// The number one in each format.
static ONES: [[u32; LOT]; 2] = [[0x3C00_3C00; LOT], [0x3F80_3F80; LOT]];
static ZEROS: [u32; LOT] = [0; LOT];
static MINUS_ZEROS: [u32; LOT] = [0x8000_8000; LOT];

/// Computes an operation on halves. A `PLAIN` operation neither flushes nor clamps.
///
/// # Safety
/// As for every [`RowFn`], and [`is_here`].
#[target_feature(enable = "avx2,f16c,fma")]
unsafe extern "C" fn half_row<const KIND: u8, const BF16: bool, const ROUNDING: i32, const PLAIN: bool>(
    result: *mut u32,
    a: *const u32,
    b: *const u32,
    c: *const u32,
    span: usize,
    op: *const RowOp,
) {
    // SAFETY: the caller's promise.
    let RowOp::Half(HalfOp { mode, .. }) = (unsafe { *op }) else { return };
    let Span { items, steps } = Span::new(span);
    let operand = |start: *const u32, k: usize| Operand { start, is_row: steps[k] != 0 };
    let (a, b) = (operand(a, 0), operand(b, 1));
    let operands = match KIND {
        ADD => [a, Operand::same(&ONES[usize::from(BF16)]), b],
        // The addend is the zero that preserves the sign of a product that is zero.
        MUL if ROUNDING == DOWN => [a, b, Operand::same(&ZEROS)],
        MUL => [a, b, Operand::same(&MINUS_ZEROS)],
        _ => [a, b, operand(c, 2)],
    };
    // SAFETY: the caller's promise.
    unsafe {
        match (PLAIN, KIND) {
            (true, MUL) if !BF16 => multiply_add::<BF16, ROUNDING, true>(result, operands, items / LOT),
            (true, _) => multiply_add::<BF16, ROUNDING, false>(result, operands, items / LOT),
            (false, _) => by_blocks::<BF16, ROUNDING>(result, operands, items, mode),
        }
    }
}

/// Computes `a * b + c` block by block. The operands are flushed before, and the result is clamped and flushed after.
///
/// # Safety
/// As for [`multiply_add`], for `items` work items.
#[target_feature(enable = "avx2,f16c,fma")]
unsafe fn by_blocks<const BF16: bool, const ROUNDING: i32>(
    result: *mut u32,
    operands: [Operand; 3],
    items: usize,
    mode: HalfMode,
) {
    const BLOCK: usize = 8 * LOT;
    let mut flushed = [[0_u32; BLOCK]; 3];
    for start in (0..items).step_by(BLOCK) {
        let count = BLOCK.min(items - start);
        let mut block = operands;
        // SAFETY: a row has `count` words from `start` on, and any other operand has a lot.
        unsafe {
            for (operand, flushed) in block.iter_mut().zip(&mut flushed) {
                let words = if operand.is_row { count } else { LOT };
                let from = if operand.is_row { operand.start.add(start) } else { operand.start };
                operand.start = from;
                if mode.ftz {
                    for k in (0..words).step_by(WORDS) {
                        let words = flush(_mm256_loadu_si256(from.add(k).cast()), mode.format);
                        _mm256_storeu_si256(flushed.as_mut_ptr().add(k).cast(), words);
                    }
                    operand.start = flushed.as_ptr();
                }
            }
            multiply_add::<BF16, ROUNDING, false>(result.add(start), block, count / LOT);
            for k in (start..start + count).step_by(WORDS) {
                let at = result.add(k).cast();
                _mm256_storeu_si256(at, finished(_mm256_loadu_si256(at), mode));
            }
        }
    }
}

/// Clamps and flushes rounded halves.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn finished(words: __m256i, mode: HalfMode) -> __m256i {
    let zero = _mm256_setzero_si256();
    let clamped = match mode.clamp {
        Clamp::None => words,
        Clamp::Sat => {
            let nan = _mm256_cmpgt_epi16(words, _mm256_set1_epi16(mode.format.infinity() as i16));
            let words_or_zero = _mm256_max_epi16(_mm256_andnot_si256(nan, words), zero);
            _mm256_min_epi16(words_or_zero, _mm256_set1_epi16(mode.format.one() as i16))
        }
        Clamp::Relu => {
            let minus_zero = _mm256_cmpeq_epi16(words, _mm256_set1_epi16(i16::MIN));
            let below = _mm256_andnot_si256(minus_zero, _mm256_cmpgt_epi16(zero, words));
            _mm256_andnot_si256(below, words)
        }
    };
    if mode.ftz { flush(clamped, mode.format) } else { clamped }
}

/// Replaces subnormal halves by zeros of the same sign.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn flush(words: __m256i, format: Format) -> __m256i {
    // The exponent field is the set bits of infinity.
    let exponent = _mm256_and_si256(words, _mm256_set1_epi16(format.infinity() as i16));
    let small = _mm256_cmpeq_epi16(exponent, _mm256_setzero_si256());
    let magnitude = _mm256_and_si256(small, _mm256_set1_epi16(i16::MAX));
    _mm256_andnot_si256(magnitude, words)
}

/// Rounds to bf16, in the high half of each f32. A NaN stays a NaN only if its low half is zero.
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

/// Widens the half in each word to f32.
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
        // SAFETY: a row has eight words from `k` on, and any other operand has sixteen words.
        unsafe {
            let words = _mm256_loadu_si256(a.add(k * steps[0]).cast());
            let floats = match BF16 {
                true => _mm256_slli_epi32::<16>(words),
                false => {
                    let low = _mm256_and_si256(words, _mm256_set1_epi32(0xFFFF));
                    // The pack instruction works within each 128-bit half of the vector.
                    let halves = _mm256_permute4x64_epi64::<0b10_00>(_mm256_packus_epi32(low, low));
                    _mm256_castps_si256(_mm256_cvtph_ps(_mm256_castsi256_si128(halves)))
                }
            };
            _mm256_storeu_si256(result.add(k).cast(), unless_nan(floats, floats, NAN_F32));
        }
    }
}

/// Narrows each f32 to a half.
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
        // SAFETY: a row has eight words from `k` on, and any other operand has sixteen words.
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

/// Returns `other` for each float that is NaN, and the word otherwise.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn unless_nan(floats: __m256i, words: __m256i, other: u32) -> __m256i {
    let floats = _mm256_castsi256_ps(floats);
    let nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(floats, floats);
    _mm256_blendv_epi8(words, _mm256_set1_epi32(other as i32), _mm256_castps_si256(nan))
}
