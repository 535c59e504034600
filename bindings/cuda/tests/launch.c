// Tests launches: parameters, shapes, shared memory, variables of modules, output of kernels, and cooperative launches.
#include "checks.h"

// Kernels that write to memory, with parameters of several kinds.
static const char *KERNELS =
    HEAD
    ".extern .shared .align 16 .b8 dynamic[];\n"
    // Adds two arrays of floats.
    ".visible .entry add(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n)\n{\n"
    ".reg .pred %p; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; ld.param.u64 %d2, [z]; ld.param.u32 %r4, [n];\n"
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r0, %r1, %r2;\n"
    "setp.ge.u32 %p, %r3, %r4;\n@%p ret;\nmul.wide.u32 %d3, %r3, 4;\n"
    "add.u64 %d4, %d0, %d3; add.u64 %d5, %d1, %d3; add.u64 %d6, %d2, %d3;\n"
    "ld.global.f32 %f0, [%d4]; ld.global.f32 %f1, [%d5];\nadd.rn.f32 %f2, %f0, %f1;\nst.global.f32 [%d6], %f2;\nret;\n}\n"
    // Stores the members of a structure one after another.
    ".visible .entry unpack(.param .align 8 .b8 s[32], .param .u64 to)\n{\n"
    ".reg .b32 %r<5>; .reg .b64 %d<2>;\n"
    "ld.param.u64 %d0, [to]; ld.param.u32 %r0, [s]; ld.param.u8 %r1, [s+4]; ld.param.u64 %d1, [s+8];\n"
    "ld.param.u32 %r2, [s+16]; ld.param.u32 %r3, [s+20]; ld.param.u32 %r4, [s+24];\n"
    "st.global.u64 [%d0], %d1; st.global.u32 [%d0+8], %r0; st.global.u32 [%d0+12], %r1;\n"
    "st.global.u32 [%d0+16], %r2; st.global.u32 [%d0+20], %r3; st.global.u32 [%d0+24], %r4;\nret;\n}\n"
    // Reverses the words of a block in shared memory whose size the launch determines.
    ".visible .entry reverse(.param .u64 x)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d0, [x]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ntid.x;\n"
    "mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1; ld.global.u32 %r2, [%d2];\n"
    "mov.u32 %r3, dynamic; shl.b32 %r4, %r0, 2; add.u32 %r5, %r3, %r4; st.shared.u32 [%r5], %r2;\nbar.sync 0;\n"
    "sub.u32 %r6, %r1, 1; sub.u32 %r6, %r6, %r0; shl.b32 %r6, %r6, 2; add.u32 %r6, %r3, %r6;\n"
    "ld.shared.u32 %r7, [%r6]; st.global.u32 [%d2], %r7;\nret;\n}\n"
    // Has at most 64 threads, and 96 bytes of shared memory.
    ".visible .entry limited() .maxntid 64, 1, 1\n{\n"
    ".shared .align 4 .b8 held[96]; .reg .b32 %r<2>;\nmov.u32 %r0, held; mov.u32 %r1, 1; st.shared.u32 [%r0], %r1;\nret;\n}\n"
    ".visible .entry empty()\n{\nret;\n}\n";

static CUmodule kernels;

static void vectors_are_added(void) {
    enum { N = 1000 };
    float x[N], y[N], found[N] = {0};
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = (float)(2 * i);
    unsigned n = N;
    CUdeviceptr a = allocate(sizeof x), b = allocate(sizeof y), c = allocate(sizeof found);
    OK(cuMemcpyHtoD_v2(a, x, sizeof x));
    OK(cuMemcpyHtoD_v2(b, y, sizeof y));
    const CUfunction add = function(kernels, "add");
    void *params[] = {&a, &b, &c, &n};
    OK(launch(add, 4, 256, 0, params));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(found, c, sizeof found));
    for (int i = 0; i < N; i++) CHECK(found[i] == (float)(3 * i));
    // The same parameters in one buffer: the sum of the sum and the first array.
    struct {
        CUdeviceptr x, y, z;
        unsigned n;
    } packed = {c, a, c, N};
    size_t bytes = 28;
    void *extra[] = {LAUNCH_PARAM_BUFFER_POINTER, &packed, LAUNCH_PARAM_BUFFER_SIZE, &bytes, LAUNCH_PARAM_END};
    OK(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH_v2(found, c, sizeof found));
    for (int i = 0; i < N; i++) CHECK(found[i] == (float)(4 * i));
    // Wrong parameters.
    void *missing[] = {&a, &b, NULL, &n}, *unknown[] = {(void *)9, &packed, LAUNCH_PARAM_END};
    void *without_size[] = {LAUNCH_PARAM_BUFFER_POINTER, &packed, LAUNCH_PARAM_END};
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, missing, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, unknown));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, without_size));
    bytes = 24;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemFree_v2(a));
    OK(cuMemFree_v2(b));
    OK(cuMemFree_v2(c));
}

