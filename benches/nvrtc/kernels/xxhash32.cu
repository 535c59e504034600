// The hash xxHash32 of keys of 16 bytes. Each thread computes a key.
const unsigned P1 = 2654435761, P2 = 2246822519, P3 = 3266489917;

__device__ unsigned rotated(unsigned x, int n) { return x << n | x >> (32 - n); }

__device__ unsigned lane(unsigned start, unsigned word) { return rotated(start + word * P2, 13) * P1; }

extern "C" __global__ void xxhash32(const unsigned *__restrict__ keys, unsigned seed, unsigned *__restrict__ hashes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = lane(seed + P1 + P2, keys[4 * i]);
  unsigned b = lane(seed + P2, keys[4 * i + 1]);
  unsigned c = lane(seed, keys[4 * i + 2]);
  unsigned d = lane(seed - P1, keys[4 * i + 3]);
  unsigned h = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18) + 16;
  h = (h ^ h >> 15) * P2;
  h = (h ^ h >> 13) * P3;
  hashes[i] = h ^ h >> 16;
}
