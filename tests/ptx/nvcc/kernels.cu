// Kernels as CUDA has them, with its halves and its functions on bytes and halfwords of a word. kernels.ptx is what
//   nvcc -ptx -arch=sm_90 -fmad=false -lineinfo kernels.cu
// of CUDA 13 makes of them.
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#define ITEM (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void axpy(__half2 a, const __half2 *__restrict__ x, __half2 *y, int n) {
  int i = ITEM;
  if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}

extern "C" __global__ void relu_clamp(const __half2 *x, __half2 *y) {
  int i = ITEM;
  __half2 v = __hmax2(x[i], __float2half2_rn(0.0f));
  y[i] = __hmin2(__hmul2_sat(v, __float2half2_rn(0.25f)), __half2half2(__float2half(0.75f)));
}

extern "C" __global__ void bf16_scale(const __nv_bfloat162 *x, __nv_bfloat162 *y, float s) {
  int i = ITEM;
  y[i] = __hfma2_relu(x[i], __float2bfloat162_rn(s), __float2bfloat162_rn(1.0f));
}

extern "C" __global__ void greater(const __half2 *a, const __half2 *b, __half2 *y, unsigned *count) {
  int i = ITEM;
  y[i] = __hgt2(a[i], b[i]);
  count[i] = __hbeq2(a[i], b[i]) + (__hlt(__low2half(a[i]), __high2half(b[i])) ? 2 : 0);
}

extern "C" __global__ void dot(const __half2 *a, const __half2 *b, float *out, int n) {
  int i = ITEM;
  float sum = 0;
  for (int k = 0; k < n; k++) {
    float2 p = __half22float2(a[i * n + k]), q = __half22float2(b[k]);
    sum += p.x * q.x + p.y * q.y;
  }
  out[i] = sum;
}

extern "C" __global__ void simd(const unsigned *a, const unsigned *b, unsigned *out) {
  int i = ITEM;
  unsigned x = a[i], y = b[i];
  out[4 * i] = __vaddus4(x, y) ^ __vsubss2(x, y);
  out[4 * i + 1] = __vabsdiffu4(x, y) + __vavgu4(x, y);
  out[4 * i + 2] = __vmaxs2(x, y) ^ __vcmpgtu4(x, y);
  out[4 * i + 3] = __vsadu4(x, y) + __vminu4(x, y);
}

struct Options {
  const float4 *rows;
  float scale;
  int width;
  bool invert;
};

extern "C" __global__ void __launch_bounds__(128) rows(Options o, float4 *out) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  float4 v = o.rows[i];
  float s = o.invert ? o.scale * -1.0f : o.scale;
  out[i] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s + (float)o.width);
}

template <typename T, int N> __global__ void transform(const T *x, T *y, T by) {
#pragma unroll 1
  for (int k = 0; k < N; k++) y[N * ITEM + k] = (T)(x[N * ITEM + k] * by + k);
}
template __global__ void transform<short, 3>(const short *, short *, short);
template __global__ void transform<unsigned char, 4>(const unsigned char *, unsigned char *, unsigned char);
template __global__ void transform<long long, 2>(const long long *, long long *, long long);
