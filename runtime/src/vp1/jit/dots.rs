//! Products of rows of bytes, added up lane by lane, in vectors of 256 bits, which Cranelift has none of.

/// The bytes of a row.
type Row = [u8; 16];

/// Adds up the products of so many rows from two places on, of bytes that are signed or not as the function was asked for: a sum for each
/// lane, modulo 2^32.
///
/// # Safety
/// All rows are there to be read, and the sums to be written.
pub(super) type Dots = unsafe extern "C" fn(x: *const Row, y: *const Row, count: usize, sums: *mut [i32; 16]);

/// That of bytes which are signed or not on each side; none where the computer lacks such vectors.
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

    /// See [`Dots`](super::Dots).
    ///
    /// # Safety
    /// As there; the computer has AVX2.
    #[target_feature(enable = "avx2")]
    pub unsafe extern "C" fn dots<const X: bool, const Y: bool>(
        x: *const Row,
        y: *const Row,
        count: usize,
        sums: *mut [i32; 16],
    ) {
        let mut all = [_mm256_setzero_si256(); 2];
        let none = _mm_setzero_si128();
        for k in (0..count).step_by(2) {
            // SAFETY: rows below the count are there, at any address.
            let load = |from: *const Row, k: usize| unsafe { _mm_loadu_si128(from.add(k).cast()) };
            let two = |from: *const Row| [load(from, k), if k + 1 < count { load(from, k + 1) } else { none }];
            let (x, y) = (halves::<X>(two(x)), halves::<Y>(two(y)));
            for (all, (x, y)) in all.iter_mut().zip(x.into_iter().zip(y)) {
                *all = _mm256_add_epi32(*all, _mm256_madd_epi16(x, y));
            }
        }
        for (k, all) in all.into_iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { _mm256_storeu_si256(sums.cast::<__m256i>().add(k), all) }
        }
    }

    /// Components of two rows in turn, each in 16 bits, of the lower lanes and of the upper ones.
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
                // SAFETY: there are as many rows on both sides.
                unsafe { dots(x.as_ptr(), y.as_ptr(), count, &raw mut sums) };
                let product = |lane: usize, k: usize| number(x[k][lane], signed[0]) * number(y[k][lane], signed[1]);
                let expected = std::array::from_fn(|lane| (0..count).map(|k| product(lane, k)).sum());
                assert_eq!(sums, expected, "{signed:?}, {count} rows");
            }
        }
    }
}
