// Cooperative kernels as loops in C: the code that a programmer would write for one core in place
// of the kernels of examples/groups. Each loop processes tile by tile.
//
// Each function takes a scalar and n bytes at x, and writes its results at y.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { GROUP = 256, TILE = 16 };

// Computes the sum of each group of 256 32-bit words by a tree reduction.
void block_sum(uint32_t scalar, const uint8_t *x, uint8_t *y, size_t n) {
    (void)scalar;
    const uint32_t *from = (const uint32_t *)x;
    uint32_t *to = (uint32_t *)y;
    for (size_t g = 0; g < n / sizeof(uint32_t) / GROUP; g++) {
        uint32_t tile[GROUP];
        for (size_t l = 0; l < GROUP; l++) tile[l] = from[g * GROUP + l];
        for (size_t s = GROUP / 2; s != 0; s /= 2) {
            for (size_t l = 0; l < s; l++) tile[l] += tile[l + s];
        }
        to[g] = tile[0];
    }
}

// Counts how often each byte value occurs. The scalar is the number of groups, which process blocks
// of 256 bytes in turn.
void histogram(uint32_t groups, const uint8_t *x, uint8_t *y, size_t n) {
    uint32_t *counts = (uint32_t *)y;
    for (size_t g = 0; g < groups; g++) {
        uint32_t bins[GROUP] = {0};
        for (size_t i = g * GROUP; i < n; i += groups * GROUP) {
            size_t end = i + GROUP < n ? i + GROUP : n;
            for (size_t at = i; at < end; at++) bins[x[at]]++;
        }
        for (size_t l = 0; l < GROUP; l++) counts[l] += bins[l];
    }
}

// Transposes a square matrix of floats in tiles of 16 by 16. The scalar is the number of rows.
void transpose(uint32_t rows, const uint8_t *x, uint8_t *y, size_t n) {
    (void)n;
    const float *from = (const float *)x;
    float *to = (float *)y;
    for (size_t by = 0; by < rows; by += TILE) {
        for (size_t bx = 0; bx < rows; bx += TILE) {
            float tile[TILE][TILE + 1];
            for (size_t v = 0; v < TILE; v++) {
                for (size_t u = 0; u < TILE; u++) tile[v][u] = from[(by + v) * rows + bx + u];
            }
            for (size_t v = 0; v < TILE; v++) {
                for (size_t u = 0; u < TILE; u++) to[(bx + v) * rows + by + u] = tile[u][v];
            }
        }
    }
}

// Multiplies two square matrices of halves in tiles of 16 by 16, with float accumulators. The
// matrices are stored one after the other at x. The scalar is the number of rows.
void tiled_product(uint32_t rows, const uint8_t *x, uint8_t *y, size_t n) {
    const _Float16 *a = (const _Float16 *)x, *b = (const _Float16 *)(x + n / 2);
    _Float16 *c = (_Float16 *)y;
    for (size_t by = 0; by < rows; by += TILE) {
        for (size_t bx = 0; bx < rows; bx += TILE) {
            float sum[TILE][TILE];
            memset(sum, 0, sizeof sum);
            for (size_t t = 0; t < rows; t += TILE) {
                _Float16 left[TILE][TILE], right[TILE][TILE];
                for (size_t v = 0; v < TILE; v++) {
                    for (size_t u = 0; u < TILE; u++) {
                        left[v][u] = a[(by + v) * rows + t + u];
                        right[v][u] = b[(t + v) * rows + bx + u];
                    }
                }
                for (size_t v = 0; v < TILE; v++) {
                    for (size_t k = 0; k < TILE; k++) {
                        float factor = (float)left[v][k];
                        for (size_t u = 0; u < TILE; u++) {
                            sum[v][u] = __builtin_fmaf(factor, (float)right[k][u], sum[v][u]);
                        }
                    }
                }
            }
            for (size_t v = 0; v < TILE; v++) {
                for (size_t u = 0; u < TILE; u++) c[(by + v) * rows + bx + u] = (_Float16)sum[v][u];
            }
        }
    }
}
