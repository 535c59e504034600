// Tests errors of kernels. Usage: `errors MODE`, where MODE is one of
//   sticky    each error is the result of the next call that waits, and stays until the context is destroyed
//   strict    with HALFBYTE_STRICT=1, a load past the end of an allocation is an error
//   blocking  with CUDA_LAUNCH_BLOCKING=1, a launch gives the error of its kernel
//   going     with HALFBYTE_KEEP_GOING=1, errors are only reported
//   budget    with HALFBYTE_BUDGET=1000, an endless loop ends
// The caller of this program checks the reports on standard error.
#include "checks.h"

// Kernels that store. Errors of equal kernels in equal lines would be reported together.
#define STORE(name) \
    ".visible .entry " name "(.param .u64 x)\n{\n.reg .b64 %d;\nld.param.u64 %d, [x];\nst.global.u32 [%d], 1;\nret;\n}\n"

static const char *KERNELS =
    HEAD
    ".extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s) .noreturn;\n"
    ".global .align 1 .b8 what[6] = {105, 32, 60, 32, 52, 0};\n"
    ".global .align 1 .b8 file[5] = {107, 46, 99, 117, 0};\n.global .align 1 .b8 name[2] = {107, 0};\n"
    ".global .u32 sink;\n"
    STORE("store") STORE("store_freed") STORE("store_odd")
    ".visible .entry load(.param .u64 x)\n{\n.reg .b32 %r; .reg .b64 %d;\nld.param.u64 %d, [x];\nld.global.u32 %r, [%d];\n"
    "st.global.u32 [sink], %r;\nret;\n}\n"
    ".visible .entry load_vector(.param .u64 x)\n{\n.reg .b32 %r<4>; .reg .b64 %d;\nld.param.u64 %d, [x];\n"
    "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d];\nst.global.u32 [sink], %r0; st.global.u32 [sink], %r3;\nret;\n}\n"
    ".visible .entry add(.param .u64 x)\n{\n.reg .b32 %r; .reg .b64 %d;\nld.param.u64 %d, [x];\natom.global.add.u32 %r, [%d], 1;\nret;\n}\n"
    ".visible .entry shared(.param .u64 x)\n{\n.shared .align 4 .b8 s[128]; .reg .b32 %r<2>;\nmov.u32 %r0, s;\n"
    "st.shared.u32 [%r0+4096], %r0;\nret;\n}\n"
    ".visible .entry trapping(.param .u64 x)\n{\ntrap;\n}\n"
    ".visible .entry asserting(.param .u64 x)\n{\n.reg .b64 %d;\n{\n"
    ".param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
    "mov.u64 %d, what; cvta.global.u64 %d, %d; st.param.b64 [a], %d; mov.u64 %d, file; cvta.global.u64 %d, %d; st.param.b64 [b], %d;\n"
    "st.param.b32 [c], 12; mov.u64 %d, name; cvta.global.u64 %d, %d; st.param.b64 [d], %d; mov.u64 %d, 1; st.param.b64 [e], %d;\n"
    "call.uni __assertfail, (a, b, c, d, e);\n}\nret;\n}\n"
    // Stores to x, and then to a null pointer.
    ".visible .entry store_twice(.param .u64 x)\n{\n.reg .b64 %d<2>;\nld.param.u64 %d0, [x];\nst.global.u32 [%d0], 77;\n"
    "mov.u64 %d1, 0;\nst.global.u32 [%d1], 1;\nret;\n}\n"
    ".visible .entry endless(.param .u64 x)\n{\nagain:\nbra again;\n}\n"
    ".visible .entry fine(.param .u64 x)\n{\nret;\n}\n";

static CUresult launch_on(CUmodule module, const char *kernel, CUdeviceptr x) {
    void *params[] = {&x};
    return launch(function(module, kernel), 1, 1, 0, params);
}

// Launches a kernel on an address in a new context, and checks the result of the next call that waits.
static void fails_at(int line, CUresult code, const char *kernel, CUdeviceptr x) {
    CUcontext context = NULL;
    const int before = failures;
    OK(cuCtxCreate_v2(&context, 0, 0));
    const CUmodule module = load(KERNELS);
    OK(launch_on(module, kernel, x));
    GIVES(code, cuCtxSynchronize());
    GIVES(code, cuCtxSynchronize());
    OK(cuCtxDestroy_v2(context));
    if (failures != before) printf("line %d: kernel %s\n", line, kernel);
}

#define FAILS(code, kernel, x) fails_at(__LINE__, code, kernel, x)

