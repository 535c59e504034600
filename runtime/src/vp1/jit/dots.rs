//! Dot products of rows of bytes with 256-bit vectors, which Cranelift does not support.

/// A row of 16 bytes.
type Row = [u8; 16];

/// A function that computes, for each lane, the dot product of `count` pairs of rows as a wrapping
/// 32-bit sum. Each function has a fixed signedness of the bytes.
///
/// # Safety
/// All rows must be valid for reads, and the sums valid for writes.
pub(super) type Dots = unsafe extern "C" fn(x: *const Row, y: *const Row, count: usize, sums: *mut [i32; 16]);

/// Returns the dot product function for bytes of the given signedness in both factors. Returns
/// `None` if the computer lacks AVX2.
pub(super) fn function(signed: [bool; 2]) -> Option<Dots> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        return Some(match signed {
            [false, false] => avx2::dots::<false, false>,
            [false, true] => avx2::dots::<false, true>,
            [true, false] => avx2::dots::<true, false>,
            [true, true] => avx2::dots::<true, true>,
        });
    }
    let _ = signed;
    None
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::Row;

    /// Computes dot products; see [`Dots`](super::Dots).
    ///
    /// # Safety
    /// As for [`Dots`](super::Dots). The computer must support AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe extern "C" fn dots<const X: bool, const Y: bool>(
        x: *const Row,
        y: *const Row,
        count: usize,
        sums: *mut [i32; 16],
    ) {
        let mut all = [_mm256_setzero_si256(); 2];
        let none = _mm_setzero_si128();
        for k in (0..count).step_by(2) {
            // SAFETY: row `k` exists, because it is below the count. The load may be unaligned.
            let load = |from: *const Row, k: usize| unsafe { _mm_loadu_si128(from.add(k).cast()) };
            let two = |from: *const Row| [load(from, k), if k + 1 < count { load(from, k + 1) } else { none }];
            let (x, y) = (halves::<X>(two(x)), halves::<Y>(two(y)));
            for (all, (x, y)) in all.iter_mut().zip(x.into_iter().zip(y)) {
                *all = _mm256_add_epi32(*all, _mm256_madd_epi16(x, y));
            }
        }
        for (k, all) in all.into_iter().enumerate() {
            // SAFETY: the caller guarantees that the sums are valid for writes.
            unsafe { _mm256_storeu_si256(sums.cast::<__m256i>().add(k), all) }
        }
    }

    /// Interleaves the bytes of two rows and extends them to 16 bits. Returns the lower lanes, then the upper lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves<const SIGNED: bool>([a, b]: [__m128i; 2]) -> [__m256i; 2] {
        [_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)]
            .map(|bytes| if SIGNED { _mm256_cvtepi8_epi16(bytes) } else { _mm256_cvtepu8_epi16(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_added_up_of_any_number_of_rows() {
        let bytes = |seed: u32| -> Vec<Row> {
            let byte = |k: u32| match k.wrapping_mul(seed) >> 7 & 3 {
                0 => 0x80,
                1 => 0xFF,
                _ => (k.wrapping_mul(seed) >> 11) as u8,
            };
            (0..9).map(|row| std::array::from_fn(|lane| byte(row * 16 + lane as u32))).collect()
        };
        let (x, y) = (bytes(0x9E37_79B9), bytes(0x85EB_CA6B));
        for signed in [[false, false], [false, true], [true, false], [true, true]] {
            let Some(dots) = function(signed) else { return println!("skipped: this computer has no AVX2") };
            let number = |byte: u8, signed: bool| if signed { i32::from(byte as i8) } else { i32::from(byte) };
            for count in 0..=x.len() {
                let mut sums = [7; 16];
                // SAFETY: both sides have at least `count` rows.
                unsafe { dots(x.as_ptr(), y.as_ptr(), count, &raw mut sums) };
                let product = |lane: usize, k: usize| number(x[k][lane], signed[0]) * number(y[k][lane], signed[1]);
                let expected = std::array::from_fn(|lane| (0..count).map(|k| product(lane, k)).sum());
                assert_eq!(sums, expected, "{signed:?}, {count} rows");
            }
        }
    }
}
