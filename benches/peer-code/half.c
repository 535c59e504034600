// Exact arithmetic on halves with AVX2, F16C and FMA: the code that a programmer would write by
// hand for one kernel.
//
// Each function takes a scalar of two halves, reads n bytes at x and n bytes at y, and writes the
// bytes at y. n is a multiple of 32.

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

// The field of MXCSR that holds the rounding mode.
#define ROUND_MASK 0x6000u
#define ROUND_DOWN 0x2000u

static unsigned round_down(void) {
    unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~ROUND_MASK) | ROUND_DOWN);
    return before;
}

// Returns a * b + c as an f32 rounded to odd. Rounded again to a half, it gives the rounded exact
// result. MXCSR must round down: then the first FMA gives the f32 below the exact result, and the
// negated second FMA the f32 above. If they differ, one of the two is odd and is the result.
static inline __m256 fma_to_odd(__m256 a, __m256 b, __m256 c) {
    __m256 below = _mm256_fmadd_ps(a, b, c);
    __m256 above = _mm256_xor_ps(_mm256_fnmsub_ps(a, b, c), _mm256_set1_ps(-0.0f));
    __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(below), 31));
    return _mm256_blendv_ps(above, below, odd);
}

// Returns a * b + c as an f32 rounded to odd, in the default rounding mode. The error of the sum
// tells how the f32 was rounded.
static inline __m256 fma_to_odd_by_error(__m256 a, __m256 b, __m256 c) {
    __m256 product = _mm256_mul_ps(a, b);
    __m256 sum = _mm256_add_ps(product, c);
    __m256 of_c = _mm256_sub_ps(sum, product);
    __m256 of_product = _mm256_sub_ps(sum, of_c);
    __m256 error = _mm256_add_ps(_mm256_sub_ps(product, of_product), _mm256_sub_ps(c, of_c));
    __m256i bits = _mm256_castps_si256(sum);
    __m256i inexact = _mm256_castps_si256(_mm256_cmp_ps(error, _mm256_setzero_ps(), _CMP_NEQ_OQ));
    // If the error points toward zero, the sum was rounded away from zero. The previous f32 is then
    // the truncated result.
    __m256i inwards = _mm256_srai_epi32(_mm256_xor_si256(bits, _mm256_castps_si256(error)), 31);
    __m256i below = _mm256_add_epi32(bits, _mm256_and_si256(inwards, inexact));
    return _mm256_castsi256_ps(_mm256_or_si256(below, _mm256_srli_epi32(inexact, 31)));
}

// Returns sixteen halves in which each NaN is replaced by 0x7fff. `infinity` is the infinity of the
// halves' format.
static inline __m256i canonical(__m256i halves, short infinity) {
    __m256i one_nan = _mm256_set1_epi16(0x7fff);
    __m256i nan = _mm256_cmpgt_epi16(_mm256_and_si256(halves, one_nan), _mm256_set1_epi16(infinity));
    return _mm256_blendv_epi8(halves, one_nan, nan);
}

static inline __m256 widen(const uint16_t *halves) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)halves));
}

static inline __m128i narrow(__m256 floats) {
    return _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT);
}

static inline void store(uint16_t *at, __m128i low, __m128i high) {
    _mm256_storeu_si256((__m256i *)at, canonical(_mm256_set_m128i(high, low), 0x7c00));
}

// Computes y = a * x + y on f16.
void axpy_f16(uint32_t scalar, const uint16_t *x, uint16_t *y, size_t n) {
    unsigned before = round_down();
    __m256 a = _mm256_cvtph_ps(_mm_set1_epi32((int)scalar));
    for (size_t i = 0; i < n / 2; i += 16) {
        __m256 low = fma_to_odd(a, widen(x + i), widen(y + i));
        __m256 high = fma_to_odd(a, widen(x + i + 8), widen(y + i + 8));
        store(y + i, narrow(low), narrow(high));
    }
    _mm_setcsr(before);
}

void axpy_f16_by_error(uint32_t scalar, const uint16_t *x, uint16_t *y, size_t n) {
    __m256 a = _mm256_cvtph_ps(_mm_set1_epi32((int)scalar));
    for (size_t i = 0; i < n / 2; i += 16) {
        __m256 low = fma_to_odd_by_error(a, widen(x + i), widen(y + i));
        __m256 high = fma_to_odd_by_error(a, widen(x + i + 8), widen(y + i + 8));
        store(y + i, narrow(low), narrow(high));
    }
}