static void structures_are_passed_by_value(void) {
    struct {
        float a;
        unsigned char b;
        double c;
        int d[3];
    } given = {1.5f, 200, -2.25, {7, -8, 9}};
    struct {
        double c;
        float a;
        int b, d[3];
    } found = {0};
    CUdeviceptr to = allocate(28);
    size_t offset = 99, bytes = 99;
    const CUfunction unpack = function(kernels, "unpack");
    void *params[] = {&given, &to};
    OK(launch(unpack, 1, 1, 0, params));
    OK(cuMemcpyDtoH_v2(&found, to, 28));
    CHECK(found.a == 1.5f && found.b == 200 && found.c == -2.25 && found.d[0] == 7 && found.d[1] == -8 && found.d[2] == 9);
    OK(cuFuncGetParamInfo(unpack, 0, &offset, &bytes));
    CHECK(offset == 0 && bytes == 32);
    OK(cuFuncGetParamInfo(unpack, 1, &offset, NULL));
    CHECK(offset == 32);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(unpack, 2, &offset, &bytes));
    OK(cuMemFree_v2(to));
}

static int attribute(unsigned number, CUfunction function) {
    int value = -99;
    OK(cuFuncGetAttribute(&value, number, function));
    return value;
}

static void shared_memory_is_limited(void) {
    const CUfunction reverse = function(kernels, "reverse");
    unsigned words[64];
    for (unsigned i = 0; i < 64; i++) words[i] = i;
    CUdeviceptr x = allocate(sizeof words);
    void *params[] = {&x};
    OK(cuMemcpyHtoD_v2(x, words, sizeof words));
    OK(launch(reverse, 1, 64, 256, params));
    OK(cuMemcpyDtoH_v2(words, x, sizeof words));
    for (unsigned i = 0; i < 64; i++) CHECK(words[i] == 63 - i);
    // 48 KiB are available at once, and more on request.
    const int opt_in = 166912;
    CHECK(attribute(FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, reverse) == 49152);
    OK(launch(reverse, 1, 64, 49152, params));
    GIVES(CUDA_ERROR_INVALID_VALUE, launch(reverse, 1, 64, 49156, params));
    OK(cuFuncSetAttribute(reverse, FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    CHECK(attribute(FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, reverse) == 100000);
    OK(launch(reverse, 1, 64, 100000, params));
    GIVES(CUDA_ERROR_INVALID_VALUE, launch(reverse, 1, 64, 100004, params));
    OK(cuFuncSetAttribute(reverse, FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, opt_in));
    OK(launch(reverse, 1, 64, (unsigned)opt_in, params));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(reverse, FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, opt_in + 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(reverse, FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1));
    OK(cuFuncSetAttribute(reverse, FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    CHECK(attribute(FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT, reverse) == 50);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(reverse, FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(reverse, FUNC_NUM_REGS, 1));
    // Static and dynamic shared memory count together.
    const CUfunction limited = function(kernels, "limited");
    OK(cuFuncSetAttribute(limited, FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, opt_in - 96));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(limited, FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, opt_in - 95));
    OK(cuMemFree_v2(x));
}

static void functions_have_attributes(void) {
    const CUfunction limited = function(kernels, "limited"), empty = function(kernels, "empty"), add = function(kernels, "add");
    const char *name = NULL;
    CUmodule module = NULL;
    CUfunction listed[8] = {NULL};
    unsigned count = 0;
    int value = 0;
    CHECK(attribute(FUNC_MAX_THREADS_PER_BLOCK, limited) == 64 && attribute(FUNC_MAX_THREADS_PER_BLOCK, empty) == 1024);
    CHECK(attribute(FUNC_SHARED_SIZE_BYTES, limited) == 96 && attribute(FUNC_SHARED_SIZE_BYTES, empty) == 0);
    CHECK(attribute(FUNC_LOCAL_SIZE_BYTES, empty) == 0 && attribute(FUNC_CONST_SIZE_BYTES, empty) == 0);
    CHECK(attribute(FUNC_NUM_REGS, add) > 0 && attribute(FUNC_NUM_REGS, add) < 32);
    CHECK(attribute(FUNC_PTX_VERSION, add) == 78 && attribute(FUNC_BINARY_VERSION, add) == 80);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncGetAttribute(&value, 1000, add));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncGetAttribute(NULL, FUNC_NUM_REGS, add));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuFuncGetAttribute(&value, FUNC_NUM_REGS, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuFuncGetAttribute(&value, FUNC_NUM_REGS, (CUfunction)kernels));
    OK(cuFuncGetName(&name, add));
    CHECK(name != NULL && strcmp(name, "add") == 0);
    OK(cuFuncGetModule(&module, add));
    CHECK(module == kernels);
    OK(cuModuleGetFunctionCount(&count, kernels));
    CHECK(count == 5);
    OK(cuModuleEnumerateFunctions(listed, 5, kernels));
    OK(cuFuncGetName(&name, listed[4]));
    CHECK(listed[0] == add && name != NULL && strcmp(name, "empty") == 0);
    // A kernel has one handle.
    CHECK(function(kernels, "add") == add);
    CUfunction found = NULL;
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&found, kernels, "subtract"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&found, kernels, ""));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleGetFunction(&found, kernels, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleGetFunction(NULL, kernels, "add"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&found, NULL, "add"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&found, (CUmodule)add, "add"));
}