static void kinds_of_errors(void) {
    CUcontext owner = NULL;
    unsigned local[2] = {0, 0};
    OK(cuCtxCreate_v2(&owner, 0, 0));
    const CUdeviceptr x = allocate(64), freed = allocate(64), vector = allocate(44);
    OK(cuMemFree_v2(freed));
    FAILS(CUDA_SUCCESS, "store", x + 60);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "store", x + 64);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "store", x + 256);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "store", x - 4);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "store", 0);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "store_freed", freed + 60);
    // Memory of the host is out of bounds until it is registered.
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "store", (CUdeviceptr)(uintptr_t)&local[0]);
    OK(cuMemHostRegister_v2(local, sizeof local, 0));
    FAILS(CUDA_SUCCESS, "store", (CUdeviceptr)(uintptr_t)&local[0]);
    CHECK(local[0] == 1);
    OK(cuMemHostUnregister(local));
    // A load may read up to the next multiple of 256 bytes.
    FAILS(CUDA_SUCCESS, "load", x + 64);
    FAILS(CUDA_SUCCESS, "load", x + 252);
    FAILS(CUDA_SUCCESS, "load_vector", vector + 32);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "load", x + 256);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "load", freed);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "add", x + 64);
    FAILS(CUDA_SUCCESS, "add", x);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "shared", x);
    FAILS(CUDA_ERROR_MISALIGNED_ADDRESS, "store_odd", x + 2);
    FAILS(CUDA_ERROR_LAUNCH_FAILED, "trapping", x);
    FAILS(CUDA_ERROR_ASSERT, "asserting", x);
    FAILS(CUDA_SUCCESS, "fine", x);
    OK(cuCtxSynchronize());
    OK(cuMemFree_v2(x));
    OK(cuCtxDestroy_v2(owner));
}

static void all_later_calls_fail(void) {
    CUcontext broken = NULL, other = NULL;
    CUdeviceptr address = 0;
    unsigned word = 0;
    CUstream stream = NULL;
    CUevent event = NULL;
    CUmodule module = NULL;
    OK(cuCtxCreate_v2(&broken, 0, 0));
    module = load(KERNELS);
    CUdeviceptr x = allocate(4);
    void *params[] = {&x};
    const CUfunction fine = function(module, "fine");
    OK(cuStreamCreate(&stream, 0));
    OK(launch_on(module, "store_twice", x));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamQuery(NULL));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemcpyDtoH_v2(&word, x, 4));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc_v2(&address, 4));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemFree_v2(x));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuEventCreate(&event, 0));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, launch(fine, 1, 1, 0, params));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuModuleLoadData(&module, KERNELS));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    // Another context works, and sees what the kernel stored before its error.
    OK(cuCtxCreate_v2(&other, 0, 0));
    module = load(KERNELS);
    OK(launch_on(module, "fine", 0));
    OK(cuMemcpyDtoH_v2(&word, x, 4));
    CHECK(word == 77);
    OK(cuCtxSynchronize());
    // The first error stays.
    OK(cuCtxPushCurrent_v2(broken));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    OK(cuCtxDestroy_v2(broken));
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(other));
    // A reset clears the error of a primary context.
    OK(cuDevicePrimaryCtxRetain(&broken, 0));
    OK(cuCtxSetCurrent(broken));
    OK(launch_on(load(KERNELS), "trapping", 0));
    GIVES(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    OK(cuDevicePrimaryCtxReset_v2(0));
    OK(cuDevicePrimaryCtxRetain(&broken, 0));
    OK(cuCtxSynchronize());
    OK(launch_on(load(KERNELS), "fine", 0));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(NULL));
}

static void loads_are_exact(void) {
    CUcontext owner = NULL;
    OK(cuCtxCreate_v2(&owner, 0, 0));
    const CUdeviceptr x = allocate(64), vector = allocate(44);
    FAILS(CUDA_SUCCESS, "load", x + 60);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "load", x + 64);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "load_vector", vector + 32);
    FAILS(CUDA_SUCCESS, "load_vector", vector + 16);
    OK(cuCtxDestroy_v2(owner));
}

static void launches_give_their_errors(void) {
    const CUcontext context = start();
    const CUmodule module = load(KERNELS);
    CUdeviceptr address = 0;
    OK(launch_on(module, "fine", 0));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, launch_on(module, "store", 0));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc_v2(&address, 4));
    OK(cuCtxDestroy_v2(context));
}

static void errors_are_only_reported(void) {
    const CUcontext context = start();
    const CUmodule module = load(KERNELS);
    const CUdeviceptr x = allocate(4);
    unsigned word = 0;
    for (int i = 0; i < 3; i++) {
        OK(launch_on(module, "store_twice", x));
        OK(cuCtxSynchronize());
        OK(launch_on(module, "trapping", x));
    }
    OK(cuMemcpyDtoH_v2(&word, x, 4));
    CHECK(word == 77);
    OK(cuMemFree_v2(x));
    // An invalid argument is an error nevertheless.
    GIVES(CUDA_ERROR_INVALID_VALUE, launch(function(module, "fine"), 0, 1, 0, NULL));
    OK(cuCtxDestroy_v2(context));
}

int main(int argc, char **argv) {
    const char *mode = argc == 2 ? argv[1] : "";
    OK(cuInit(0));
    if (strcmp(mode, "sticky") == 0) {
        kinds_of_errors();
        all_later_calls_fail();
    } else if (strcmp(mode, "strict") == 0) {
        loads_are_exact();
    } else if (strcmp(mode, "blocking") == 0) {
        launches_give_their_errors();
    } else if (strcmp(mode, "going") == 0) {
        errors_are_only_reported();
    } else if (strcmp(mode, "budget") == 0) {
        FAILS(CUDA_ERROR_LAUNCH_FAILED, "endless", 0);
    } else {
        return 2;
    }
    return finish();
}
