// The time of day as text, hh:mm:ss, of seconds since an epoch. Each thread writes eight characters.
extern "C" __global__ void time_text(const unsigned *__restrict__ seconds, uchar4 *__restrict__ text) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned t = seconds[i];
  unsigned h = t / 3600 % 24, m = t / 60 % 60, s = t % 60;
  text[2 * i] = make_uchar4('0' + h / 10, '0' + h % 10, ':', '0' + m / 10);
  text[2 * i + 1] = make_uchar4('0' + m % 10, ':', '0' + s / 10, '0' + s % 10);
}
