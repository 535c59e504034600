// Tests the detection of races and of reads of uninitialised memory. Usage: `races MODE`, where MODE is `off`, or is the
// value of HALFBYTE_RACES: `on` or `strict`. The caller of this program checks the reports on standard error.
#include "checks.h"

// Computes the address of the thread's word of x in %d2.
#define BEGIN(name)                                                                                                      \
    ".visible .entry " name "(.param .u64 x)\n{\n.reg .b32 %r<4>; .reg .b64 %d<3>;\n.shared .align 4 .b8 held[256];\n"    \
    "ld.param.u64 %d0, [x]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;\n"

static const char *KERNELS =
    HEAD
    ".file 1 \"sum.cu\"\n"
    // Each thread copies the word of the next thread.
    BEGIN("shift") ".loc 1 11 5\nld.global.u32 %r1, [%d2+4];\n.loc 1 12 5\nst.global.u32 [%d2], %r1;\nret;\n}\n"
    BEGIN("shift_with_barrier") "ld.global.u32 %r1, [%d2+4];\nbar.sync 0;\nst.global.u32 [%d2], %r1;\nret;\n}\n"
    BEGIN("store_equal") ".loc 1 31 5\nst.global.u32 [%d0], 7;\nret;\n}\n"
    BEGIN("count") "atom.global.add.u32 %r1, [%d0], 1;\nret;\n}\n"
    BEGIN("uninitialised") "mov.u32 %r1, held;\n.loc 1 51 5\nld.shared.u32 %r2, [%r1];\nst.global.u32 [%d2], %r2;\nret;\n}\n";

enum { THREADS = 64 };

// Launches a kernel in a new context. Returns the result of the next call that waits.
static CUresult result_of(const char *kernel) {
    CUcontext context = NULL;
    OK(cuCtxCreate_v2(&context, 0, 0));
    CUdeviceptr x = allocate(4 * (THREADS + 1));
    void *params[] = {&x};
    OK(cuMemsetD32_v2(x, 5, THREADS + 1));
    OK(launch(function(load(KERNELS), kernel), 1, THREADS, 0, params));
    const CUresult result = cuCtxSynchronize();
    OK(cuCtxDestroy_v2(context));
    return result;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const int is_strict = strcmp(argv[1], "strict") == 0, is_on = is_strict || strcmp(argv[1], "on") == 0;
    const CUresult error = is_on ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
    OK(cuInit(0));
    GIVES(error, result_of("shift"));
    GIVES(error, result_of("uninitialised"));
    GIVES(is_strict ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS, result_of("store_equal"));
    OK(result_of("shift_with_barrier"));
    OK(result_of("count"));
    return finish();
}
