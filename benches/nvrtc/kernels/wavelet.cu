// A vertical step of the 5/3 wavelet of JPEG 2000 on samples of up to 14 bits: the low and the high row for five rows. Each thread
// computes two columns.
__device__ short high(int above, int at, int below) { return at - ((above + below) >> 1); }

__device__ short low(int above, int at, int below) { return at + ((above + below + 2) >> 2); }

extern "C" __global__ void wavelet(const short2 *__restrict__ rows, int w, short2 *__restrict__ lows, short2 *__restrict__ highs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  short2 a = rows[i], b = rows[i + w], c = rows[i + 2 * w], d = rows[i + 3 * w], e = rows[i + 4 * w];
  short2 g = make_short2(high(a.x, b.x, c.x), high(a.y, b.y, c.y));
  short2 h = make_short2(high(c.x, d.x, e.x), high(c.y, d.y, e.y));
  lows[i] = make_short2(low(g.x, c.x, h.x), low(g.y, c.y, h.y));
  highs[i] = h;
}
