// The kernels of the folder ptx as loops over their items, as a programmer would write them for one
// core.
//
// Each function takes the scalars, the inputs and the output. The first scalar is the number of
// items or of columns.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static float f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void ptx_saxpy(const uint32_t *scalars, const void *const *in, void *out) {
    int n = (int)scalars[0];
    float a = f32(scalars[1]);
    const float *restrict x = in[0];
    float *restrict y = out;
    for (int i = 0; i < n; i++) y[i] = __builtin_fmaf(a, x[i], y[i]);
}

void ptx_polynomial(const uint32_t *scalars, const void *const *in, void *out) {
    static const float factors[] = {-0.0078125f, 0.041015625f, -0.1328125f, 0.3125f, -0.59375f, 0.96875f,
                                    -1.4375f,    1.75f,        -0.5f,       0.25f,   1.0f};
    int n = (int)scalars[0];
    const float *restrict x = in[0];
    float *restrict y = out;
    for (int i = 0; i < n; i++) {
        float sum = 0.0009765625f;
        for (size_t k = 0; k < sizeof factors / sizeof *factors; k++) sum = __builtin_fmaf(sum, x[i], factors[k]);
        y[i] = sum;
    }
}

void ptx_mandelbrot(const uint32_t *scalars, const void *const *in, void *out) {
    (void)in;
    int width = (int)scalars[0], height = (int)scalars[1], most = (int)scalars[5];
    float x0 = f32(scalars[2]), y0 = f32(scalars[3]), step = f32(scalars[4]);
    uint32_t *restrict counts = out;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            float cr = __builtin_fmaf((float)x, step, x0), ci = __builtin_fmaf((float)y, step, y0);
            float zr = 0, zi = 0;
            int k = 0;
            while (k < most) {
                float ii = zi * zi;
                if (__builtin_fmaf(zr, zr, ii) > 4.0f) break;
                float real = __builtin_fmaf(zr, zr, -ii) + cr;
                zi = __builtin_fmaf(zr + zr, zi, ci);
                zr = real;
                k++;
            }
            counts[y * width + x] = (uint32_t)k;
        }
    }
}

void ptx_hash(const uint32_t *scalars, const void *const *in, void *out) {
    int n = (int)scalars[0];
    const uint32_t *restrict x = in[0];
    uint32_t *restrict y = out;
    for (int i = 0; i < n; i++) {
        uint32_t h = x[i];
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h ^= h >> 16;
        y[i] = h;
    }
}

void ptx_stencil(const uint32_t *scalars, const void *const *in, void *out) {
    int width = (int)scalars[0], height = (int)scalars[1];
    const uint8_t *restrict from = in[0];
    uint8_t *restrict to = out;
    for (int y = 1; y < height - 1; y++) {
        for (int x = 1; x < width - 1; x++) {
            const uint8_t *p = from + (y * width + x);
            unsigned sum = p[-width - 1] + 2 * p[-width] + p[-width + 1] + 2 * p[-1] + 4 * p[0] + 2 * p[1] +
                           p[width - 1] + 2 * p[width] + p[width + 1];
            to[y * width + x] = (uint8_t)((sum + 8) >> 4);
        }
    }
}

// Computes in floats, so each result is rounded twice: to f32 and to f16.
void ptx_half2_axpy(const uint32_t *scalars, const void *const *in, void *out) {
    int n = 2 * (int)scalars[0];
    _Float16 a;
    memcpy(&a, &scalars[1], sizeof a);
    const _Float16 *restrict x = in[0];
    _Float16 *restrict y = out;
    for (int i = 0; i < n; i++) y[i] = (_Float16)__builtin_fmaf((float)a, (float)x[i], (float)y[i]);
}

void ptx_gemv(const uint32_t *scalars, const void *const *in, void *out) {
    int rows = (int)scalars[0], bytes = 16 * (int)scalars[1];
    const int8_t *restrict w = in[0], *restrict x = in[1];
    int32_t *restrict y = out;
    for (int row = 0; row < rows; row++) {
        const int8_t *of_row = w + (size_t)row * (size_t)bytes;
        int32_t sum = 0;
        for (int k = 0; k < bytes; k++) sum += of_row[k] * x[k];
        y[row] = sum;
    }
}

void ptx_dequantize(const uint32_t *scalars, const void *const *in, void *out) {
    int n = (int)scalars[0];
    const uint32_t *restrict q = in[0];
    const float *restrict scales = in[1];
    float *restrict y = out;
    for (int i = 0; i < n; i++) {
        float scale = scales[i / 4];
        for (int k = 0; k < 8; k++) y[8 * i + k] = (float)((int)(q[i] >> 4 * k & 15) - 8) * scale;
    }
}

void ptx_blend(const uint32_t *scalars, const void *const *in, void *out) {
    int n = 4 * (int)scalars[0];
    // The bytes of the scalar `tint` are equal, so one byte is enough.
    unsigned tint = scalars[1] & 255;
    const uint8_t *restrict x = in[0];
    uint8_t *restrict y = out;
    for (int i = 0; i < n; i++) {
        unsigned sum = x[i] + tint > 255 ? 255 : x[i] + tint;
        y[i] = (uint8_t)((sum + y[i] + 1) / 2);
    }
}
