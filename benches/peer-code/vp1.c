// What the VP1 kernels compute, in plain C for a compiler to vectorize. The same n bytes, as few as VP1's data store holds,
// are gone over so many times.

#include <stddef.h>
#include <stdint.h>

// Bytes of a vector.
enum { LANES = 16 };

// Makes the passes be done, each of them.
#define MEMORY_MAY_CHANGE() __asm__ volatile("" ::: "memory")

// Adds the vectors of the first half of x to those of the second, bytes that are at most 255. The sums are n/2 bytes at y.
void vadd(uint32_t passes, const uint8_t *restrict x, uint8_t *restrict y, size_t n) {
    for (uint32_t pass = 0; pass < passes; pass++) {
        for (size_t i = 0; i < n / 2; i++) {
            int sum = x[i] + x[n / 2 + i];
            y[i] = sum > 255 ? 255 : sum;
        }
        MEMORY_MAY_CHANGE();
    }
}

// Multiplies the vectors of the first half of x with those of the second, and adds up the products in accumulators of 28 bits
// with the products' last bit 2^8, as VP1 has them. The accumulators' highest 8 bits are the first vector of y.
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
