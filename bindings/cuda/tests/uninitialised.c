// Tests the detection of loads of uninitialised device memory. Such a load is reported, but the launch continues. The
// caller sets HALFBYTE_RACES, or leaves it unset, and checks the reports on standard error.
#include "checks.h"

// A kernel that copies the word x to y. Each case has a kernel of its own, by which its report is found.
#define LOAD(name)                                                                                                       \
    ".visible .entry " name "(.param .u64 x, .param .u64 y)\n{\n.reg .b32 %r; .reg .b64 %d<2>;\n"                          \
    "ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y];\n.loc 1 21 5\nld.global.u32 %r, [%d0];\nst.global.u32 [%d1], %r;\nret;\n}\n"

static const char *KERNELS =
    HEAD
    ".file 1 \"load.cu\"\n"
    LOAD("of_fresh") LOAD("of_short_fill") LOAD("of_gap") LOAD("of_copied_fresh") LOAD("of_copied_end")
    LOAD("of_copied_rows") LOAD("of_fresh_again") LOAD("of_pool")
    LOAD("of_fill") LOAD("of_row") LOAD("of_host_copy") LOAD("of_copy") LOAD("of_store") LOAD("of_stream_write")
    LOAD("of_managed") LOAD("of_host")
    ".visible .entry of_atomic(.param .u64 x, .param .u64 y)\n{\n.reg .b32 %r; .reg .b64 %d;\nld.param.u64 %d, [x];\n"
    ".loc 1 31 5\natom.global.add.u32 %r, [%d], 1;\nret;\n}\n";

static CUmodule kernels;
static CUdeviceptr to;

// Launches a kernel on an address. The launch succeeds, whatever the kernel loads.
static void load_from(const char *kernel, CUdeviceptr x) {
    void *params[] = {&x, &to};
    OK(launch(function(kernels, kernel), 1, 1, 0, params));
    OK(cuCtxSynchronize());
}

static void uninitialised_memory_is_reported(void) {
    load_from("of_fresh", allocate(64));
    load_from("of_fresh", allocate(64));
    load_from("of_atomic", allocate(64));
    const CUdeviceptr filled = allocate(64);
    OK(cuMemsetD8_v2(filled, 1, 3));
    load_from("of_short_fill", filled);
    const CUdeviceptr rows = allocate(64);
    OK(cuMemsetD2D32_v2(rows, 16, 7, 1, 3));
    load_from("of_gap", rows + 20);
    const CUdeviceptr copied = allocate(64);
    OK(cuMemsetD8_v2(copied, 1, 64));
    OK(cuMemcpyDtoD_v2(copied, allocate(64), 8));
    load_from("of_copied_fresh", copied + 4);
    // The unwritten bytes of the source lie behind its first three bytes.
    OK(cuMemcpyDtoD_v2(copied + 32, filled, 4));
    load_from("of_copied_end", copied + 32);
    CUDA_MEMCPY2D layout = {
        .from_type = MEMORY_DEVICE, .from_device = rows, .from_pitch = 16,
        .to_type = MEMORY_DEVICE, .to_device = copied, .to_pitch = 8, .width = 8, .height = 3,
    };
    OK(cuMemcpy2D_v2(&layout));
    load_from("of_copied_rows", copied + 12);
    OK(cuMemFree_v2(filled));
    load_from("of_fresh_again", allocate(64));
    CUdeviceptr pooled = 0;
    OK(cuMemAllocAsync(&pooled, 64, NULL));
    load_from("of_pool", pooled);
    OK(cuMemFreeAsync(pooled, NULL));
}

static void written_memory_is_not_reported(void) {
    const unsigned words[2] = {1, 2};
    const CUdeviceptr x = allocate(64), y = allocate(64), z = allocate(64);
    OK(cuMemsetD16_v2(x, 5, 2));
    load_from("of_fill", x);
    OK(cuMemsetD2D32_v2(y, 16, 7, 1, 3));
    load_from("of_row", y + 32);
    OK(cuMemcpyHtoD_v2(x + 8, words, sizeof words));
    load_from("of_host_copy", x + 12);
    OK(cuMemcpyDtoD_v2(z, x, 4));
    load_from("of_copy", z);
    // The word at `to` was stored by the kernels.
    load_from("of_store", to);
    OK(cuStreamWriteValue32_v2(NULL, z + 32, 9, 0));
    load_from("of_stream_write", z + 32);
    // The host may write memory of these kinds.
    CUdeviceptr managed = 0;
    void *host = NULL;
    OK(cuMemAllocManaged(&managed, 64, 1));
    load_from("of_managed", managed);
    OK(cuMemAllocHost_v2(&host, 64));
    load_from("of_host", (CUdeviceptr)(uintptr_t)host);
    OK(cuMemFreeHost(host));
}

int main(void) {
    const CUcontext context = start();
    kernels = load(KERNELS);
    to = allocate(4);
    uninitialised_memory_is_reported();
    written_memory_is_not_reported();
    OK(cuCtxDestroy_v2(context));
    return finish();
}
