// Strength of edges in a grey picture by Sobel's operator. Each thread computes a pixel. Rows are `w` pixels apart.
extern "C" __global__ void sobel(const unsigned char *__restrict__ grey, int w, unsigned char *__restrict__ edges) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int a = grey[i], b = grey[i + 1], c = grey[i + 2];
  int d = grey[i + w], f = grey[i + w + 2];
  int g = grey[i + 2 * w], h = grey[i + 2 * w + 1], k = grey[i + 2 * w + 2];
  int x = c + 2 * f + k - a - 2 * d - g;
  int y = g + 2 * h + k - a - 2 * b - c;
  edges[i] = min(abs(x) + abs(y), 255);
}