static void wrong_shapes_are_refused(void) {
    const CUfunction empty = function(kernels, "empty"), limited = function(kernels, "limited");
    const unsigned right[][6] = {
        {1, 1, 1, 1, 1, 1}, {3, 2, 2, 16, 8, 8}, {1, 1, 1, 1024, 1, 1}, {1, 65535, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 64},
    };
    const unsigned wrong[][6] = {
        {0, 1, 1, 1, 1, 1},    {1, 0, 1, 1, 1, 1},     {1, 1, 0, 1, 1, 1},      {1, 1, 1, 0, 1, 1},
        {1, 1, 1, 1, 0, 1},    {1, 1, 1, 1, 1, 0},     {1, 1, 1, 1025, 1, 1},   {1, 1, 1, 32, 33, 1},
        {1, 1, 1, 1, 1, 65},   {1, 65536, 1, 1, 1, 1}, {1, 1, 65536, 1, 1, 1},  {0x80000000u, 1, 1, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        const unsigned *of = right[i];
        if (!OK(cuLaunchKernel(empty, of[0], of[1], of[2], of[3], of[4], of[5], 0, NULL, NULL, NULL))) printf("case %d\n", (int)i);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const unsigned *of = wrong[i];
        if (!GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(empty, of[0], of[1], of[2], of[3], of[4], of[5], 0, NULL, NULL, NULL))) {
            printf("case %d\n", (int)i);
        }
    }
    OK(launch(limited, 1, 64, 0, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, launch(limited, 1, 65, 0, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, launch(NULL, 1, 1, 0, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, launch((CUfunction)kernels, 1, 1, 0, NULL));
    // None of these errors is sticky.
    OK(cuCtxSynchronize());
    OK(launch(empty, 1, 1, 0, NULL));
}

static void attributes_of_a_launch(void) {
    const CUfunction empty = function(kernels, "empty");
    CUlaunchAttribute attributes[2] = {{.id = LAUNCH_PRIORITY}, {.id = LAUNCH_CLUSTER_DIMENSION, .value.dimensions = {1, 1, 1}}};
    CUlaunchConfig config = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .attributes = attributes, .attribute_count = 2};
    OK(cuLaunchKernelEx(&config, empty, NULL, NULL));
    attributes[1].value.dimensions[0] = 2;
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernelEx(&config, empty, NULL, NULL));
    attributes[1].id = LAUNCH_PROGRAMMATIC_EVENT;
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernelEx(&config, empty, NULL, NULL));
    attributes[1].id = 1000;
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernelEx(&config, empty, NULL, NULL));
    config.attributes = NULL;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, empty, NULL, NULL));
    config.attribute_count = 0;
    OK(cuLaunchKernelEx(&config, empty, NULL, NULL));
    config.grid[1] = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, empty, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(NULL, empty, NULL, NULL));
}