// Computes y = a * x + y on bfloat16. An f32 has the same range, and enough bits for one rounding
// to odd.
void axpy_bf16(uint32_t scalar, const uint32_t *x, uint32_t *y, size_t n) {
    unsigned before = round_down();
    const __m256i high_half = _mm256_set1_epi32((int)0xffff0000u), last = _mm256_set1_epi32(1);
    const __m256i nearly_half = _mm256_set1_epi32(0x7fff);
    __m256i a = _mm256_set1_epi32((int)scalar);
    __m256 a_low = _mm256_castsi256_ps(_mm256_slli_epi32(a, 16));
    __m256 a_high = _mm256_castsi256_ps(_mm256_and_si256(a, high_half));
    for (size_t i = 0; i < n / 4; i += 8) {
        __m256i xs = _mm256_loadu_si256((const __m256i *)(x + i)), ys = _mm256_loadu_si256((const __m256i *)(y + i));
        __m256 x_low = _mm256_castsi256_ps(_mm256_slli_epi32(xs, 16));
        __m256 y_low = _mm256_castsi256_ps(_mm256_slli_epi32(ys, 16));
        __m256 x_high = _mm256_castsi256_ps(_mm256_and_si256(xs, high_half));
        __m256 y_high = _mm256_castsi256_ps(_mm256_and_si256(ys, high_half));
        __m256i low = _mm256_castps_si256(fma_to_odd(a_low, x_low, y_low));
        __m256i high = _mm256_castps_si256(fma_to_odd(a_high, x_high, y_high));
        // Round to nearest, ties to even. A carry may reach the high half of the word and give an
        // infinity. A NaN computed from bfloat16 operands has a low half of zero.
        __m256i even_low = _mm256_and_si256(_mm256_srli_epi32(low, 16), last);
        __m256i even_high = _mm256_and_si256(_mm256_srli_epi32(high, 16), last);
        low = _mm256_add_epi32(low, _mm256_add_epi32(even_low, nearly_half));
        high = _mm256_add_epi32(high, _mm256_add_epi32(even_high, nearly_half));
        __m256i halves = _mm256_blend_epi16(_mm256_srli_epi32(low, 16), high, 0xaa);
        _mm256_storeu_si256((__m256i *)(y + i), canonical(halves, 0x7f80));
    }
    _mm_setcsr(before);
}

// Coefficients of the polynomial, from degree 16 down to 0: (k + 3) / 20 with alternating signs,
// rounded to halves.
static const uint16_t COEFFICIENTS[17] = {
    0x3b9a, 0xbb33, 0x3acd, 0xba66, 0x3a00, 0xb99a, 0x3933, 0xb8cd, 0x3866,
    0xb800, 0x3733, 0xb666, 0x359a, 0xb4cd, 0x3400, 0xb266, 0x30cd,
};

static inline __m256 half_of(__m256 floats) {
    return _mm256_cvtph_ps(narrow(floats));
}

// Computes y = polynomial(x) by Horner's rule, with each step rounded to a half. The loop processes
// `WIDTH` vectors of eight halves together.
#define POLYNOMIAL(NAME, WIDTH)                                                                                        \
    void NAME(uint32_t scalar, const uint16_t *x, uint16_t *y, size_t n) {                                             \
        (void)scalar;                                                                                                  \
        unsigned before = round_down();                                                                                \
        __m256 coefficients[17];                                                                                       \
        for (int k = 0; k < 17; k++)                                                                                   \
            coefficients[k] = _mm256_cvtph_ps(_mm_set1_epi16((short)COEFFICIENTS[k]));                                 \
        for (size_t i = 0; i < n / 2; i += 8 * WIDTH) {                                                                \
            __m256 xs[WIDTH], sums[WIDTH];                                                                             \
            for (int j = 0; j < WIDTH; j++) {                                                                          \
                xs[j] = widen(x + i + 8 * j);                                                                          \
                sums[j] = coefficients[0];                                                                             \
            }                                                                                                          \
            for (int k = 1; k < 17; k++)                                                                               \
                for (int j = 0; j < WIDTH; j++)                                                                        \
                    sums[j] = half_of(fma_to_odd(sums[j], xs[j], coefficients[k]));                                    \
            for (int j = 0; j < WIDTH; j += 2)                                                                         \
                store(y + i + 8 * j, narrow(sums[j]), narrow(sums[j + 1]));                                            \
        }                                                                                                              \
        _mm_setcsr(before);                                                                                            \
    }

POLYNOMIAL(polynomial_f16, 2)
POLYNOMIAL(polynomial_f16_unrolled, 8)
