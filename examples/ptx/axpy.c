// y = a x + y on packed halves. axpy.ptx is the output of clang for this file, without CUDA:
//   clang-19 --target=nvptx64-nvidia-cuda -march=sm_90 -O2 -S axpy.c -o axpy.ptx
typedef _Float16 half2 __attribute__((ext_vector_type(2)));

__attribute__((nvptx_kernel)) void axpy(half2 a, const half2 *x, half2 *y, int n) {
  int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
  if (i < n) y[i] = a * x[i] + y[i];
}
