// Kernels with tables, which clang writes as variables of the module.
// tables.ptx is the output of this command:
//   clang-19 --target=nvptx64-nvidia-cuda -march=sm_90 -O2 -ffp-contract=off -S tables.c
#define ITEM (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define KERNEL __attribute__((nvptx_kernel)) void
#define CONSTANT __attribute__((address_space(4)))
typedef unsigned u32; typedef unsigned char u8;

// A table in constant memory.
static const CONSTANT float taps[8] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f, -0.5f, 1e-3f, 3e38f};
KERNEL filter(const float *x, float *y, int n) {
  int i = ITEM;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < 3; k++) sum += taps[(i + k) & 7] * x[i + k];
  y[i] = sum;
}
// A static table in global memory, which two kernels read.
static const u8 gamma8[256] = {
#define G(x) ((x)*(x)+127)/255
#define G4(x) G(x),G(x+1),G(x+2),G(x+3)
#define G16(x) G4(x),G4(x+4),G4(x+8),G4(x+12)
#define G64(x) G16(x),G16(x+16),G16(x+32),G16(x+48)
G64(0),G64(64),G64(128),G64(192)};
KERNEL gamma(const u32 *x, u32 *y) {
  int i = ITEM;
  u32 v = x[i];
  y[i] = gamma8[v & 255] | gamma8[v >> 8 & 255] << 8 | gamma8[v >> 16 & 255] << 16 | gamma8[v >> 24] << 24;
}
KERNEL gamma_row(const u8 *x, u8 *y, int w) {
  int i = ITEM;
  for (int k = 0; k < w; k++) y[i * w + k] = gamma8[x[i * w + k]];
}
// One table in constant memory and one in global memory.
static const CONSTANT int steps[8] = {7, -3, 12, 0, 100000, -1, 5, 2};
static const int lut[8] = {1, 2, 4, 8, 16, 32, 64, -128};
KERNEL both(const int *x, int *y) {
  int i = ITEM;
  y[i] = steps[x[i] & 7] + lut[x[i] >> 3 & 7] + steps[3] + lut[7];
}
// Selects one of two tables by a generic address.
static int look(const int *p, int i) { return p[i] - p[7]; }
KERNEL choose(const int *x, int *y) {
  int i = ITEM;
  const int *p = x[i] < 0 ? (const int *)steps : lut;
  y[i] = look(p, x[i] & 7);
}
// A table of structures.
struct rgb { u8 r, g, b, a; short weight; };
static const CONSTANT struct rgb palette[4] = {{1,2,3,4,-5},{10,20,30,40,50},{255,128,0,1,300},{9,9,9,9,9}};
KERNEL paint(const u32 *x, u32 *y) {
  int i = ITEM;
  struct rgb c = palette[x[i] & 3];
  y[i] = (c.r + c.g + c.b + c.a) * c.weight;
}
