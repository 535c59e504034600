// Three tracks of samples of 16 bits: the saturated sum of two, without the third one. Each thread computes four samples.
extern "C" __global__ void mix_audio(const uint2 *__restrict__ a, const uint2 *__restrict__ b, const uint2 *__restrict__ hum, uint2 *__restrict__ mixed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint2 p = a[i], q = b[i], r = hum[i];
  mixed[i] = make_uint2(__vsubss2(__vaddss2(p.x, q.x), r.x), __vsubss2(__vaddss2(p.y, q.y), r.y));
}
