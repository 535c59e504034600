// Operations on bytes: plain C for the compiler to vectorise, and AVX2 intrinsics.
//
// Each function reads n bytes at x and n bytes at y, and writes the bytes at y. n is a multiple of
// 32. The scalar is unused.

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

// Computes y = x + y, saturated at 255.
void add_sat(uint32_t scalar, const uint8_t *restrict x, uint8_t *restrict y, size_t n) {
    (void)scalar;
    for (size_t i = 0; i < n; i++) {
        int sum = x[i] + y[i];
        y[i] = sum > 255 ? 255 : sum;
    }
}

void add_sat_avx2(uint32_t scalar, const uint8_t *x, uint8_t *y, size_t n) {
    (void)scalar;
    for (size_t i = 0; i < n; i += 32) {
        __m256i xs = _mm256_loadu_si256((const __m256i *)(x + i));
        __m256i ys = _mm256_loadu_si256((const __m256i *)(y + i));
        _mm256_storeu_si256((__m256i *)(y + i), _mm256_adds_epu8(xs, ys));
    }
}

// Computes y = max(|avg(x, y) - x|, y).
void video(uint32_t scalar, const uint8_t *restrict x, uint8_t *restrict y, size_t n) {
    (void)scalar;
    for (size_t i = 0; i < n; i++) {
        uint8_t average = (x[i] + y[i] + 1) >> 1;
        uint8_t difference = average > x[i] ? average - x[i] : x[i] - average;
        y[i] = difference > y[i] ? difference : y[i];
    }
}
