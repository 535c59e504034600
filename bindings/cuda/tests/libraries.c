// Tests libraries: modules that are loaded without a context, and their kernels. Usage: `libraries FILE`, where the
// program may write FILE.
#include "checks.h"

#define TEXT                                                                                                  \
    HEAD ".visible .global .align 4 .u32 total = 5;\n"                                                        \
         ".visible .entry add(.param .u64 x, .param .u32 n)\n{\n.reg .b32 %r<4>; .reg .b64 %d;\n"              \
         "ld.param.u64 %d, [x]; ld.param.u32 %r0, [n]; ld.global.u32 %r1, [total]; add.u32 %r2, %r0, %r1;\n"   \
         "st.global.u32 [%d], %r2;\nret;\n}\n"                                                                \
         ".visible .entry limited() .maxntid 64, 1, 1\n{\nret;\n}\n"

static CUlibrary load_library(const char *text) {
    CUlibrary library = NULL;
    OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static void a_library_needs_no_context(void) {
    CUlibrary library = NULL, found = NULL;
    CUkernel add = NULL, again = NULL, kernels[3] = {NULL, NULL, NULL};
    CUfunction as_function = NULL;
    unsigned count = 0;
    int value = 0;
    size_t offset = 0, bytes = 0;
    const char *name = NULL;
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuLibraryLoadData(&library, TEXT, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuInit(0));
    library = load_library(TEXT);
    OK(cuLibraryGetKernel(&add, library, "add"));
    OK(cuLibraryGetKernel(&again, library, "add"));
    CHECK(add != NULL && add == again);
    OK(cuLibraryGetKernelCount(&count, library));
    CHECK(count == 2);
    OK(cuLibraryEnumerateKernels(kernels, 2, library));
    CHECK(kernels[0] == add && kernels[1] != NULL && kernels[1] != add && kernels[2] == NULL);
    OK(cuKernelGetName(&name, add));
    CHECK(name != NULL && strcmp(name, "add") == 0);
    OK(cuKernelGetLibrary(&found, add));
    CHECK(found == library);
    OK(cuKernelGetParamInfo(add, 1, &offset, &bytes));
    CHECK(offset == 8 && bytes == 4);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuKernelGetParamInfo(add, 2, &offset, &bytes));
    OK(cuKernelGetAttribute(&value, FUNC_MAX_THREADS_PER_BLOCK, kernels[1], 0));
    CHECK(value == 64);
    OK(cuKernelSetAttribute(FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, add, 0));
    OK(cuKernelGetAttribute(&value, FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, add, 0));
    CHECK(value == 100000);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuKernelSetAttribute(FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20, add, 0));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuKernelSetAttribute(FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1, add, 7));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuKernelGetAttribute(&value, FUNC_NUM_REGS, add, -1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuKernelGetAttribute(&value, 1000, add, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelGetAttribute(&value, FUNC_NUM_REGS, NULL, 0));
    GIVES(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&add, library, "subtract"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLibraryGetKernel(&add, library, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetKernel(&add, NULL, "add"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetKernelCount(&count, (CUlibrary)&value));
    // A function and a module belong to a context, which there is none of.
    CUmodule module = NULL;
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuKernelGetFunction(&as_function, add));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuLibraryGetModule(&module, library));
    OK(cuLibraryUnload(library));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelGetName(&name, add));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLibraryLoadData(NULL, TEXT, NULL, NULL, 0, NULL, NULL, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuLibraryLoadData(&library, "hello", NULL, NULL, 0, NULL, NULL, 0));
    GIVES(CUDA_ERROR_INVALID_PTX, cuLibraryLoadData(&library, HEAD "fnord;", NULL, NULL, 0, NULL, NULL, 0));
}

static void kernels_are_launched(void) {
    CUcontext contexts[2] = {NULL, NULL};
    const CUlibrary library = load_library(TEXT);
    CUkernel kernel = NULL;
    CUfunction add = NULL, of_module = NULL;
    CUmodule module = NULL;
    CUdeviceptr total = 0, same = 0;
    unsigned n = 10, word = 0, seven = 7;
    size_t bytes = 0;
    OK(cuLibraryGetKernel(&kernel, library, "add"));
    // A library outlives the contexts in which its kernels run.
    for (int i = 0; i < 2; i++) {
        OK(cuCtxCreate_v2(&contexts[i], 0, 0));
        CUdeviceptr x = allocate(4);
        void *params[] = {&x, &n};
        // A kernel may take the place of a function.
        OK(launch((CUfunction)kernel, 1, 1, 0, params));
        OK(cuMemcpyDtoH_v2(&word, x, 4));
        CHECK(word == (i == 0 ? 15 : 17));
        OK(cuKernelGetFunction(&add, kernel));
        OK(launch(add, 1, 1, 0, params));
        OK(cuLibraryGetModule(&module, library));
        OK(cuModuleGetFunction(&of_module, module, "add"));
        OK(launch(of_module, 1, 1, 0, params));
        OK(cuLibraryGetGlobal(&total, &bytes, library, "total"));
        OK(cuModuleGetGlobal_v2(&same, NULL, module, "total"));
        CHECK(bytes == 4 && same == total);
        OK(cuMemcpyHtoD_v2(total, &seven, 4));
        int blocks = 0;
        OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (CUfunction)kernel, 256, 0));
        CHECK(blocks == 8);
        OK(cuCtxDestroy_v2(contexts[i]));
    }
    GIVES(CUDA_ERROR_NOT_FOUND, cuLibraryGetGlobal(&total, &bytes, library, "subtotal"));
    OK(cuLibraryUnload(library));
    OK(cuCtxCreate_v2(&contexts[0], 0, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, launch((CUfunction)kernel, 1, 1, 0, (void *[]){&total, &n}));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelGetFunction(&add, kernel));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&of_module, module, "add"));
    OK(cuCtxDestroy_v2(contexts[0]));
}

static void libraries_are_read_from_files(const char *path) {
    CUlibrary library = NULL;
    unsigned count = 0;
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(TEXT, file) >= 0 && fclose(file) == 0);
    OK(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernelCount(&count, library));
    CHECK(count == 2);
    OK(cuLibraryUnload(library));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuLibraryLoadFromFile(&library, "/no/such/file.ptx", NULL, NULL, 0, NULL, NULL, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLibraryLoadFromFile(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    a_library_needs_no_context();
    kernels_are_launched();
    libraries_are_read_from_files(argv[1]);
    return finish();
}
