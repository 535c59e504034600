// The VP1 kernels in plain C, for a compiler to vectorise. Each function processes the same n bytes
// repeatedly. The bytes would fit in the data store of VP1.

#include <stddef.h>
#include <stdint.h>

// Size of a vector in bytes.
enum { LANES = 16 };

// A barrier for the compiler, which must therefore execute every pass over the data.
#define MEMORY_MAY_CHANGE() __asm__ volatile("" ::: "memory")

// Adds the vectors of the first half of x to those of the second half, with sums saturated at 255.
// The n/2 sums are written to y.
void vadd(uint32_t passes, const uint8_t *restrict x, uint8_t *restrict y, size_t n) {
    for (uint32_t pass = 0; pass < passes; pass++) {
        for (size_t i = 0; i < n / 2; i++) {
            int sum = x[i] + x[n / 2 + i];
            y[i] = sum > 255 ? 255 : sum;
        }
        MEMORY_MAY_CHANGE();
    }
}

// Multiplies the vectors of the first half of x by those of the second half and accumulates the
// products. The accumulators have 28 bits, with the lowest bit of a product at 2^8, as in VP1. The
// highest 8 bits of the accumulators are the first vector of y.
void vmac(uint32_t passes, const int8_t *restrict x, int8_t *restrict y, size_t n) {
    uint32_t sums[LANES] = {0};
    for (uint32_t pass = 0; pass < passes; pass++) {
        for (size_t i = 0; i < n / 2; i += LANES)
            for (size_t lane = 0; lane < LANES; lane++)
                sums[lane] += (uint32_t)(x[i + lane] * x[n / 2 + i + lane]);
        MEMORY_MAY_CHANGE();
    }
    for (size_t lane = 0; lane < LANES; lane++)
        y[lane] = (int8_t)((int32_t)(sums[lane] << 12) >> 24);
}