// The functions of CUDA 2 set the shape and the parameters first. PyCUDA calls them.
static void launches_in_steps(void) {
    const CUfunction add = function(kernels, "add");
    float x[64], found[64] = {0};
    for (int i = 0; i < 64; i++) x[i] = (float)i;
    CUdeviceptr a = allocate(sizeof x), b = allocate(sizeof x);
    OK(cuMemcpyHtoD_v2(a, x, sizeof x));
    OK(cuFuncSetBlockShape(add, 32, 1, 1));
    OK(cuFuncSetSharedSize(add, 0));
    OK(cuParamSetSize(add, 28));
    OK(cuParamSetv(add, 0, &a, 8));
    OK(cuParamSetv(add, 8, &a, 8));
    OK(cuParamSetv(add, 16, &b, 8));
    OK(cuParamSeti(add, 24, 64));
    OK(cuLaunchGrid(add, 2, 1));
    OK(cuMemcpyDtoH_v2(found, b, sizeof found));
    for (int i = 0; i < 64; i++) CHECK(found[i] == (float)(2 * i));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(add, 0, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(add, 0, 1, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuParamSetv(add, -1, &a, 8));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuParamSetv(add, 0, NULL, 8));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuParamSeti(NULL, 0, 1));
    OK(cuParamSetSize(add, 24));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(add, 2, 1));
    OK(cuMemFree_v2(a));
    OK(cuMemFree_v2(b));
}

static void occupancy_follows_from_the_resources(void) {
    const CUfunction add = function(kernels, "add"), limited = function(kernels, "limited");
    int blocks = -1, grid = -1, block = -1;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
    CHECK(blocks == 8);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 49152));
    CHECK(blocks == 3);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 2048, 0));
    CHECK(blocks == 0);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, limited, 65, 0));
    CHECK(blocks == 0);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, limited, NULL, 0, 0));
    CHECK(block == 64 && grid == 4 * 32);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, add, 32, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 32, 0));
}

// Multiplies the words of `total` and of the parameter by the factors.
static const char *VARIABLES =
    HEAD
    ".visible .global .align 4 .u32 total = 5;\n.visible .const .align 4 .u32 factors[2] = {2, 3};\n"
    ".visible .entry multiply(.param .u64 x)\n{\n.reg .b32 %r<6>; .reg .b64 %d;\n"
    "ld.param.u64 %d, [x]; ld.const.u32 %r0, [factors]; ld.const.u32 %r1, [factors+4];\n"
    "ld.global.u32 %r2, [total]; mul.lo.u32 %r3, %r2, %r0; st.global.u32 [total], %r3;\n"
    "ld.global.u32 %r4, [%d]; mul.lo.u32 %r5, %r4, %r1; st.global.u32 [%d], %r5;\nret;\n}\n";

static unsigned word_at(CUdeviceptr address) {
    unsigned word = 0;
    OK(cuMemcpyDtoH_v2(&word, address, 4));
    return word;
}

