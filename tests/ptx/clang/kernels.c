// Typical kernels in C, for clang's PTX and for the host. kernels.ptx is the output of this command:
//   clang-19 --target=nvptx64-nvidia-cuda -march=sm_90 -O2 -ffp-contract=off -S kernels.c
// With -DHOST, the file is a host program that executes one of the kernels on buffers from standard input.
typedef unsigned u32;
typedef unsigned char u8x4 __attribute__((ext_vector_type(4)));
typedef signed char s8x4 __attribute__((ext_vector_type(4)));
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
#define AS(type, value) __builtin_bit_cast(type, value)

#ifndef HOST
#define KERNEL(name, ...) __attribute__((nvptx_kernel)) void name(__VA_ARGS__)
#define ITEM (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define VIDEO(name, op)                                                                                     \
  static inline __attribute__((always_inline)) u32 name(u32 a, u32 b, u32 c) {                                                              \
    u32 r;                                                                                                  \
    asm(op " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                                          \
    return r;                                                                                               \
  }
VIDEO(adds, "vadd4.s32.s32.s32.sat")
VIDEO(subs, "vsub4.s32.s32.s32.sat")
VIDEO(maxs, "vmax4.s32.s32.s32")
VIDEO(minu, "vmin4.u32.u32.u32")
VIDEO(maxu, "vmax4.u32.u32.u32")
VIDEO(avgu, "vavrg4.u32.u32.u32")
VIDEO(diffu, "vabsdiff4.u32.u32.u32")
VIDEO(sadu, "vabsdiff4.u32.u32.u32.add")
// An inline assembly block with a scope of its own, which declares a predicate.
static inline __attribute__((always_inline)) u32 clamp_step(u32 a, u32 b) {
  u32 r;
  asm("{ .reg .pred p; setp.gt.s32 p, %1, %2; selp.b32 %0, %2, %1, p; @p add.s32 %0, %0, 1; }" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
#else
#define KERNEL(name, ...) static void name(u32 ITEM, __VA_ARGS__)
static int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
#define LANES(name, type, expression)                        \
  static u32 name(u32 a, u32 b, u32 c) {                     \
    type x = AS(type, a), y = AS(type, b), r;                \
    (void)c;                                                 \
    for (int i = 0; i < 4; i++) {                            \
      int p = x[i], q = y[i];                                \
      r[i] = (expression);                                   \
    }                                                        \
    return AS(u32, r);                                       \
  }
LANES(adds, s8x4, clamp(p + q, -128, 127))
LANES(subs, s8x4, clamp(p - q, -128, 127))
LANES(maxs, s8x4, p > q ? p : q)
LANES(minu, u8x4, p < q ? p : q)
LANES(maxu, u8x4, p > q ? p : q)
LANES(avgu, u8x4, (p + q + 1) >> 1)
LANES(diffu, u8x4, p > q ? p - q : q - p)
static u32 sadu(u32 a, u32 b, u32 c) {
  u8x4 d = AS(u8x4, diffu(a, b, 0));
  return c + d[0] + d[1] + d[2] + d[3];
}
static u32 clamp_step(u32 a, u32 b) { return (int)a > (int)b ? b + 1 : a; }
#endif

// One cell of the Smith-Waterman alignment. A word holds four alignments, one in each byte.
KERNEL(smith_waterman, const u32 *diagonal, const u32 *score, u32 *e, u32 *f, u32 *h, u32 *best, u32 gap) {
  u32 i = ITEM;
  u32 ei = subs(e[i], gap, 0), fi = subs(f[i], gap, 0);
  u32 hi = maxs(maxs(adds(diagonal[i], score[i], 0), ei, 0), maxs(fi, 0, 0), 0);
  e[i] = ei;
  f[i] = fi;
  h[i] = hi;
  best[i] = maxs(best[i], hi, 0);
}

// One row of the SSV filter: adds the emission scores, and rotates the scores by one byte.
KERNEL(ssv, const u32 *emission, u32 *best, int length) {
  u32 i = ITEM, sv = 0x80808080, top = 0x80808080;
  for (int k = 0; k < length; k++) {
    sv = adds(sv, emission[i * 4 + k % 4], 0);
    top = maxs(top, sv, 0);
    sv = sv << 8 | sv >> 24;
  }
  best[i] = top;
}

// A bit node of an LDPC decoder: for each edge, the sum of all messages without that edge's own
// message.
KERNEL(ldpc_bit, const u32 *in, u32 *out) {
  u32 i = ITEM, sum = 0;
  for (int k = 0; k < 4; k++) sum = adds(sum, in[4 * i + k], 0);
  for (int k = 0; k < 4; k++) out[4 * i + k] = subs(sum, in[4 * i + k], 0);
}

// Stereo matching: finds the shift with the least difference between two rows of pixels.
KERNEL(stereo, const u32 *left, const u32 *right, u32 *disparity, int shifts) {
  u32 i = ITEM, least = ~0u, at = 0;
  for (int s = 0; s < shifts; s++) {
    u32 cost = 0;
    for (int k = 0; k < 3; k++) cost = sadu(left[i + k], right[i + k + s], cost);
    if (cost < least) {
      least = cost;
      at = s;
    }
  }
  disparity[i] = at << 16 | (least & 0xffff);
}

// Difference of two tiles: averages the differences of four rows, then adds the averages.
KERNEL(tile_difference, const u32 *a, const u32 *b, u32 *sum) {
  u32 i = ITEM, d[4];
  for (int k = 0; k < 4; k++) d[k] = diffu(a[4 * i + k], b[4 * i + k], 0);
  u32 mean = avgu(avgu(d[0], d[1], 0), avgu(d[2], d[3], 0), 0);
  sum[i] = sadu(mean, 0, 0);
}

// Applies the signs of one array of bytes to another array, by a mask.
KERNEL(apply_signs, const u8x4 *grid, const u8x4 *signs, u8x4 *out) {
  u32 i = ITEM;
  u8x4 mask = (u8x4)(signs[i] != 0);
  out[i] = (grid[i] ^ mask) - mask;
}

// Unpacks nibbles to signed bytes, centred around zero.
KERNEL(centre_nibbles, const u32 *packed, u32 *out) {
  u32 i = ITEM, w = packed[i];
  out[2 * i] = subs(w & 0x0f0f0f0f, 0x08080808, 0);
  out[2 * i + 1] = subs(w >> 4 & 0x0f0f0f0f, 0x08080808, 0);
}

// Keeps the pixels above a threshold, and makes all others black.
KERNEL(threshold, const u8x4 *x, u8x4 *y, unsigned char level, int n) {
  int i = ITEM;
  if (i >= n) return;
  u8x4 v = x[i];
  y[i] = v > (u8x4)level ? v : (u8x4)0;
}

// The median of three vertically adjacent pixels.
KERNEL(median3, const u32 *x, u32 *y, int w) {
  u32 i = ITEM, a = x[i], b = x[i + w], c = x[i + 2 * w];
  y[i] = maxu(minu(a, b, 0), minu(maxu(a, b, 0), c, 0), 0);
}

// GELU, with a clamped polynomial in place of tanh.
KERNEL(gelu, const h2 *x, h2 *y) {
  u32 i = ITEM;
  h2 v = x[i];
  h2 t = v * (h2)(_Float16)0.7978 * ((h2)(_Float16)1 + (h2)(_Float16)0.0447 * v * v);
  h2 u = t * ((h2)(_Float16)1 - (h2)(_Float16)0.1111 * t * t);
  y[i] = (h2)(_Float16)0.5 * v * ((h2)(_Float16)1 + u);
}

// Unpacks eight nibbles to halves: places each in the mantissa of 1024, then subtracts 1024.
KERNEL(awq, const u32 *packed, h2 *out) {
  u32 i = ITEM, w = packed[i];
  for (int k = 0; k < 4; k++) out[4 * i + k] = AS(h2, (w >> (4 * k) & 0x000f000f) | 0x64006400) - (h2)(_Float16)1032;
}

// One row of a matrix-vector product, first in halves, then in single precision.
KERNEL(gemv, const h2 *matrix, const h2 *vector, float *out, float scale, int columns) {
  u32 i = ITEM;
  h2 sum = 0;
  for (int k = 0; k < columns; k++) sum = sum + matrix[i * columns + k] * vector[k];
  out[i] = ((float)sum[0] + (float)sum[1]) * scale;
}

// A grid-stride loop with two bounded steps. Each step is an inline assembly block with its own
// predicate.
KERNEL(bounded, const u32 *x, u32 *y, long n, u32 bound) {
  for (long i = ITEM; i < n; i += 4) y[ITEM] += clamp_step(clamp_step(x[i], bound), bound * 2);
}

#ifdef HOST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define P(type, n) ((type)args[n])
#define S(type, n) (*(type *)args[n])
#define CASE(kernel, ...) if (!strcmp(name, #kernel)) for (u32 item = 0; item < items; item++) kernel(item, __VA_ARGS__)

// Arguments: NAME ITEMS. Standard input has the length (four bytes) and the bytes of each kernel
// argument; the output has the bytes after the launch.
int main(int argc, char **argv) {
  static void *args[8];
  static u32 sizes[8];
  u32 count = 0, items = argc > 2 ? (u32)atoi(argv[2]) : 0;
  const char *name = argc > 1 ? argv[1] : "";
  while (count < 8 && fread(&sizes[count], 4, 1, stdin) == 1) {
    args[count] = calloc(sizes[count] + 16, 1);
    if (fread(args[count], 1, sizes[count], stdin) != sizes[count]) return 1;
    count++;
  }
  CASE(smith_waterman, P(u32 *, 0), P(u32 *, 1), P(u32 *, 2), P(u32 *, 3), P(u32 *, 4), P(u32 *, 5), S(u32, 6));
  CASE(ssv, P(u32 *, 0), P(u32 *, 1), S(int, 2));
  CASE(ldpc_bit, P(u32 *, 0), P(u32 *, 1));
  CASE(stereo, P(u32 *, 0), P(u32 *, 1), P(u32 *, 2), S(int, 3));
  CASE(tile_difference, P(u32 *, 0), P(u32 *, 1), P(u32 *, 2));
  CASE(apply_signs, P(u8x4 *, 0), P(u8x4 *, 1), P(u8x4 *, 2));
  CASE(centre_nibbles, P(u32 *, 0), P(u32 *, 1));
  CASE(threshold, P(u8x4 *, 0), P(u8x4 *, 1), S(unsigned char, 2), S(int, 3));
  CASE(median3, P(u32 *, 0), P(u32 *, 1), S(int, 2));
  CASE(gelu, P(h2 *, 0), P(h2 *, 1));
  CASE(awq, P(u32 *, 0), P(h2 *, 1));
  CASE(gemv, P(h2 *, 0), P(h2 *, 1), P(float *, 2), S(float, 3), S(int, 4));
  CASE(bounded, P(u32 *, 0), P(u32 *, 1), S(long, 2), S(u32, 3));
  for (u32 i = 0; i < count; i++) fwrite(args[i], 1, sizes[i], stdout);
  return 0;
}
#endif
