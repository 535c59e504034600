// Tests memory that kernels allocate with malloc. The caller of this program checks the reports on standard error.
#include "checks.h"

// Allocates a block of 16 bytes, stores 42 in it, and stores its address in x.
static const char *MAKER =
    HEAD
    ".extern .func (.param .b64 r) malloc (.param .b64 size);\n"
    ".visible .entry make(.param .u64 x)\n{\n.reg .pred %p; .reg .b64 %d<2>;\n"
    "{\n.param .b64 size; .param .b64 block; st.param.b64 [size], 16;\n"
    "call.uni (block), malloc, (size);\nld.param.b64 %d1, [block];\n}\n"
    "ld.param.u64 %d0, [x]; st.global.u64 [%d0], %d1;\nsetp.eq.u64 %p, %d1, 0;\n@%p ret;\nst.global.u64 [%d1], 42;\nret;\n}\n";

// Kernels that free the block whose address is in x. Errors of equal kernels would be reported together.
#define DROP(name) \
    ".visible .entry " name "(.param .u64 x)\n{\n.reg .b64 %d<2>;\nld.param.u64 %d0, [x]; ld.global.u64 %d1, [%d0];\n" \
    "{\n.param .b64 block; st.param.b64 [block], %d1;\ncall.uni free, (block);\n}\nret;\n}\n"

// Kernels that add 1 to the block whose address is in x, and store the sum behind the address.
#define ADD(name, offset) \
    ".visible .entry " name "(.param .u64 x)\n{\n.reg .b64 %d<3>;\nld.param.u64 %d0, [x]; ld.global.u64 %d1, [%d0];\n" \
    "ld.global.u64 %d2, [%d1+" offset "];\nadd.u64 %d2, %d2, 1;\nst.global.u64 [%d1+" offset "], %d2;\n" \
    "st.global.u64 [%d0+8], %d2;\nret;\n}\n"

static const char *USER =
    HEAD
    ".extern .func free (.param .b64 p);\n"
    DROP("drop") DROP("drop_again") DROP("drop_foreign") ADD("add", "0") ADD("add_beyond", "16") ADD("add_freed", "0")
    ADD("add_destroyed", "0");

static CUresult launch_on(CUmodule module, const char *kernel, CUdeviceptr x) {
    void *params[] = {&x};
    return launch(function(module, kernel), 1, 1, 0, params);
}

static uint64_t number_at(CUdeviceptr address) {
    uint64_t number = 0;
    OK(cuMemcpyDtoH_v2(&number, address, sizeof number));
    return number;
}

// Makes a block in a new context, and launches kernels on it. The last kernel fails.
static void fails_at(int line, CUresult code, const char *first, const char *last) {
    CUcontext context = NULL;
    const int before = failures;
    OK(cuCtxCreate_v2(&context, 0, 0));
    const CUdeviceptr x = allocate(16);
    const CUmodule user = load(USER);
    OK(launch_on(load(MAKER), "make", x));
    if (first) OK(launch_on(user, first, x));
    OK(cuCtxSynchronize());
    OK(launch_on(user, last, x));
    GIVES(code, cuCtxSynchronize());
    OK(cuCtxDestroy_v2(context));
    if (failures != before) printf("line %d: kernel %s\n", line, last);
}

#define FAILS(code, first, last) fails_at(__LINE__, code, first, last)

static void blocks_belong_to_a_context(void) {
    CUcontext other = NULL;
    size_t limit = 0;
    uint64_t number = 0;
    const CUcontext context = start();
    OK(cuCtxSetLimit(LIMIT_MALLOC_HEAP_SIZE, 64));
    const CUmodule maker = load(MAKER), user = load(USER);
    const CUdeviceptr x = allocate(5 * 16);
    for (unsigned i = 0; i < 5; i++) OK(launch_on(maker, "make", x + 16 * i));
    for (unsigned i = 0; i < 4; i++) CHECK(number_at(x + 16 * i) != 0);
    CHECK(number_at(x + 16 * 4) == 0);
    // The limit cannot change after the first use of the heap.
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(LIMIT_MALLOC_HEAP_SIZE, 128));
    OK(cuCtxGetLimit(&limit, LIMIT_MALLOC_HEAP_SIZE));
    CHECK(limit == 64);
    // A kernel of another module uses a block. The kernel runs as native code.
    OK(launch_on(user, "add", x));
    OK(launch_on(user, "add", x));
    CHECK(number_at(x + 8) == 44);
    // The host can neither copy nor free a block.
    const CUdeviceptr block = number_at(x);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(&number, block, 8));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(block));
    OK(cuModuleUnload(maker));
    OK(launch_on(user, "add", x));
    CHECK(number_at(x + 8) == 45);
    OK(launch_on(user, "drop", x));
    OK(launch_on(load(MAKER), "make", x + 16 * 4));
    CHECK(number_at(x + 16 * 4) != 0);
    OK(cuCtxSynchronize());
    // Another context has another heap.
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(launch_on(load(USER), "drop_foreign", x + 16));
    GIVES(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    OK(cuCtxDestroy_v2(other));
    // A block lives as long as its context.
    const uint64_t address = number_at(x + 16);
    OK(cuCtxDestroy_v2(context));
    OK(cuCtxCreate_v2(&other, 0, 0));
    const CUdeviceptr y = allocate(16);
    OK(cuMemcpyHtoD_v2(y, &address, 8));
    OK(launch_on(load(USER), "add_destroyed", y));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    OK(cuCtxDestroy_v2(other));
}

int main(void) {
    blocks_belong_to_a_context();
    FAILS(CUDA_ERROR_LAUNCH_FAILED, "drop", "drop_again");
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "drop", "add_freed");
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, "add", "add_beyond");
    return finish();
}