static void the_host_writes_variables(void) {
    const CUmodule module = load(VARIABLES), other = load(VARIABLES);
    const CUfunction multiply = function(module, "multiply");
    const unsigned factors[2] = {10, 7};
    CUdeviceptr x = allocate(4), total = 0, constant = 0, found = 0;
    size_t bytes = 0;
    void *params[] = {&x};
    OK(cuMemsetD32_v2(x, 1, 1));
    OK(cuModuleGetGlobal_v2(&total, &bytes, module, "total"));
    CHECK(bytes == 4 && total % 4 == 0 && word_at(total) == 5);
    OK(cuModuleGetGlobal_v2(&constant, &bytes, module, "factors"));
    CHECK(bytes == 8);
    OK(launch(multiply, 1, 1, 0, params));
    CHECK(word_at(total) == 10 && word_at(x) == 3);
    OK(cuMemcpyHtoD_v2(constant, factors, sizeof factors));
    OK(cuMemsetD32_v2(total, 100, 1));
    OK(launch(multiply, 1, 1, 0, params));
    CHECK(word_at(total) == 1000 && word_at(x) == 21);
    // A variable is a parameter, and each module has its own variables.
    OK(cuModuleGetGlobal_v2(&found, NULL, other, "total"));
    CHECK(found != total && word_at(found) == 5);
    void *with_variable[] = {&found};
    OK(launch(multiply, 1, 1, 0, with_variable));
    CHECK(word_at(found) == 35);
    OK(cuModuleGetGlobal_v2(NULL, NULL, module, "total"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&found, &bytes, module, "subtotal"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&found, &bytes, module, "multiply"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleGetGlobal_v2(&found, &bytes, module, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleGetGlobal_v2(&found, &bytes, NULL, "total"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(constant, factors, 12));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(total));
    OK(cuModuleUnload(module));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    GIVES(CUDA_ERROR_INVALID_HANDLE, launch(multiply, 1, 1, 0, params));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(total, 1, 1));
    OK(cuModuleUnload(other));
    OK(cuMemFree_v2(x));
}

// Prints "thread %d of %s\n" for each thread, with its number and the word "grid".
static const char *PRINTS =
    HEAD
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n"
    ".global .align 1 .b8 format[17] = {116, 104, 114, 101, 97, 100, 32, 37, 100, 32, 111, 102, 32, 37, 115, 10, 0};\n"
    ".global .align 1 .b8 word[5] = {103, 114, 105, 100, 0};\n"
    ".visible .entry say()\n{\n.reg .b32 %r<6>; .reg .b64 %d<4>; .local .align 8 .b8 values[16];\n"
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;\n"
    "st.local.u32 [values], %r3; mov.u64 %d0, word; cvta.global.u64 %d0, %d0; st.local.u64 [values+8], %d0;\n"
    "{\n.param .b64 a; .param .b64 b; .param .b32 c;\n"
    "mov.u64 %d1, format; cvta.global.u64 %d1, %d1; st.param.b64 [a], %d1;\n"
    "mov.u64 %d2, values; cvta.local.u64 %d2, %d2; st.param.b64 [b], %d2;\n"
    "call.uni (c), vprintf, (a, b);\nld.param.b32 %r4, [c];\n}\nret;\n}\n";

// The caller of this program compares the output.
static void kernels_print(void) {
    const CUmodule module = load(PRINTS);
    OK(launch(function(module, "say"), 2, 2, 0, NULL));
    OK(cuModuleUnload(module));
}

// Each block stores its number in x, waits for all blocks, and stores the number of the next block in y. The barrier is
// that of cooperative_groups::this_grid().sync().
static const char *NEXT =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry next(.param .u64 x, .param .u64 y)\n{\n.reg .pred %p; .reg .b32 %r<12>; .reg .b64 %d<8>;\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;\n"
    "ld.param.u64 %d0, [x]; ld.param.u64 %d4, [y]; mad.wide.u32 %d1, %r1, 4, %d0;\n"
    "setp.ne.u32 %p, %r0, 0;\n@%p bra stored;\nst.global.u32 [%d1], %r1;\nstored:\n"
    "mov.u32 %r3, %envreg2; mov.u32 %r4, %envreg1; mov.b64 %d2, {%r3, %r4};\nsetp.eq.u64 %p, %d2, 0;\n@%p trap;\n"
    "barrier.sync 0;\nsetp.ne.u32 %p, %r0, 0;\n@%p bra arrived;\n"
    "sub.u32 %r5, 0x80000001, %r2; setp.eq.u32 %p, %r1, 0; selp.b32 %r5, %r5, 1, %p;\n"
    "atom.add.release.gpu.u32 %r6, [%d2+4], %r5;\n"
    "poll:\nld.acquire.gpu.u32 %r7, [%d2+4]; xor.b32 %r7, %r6, %r7; setp.ge.s32 %p, %r7, 0;\n@%p bra poll;\n"
    "arrived:\nbarrier.sync 0;\nsetp.ne.u32 %p, %r0, 0;\n@%p bra done;\n"
    "add.u32 %r8, %r1, 1; rem.u32 %r8, %r8, %r2; mad.wide.u32 %d3, %r8, 4, %d0; ld.global.u32 %r9, [%d3];\n"
    "mad.wide.u32 %d5, %r1, 4, %d4; st.global.u32 [%d5], %r9;\ndone:\nret;\n}\n";

static void blocks_wait_for_each_other(void) {
    enum { MOST = 4 * 32 };
    const CUmodule module = load(NEXT);
    const CUfunction next = function(module, "next");
    CUdeviceptr x = allocate(4 * (MOST + 1)), y = allocate(4 * (MOST + 1));
    unsigned found[MOST];
    void *params[] = {&x, &y};
    OK(cuLaunchCooperativeKernel(next, 5, 1, 1, 33, 1, 1, 0, NULL, params));
    OK(cuMemcpyDtoH_v2(found, y, 20));
    for (unsigned i = 0; i < 5; i++) CHECK(found[i] == (i + 1) % 5);
    // As many blocks as can be resident on four multiprocessors.
    OK(cuLaunchCooperativeKernel(next, MOST, 1, 1, 32, 1, 1, 0, NULL, params));
    OK(cuMemcpyDtoH_v2(found, y, sizeof found));
    for (unsigned i = 0; i < MOST; i++) CHECK(found[i] == (i + 1) % MOST);
    GIVES(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, cuLaunchCooperativeKernel(next, MOST + 1, 1, 1, 32, 1, 1, 0, NULL, params));
    CUlaunchAttribute cooperative = {.id = LAUNCH_COOPERATIVE, .value.number = 1};
    CUlaunchConfig config = {.grid = {3, 1, 1}, .block = {32, 1, 1}, .attributes = &cooperative, .attribute_count = 1};
    OK(cuLaunchKernelEx(&config, next, params, NULL));
    OK(cuMemcpyDtoH_v2(found, y, 12));
    CHECK(found[0] == 1 && found[1] == 2 && found[2] == 0);
    config.grid[0] = MOST + 1;
    GIVES(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, cuLaunchKernelEx(&config, next, params, NULL));
    OK(cuCtxSynchronize());
    OK(cuModuleUnload(module));
    OK(cuMemFree_v2(x));
    OK(cuMemFree_v2(y));
}

// A kernel that cannot run does not affect the other kernels of its module. It is named on standard error.
static void unsupported_kernels_are_refused(void) {
    const CUmodule module = load(HEAD ".visible .entry fine()\n{\nret;\n}\n"
                                      ".extern .func missing();\n.visible .entry broken()\n{\ncall missing, ();\nret;\n}\n");
    CUfunction found = NULL;
    unsigned count = 0;
    OK(launch(function(module, "fine"), 1, 1, 0, NULL));
    OK(cuModuleGetFunctionCount(&count, module));
    CHECK(count == 2);
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuModuleGetFunction(&found, module, "broken"));
    OK(cuModuleUnload(module));
}

int main(void) {
    const CUcontext context = start();
    kernels = load(KERNELS);
    vectors_are_added();
    structures_are_passed_by_value();
    shared_memory_is_limited();
    functions_have_attributes();
    wrong_shapes_are_refused();
    attributes_of_a_launch();
    launches_in_steps();
    occupancy_follows_from_the_resources();
    the_host_writes_variables();
    kernels_print();
    blocks_wait_for_each_other();
    unsupported_kernels_are_refused();
    OK(cuModuleUnload(kernels));
    OK(cuCtxDestroy_v2(context));
    return finish();
}
