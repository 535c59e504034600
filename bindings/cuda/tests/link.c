// Tests images: link steps, fatbins, machine code without PTX, and the logs of errors. Usage: `link FILE`, where the
// program may write FILE. The caller of this program checks the advice on standard error.
#include "checks.h"

// Calls a function, and reads a variable, of the other text.
#define USES                                                                                                  \
    HEAD ".extern .func (.param .b32 r) next(.param .b32 a);\n.extern .global .align 4 .u32 total;\n"          \
         ".visible .entry k(.param .u64 x)\n{\n.reg .b32 %r<3>; .reg .b64 %d;\nld.param.u64 %d, [x];\n"        \
         "ld.global.u32 %r0, [total];\n{\n.param .b32 p; .param .b32 q;\nst.param.b32 [p], %r0;\n"             \
         "call (q), next, (p);\nld.param.b32 %r1, [q];\n}\nst.global.u32 [%d], %r1;\nret;\n}\n"
#define DEFINES                                                                                               \
    HEAD ".visible .global .align 4 .u32 total = 7;\n"                                                        \
         ".visible .func (.param .b32 r) next(.param .b32 a)\n{\n.reg .b32 %r;\nld.param.b32 %r, [a];\n"       \
         "add.u32 %r, %r, 1;\nst.param.b32 [r], %r;\nret;\n}\n"

// A kernel that stores a number, for the given compute capability.
#define STORES(sm, number)                                                                                    \
    ".version 7.8\n.target sm_" sm "\n.address_size 64\n"                                                     \
    ".visible .entry k(.param .u64 x)\n{\n.reg .b64 %d;\nld.param.u64 %d, [x];\nst.global.u32 [%d], " number ";\nret;\n}\n"

// First bytes of an ELF file for a machine.
#define ELF(machine) {0x7f, 'E', 'L', 'F', 2, 1, 1, 'A', 8, 0, 0, 0, 0, 0, 0, 0, 2, 0, machine, 0, 1, 0, 0, 0}
static const unsigned char CUBIN[64] = ELF(190), HOST_CODE[64] = ELF(62);

// Launches the kernel `k` of a module. Returns the word that it stores.
static unsigned stored(CUmodule module) {
    unsigned word = 0;
    CUdeviceptr x = allocate(4);
    void *params[] = {&x};
    OK(launch(function(module, "k"), 1, 1, 0, params));
    OK(cuMemcpyDtoH_v2(&word, x, 4));
    OK(cuMemFree_v2(x));
    return word;
}

static CUresult add_text(CUlinkState state, const char *text) {
    return cuLinkAddData_v2(state, INPUT_PTX, (void *)text, strlen(text) + 1, "text", 0, NULL, NULL);
}

static void texts_are_linked(void) {
    const char *orders[2][2] = {{USES, DEFINES}, {DEFINES, USES}};
    for (int i = 0; i < 2; i++) {
        CUlinkState state = NULL;
        CUmodule module = NULL;
        void *image = NULL;
        size_t bytes = 0;
        OK(cuLinkCreate_v2(0, NULL, NULL, &state));
        OK(add_text(state, orders[i][0]));
        OK(add_text(state, orders[i][1]));
        // The library of the device runtime is part of halfbyte.
        OK(cuLinkAddData_v2(state, INPUT_LIBRARY, "!<arch>\n", 8, "libcudadevrt.a", 0, NULL, NULL));
        OK(cuLinkComplete(state, &image, &bytes));
        CHECK(image != NULL && bytes > 200);
        OK(cuModuleLoadData(&module, image));
        OK(cuLinkDestroy(state));
        CHECK(stored(module) == 8);
        OK(cuModuleUnload(module));
    }
}

static void wrong_inputs_of_a_link_step(const char *path) {
    CUlinkState state = NULL;
    CUmodule module = NULL;
    void *image = NULL;
    size_t bytes = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLinkCreate_v2(0, NULL, NULL, NULL));
    OK(cuLinkCreate_v2(0, NULL, NULL, &state));
    GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, cuLinkAddData_v2(state, INPUT_CUBIN, (void *)CUBIN, sizeof CUBIN, "k.cubin", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuLinkAddData_v2(state, INPUT_OBJECT, (void *)HOST_CODE, sizeof HOST_CODE, "k.o", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLinkAddData_v2(state, INPUT_PTX, NULL, 4, "k.ptx", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLinkAddData_v2(state, 77, USES, sizeof USES, "k.ptx", 0, NULL, NULL));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuLinkAddFile_v2(state, INPUT_PTX, "/no/such/file.ptx", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLinkAddFile_v2(state, INPUT_PTX, NULL, 0, NULL, NULL));
    // The step goes on after an error.
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(DEFINES, file) >= 0 && fclose(file) == 0);
    OK(cuLinkAddFile_v2(state, INPUT_PTX, path, 0, NULL, NULL));
    OK(add_text(state, USES));
    OK(cuLinkComplete(state, &image, &bytes));
    OK(cuModuleLoadData(&module, image));
    CHECK(stored(module) == 8);
    OK(cuLinkDestroy(state));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(state));
    GIVES(CUDA_ERROR_INVALID_HANDLE, add_text(state, USES));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLinkComplete(state, &image, &bytes));
    // Two definitions of a symbol.
    OK(cuLinkCreate_v2(0, NULL, NULL, &state));
    OK(add_text(state, DEFINES));
    OK(add_text(state, DEFINES));
    GIVES(CUDA_ERROR_INVALID_PTX, cuLinkComplete(state, &image, &bytes));
    OK(cuLinkDestroy(state));
}

// A fatbin: a header and entries, each with a header of 64 bytes.
typedef struct {
    _Alignas(8) unsigned char bytes[4096];
    size_t end;
} Fatbin;

static void put(unsigned char *to, size_t bytes, uint64_t value) {
    for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> (8 * i));
}

static void begin(Fatbin *fatbin) {
    memset(fatbin, 0, sizeof *fatbin);
    put(fatbin->bytes, 4, 0xba55ed50);
    put(fatbin->bytes + 4, 2, 1);
    put(fatbin->bytes + 6, 2, 16);
    fatbin->end = 16;
}

// Adds an entry: kind 1 is PTX, and kind 2 is machine code.
static void add_entry(Fatbin *fatbin, unsigned kind, unsigned sm, const void *data, size_t bytes) {
    unsigned char *entry = fatbin->bytes + fatbin->end;
    const size_t padded = (bytes + 7) / 8 * 8;
    put(entry, 2, kind);
    put(entry + 4, 4, 64);
    put(entry + 8, 8, padded);
    put(entry + 28, 4, sm);
    put(entry + 40, 8, 0x11);
    memcpy(entry + 64, data, bytes);
    fatbin->end += 64 + padded;
    put(fatbin->bytes + 8, 8, fatbin->end - 16);
}

static void fatbins_contain_ptx(const char *path) {
    static Fatbin fatbin;
    struct {
        uint32_t magic, version;
        const void *container;
        void *unused;
    } wrapper = {0x466243b1, 1, fatbin.bytes, NULL};
    CUmodule module = NULL;
    begin(&fatbin);
    add_entry(&fatbin, 2, 80, CUBIN, sizeof CUBIN);
    add_entry(&fatbin, 1, 70, STORES("70", "70"), sizeof STORES("70", "70"));
    add_entry(&fatbin, 1, 80, STORES("80", "80"), sizeof STORES("80", "80"));
    add_entry(&fatbin, 1, 90, STORES("90", "90"), sizeof STORES("90", "90"));
    OK(cuModuleLoadData(&module, fatbin.bytes));
    CHECK(stored(module) == 80);
    OK(cuModuleLoadData(&module, &wrapper));
    CHECK(stored(module) == 80);
    OK(cuModuleLoadFatBinary(&module, &wrapper));
    CHECK(stored(module) == 80);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(fatbin.bytes, 1, fatbin.end, file) == fatbin.end && fclose(file) == 0);
    OK(cuModuleLoad(&module, path));
    CHECK(stored(module) == 80);
    CUlinkState state = NULL;
    void *image = NULL;
    size_t bytes = 0;
    OK(cuLinkCreate_v2(0, NULL, NULL, &state));
    OK(cuLinkAddData_v2(state, INPUT_FATBINARY, fatbin.bytes, fatbin.end, "k.fatbin", 0, NULL, NULL));
    OK(cuLinkComplete(state, &image, &bytes));
    OK(cuModuleLoadData(&module, image));
    CHECK(stored(module) == 80);
    OK(cuLinkDestroy(state));
    // No entry suits the device.
    begin(&fatbin);
    add_entry(&fatbin, 1, 90, STORES("90", "90"), sizeof STORES("90", "90"));
    GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, &wrapper));
    begin(&fatbin);
    add_entry(&fatbin, 2, 80, CUBIN, sizeof CUBIN);
    GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadFatBinary(&module, fatbin.bytes));
    // The container is malformed.
    begin(&fatbin);
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &wrapper));
    add_entry(&fatbin, 1, 80, STORES("80", "80"), sizeof STORES("80", "80"));
    put(fatbin.bytes + 16 + 8, 8, 100000);
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &wrapper));
    wrapper.container = NULL;
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &wrapper));
}

static void other_images_are_refused(void) {
    CUmodule module = NULL;
    GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, CUBIN));
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, HOST_CODE));
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "hello"));
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, ""));
    GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ".visible .fnord k();"));
    GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, STORES("90", "1")));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(NULL, STORES("80", "1")));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/no/such/file.ptx"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoad(&module, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(NULL));
    // Comments and blanks may come first.
    OK(cuModuleLoadData(&module, "// made by hand\n\n/* twice */ " STORES("80", "5")));
    CHECK(stored(module) == 5);
}

static void errors_are_logged(void) {
    const char *wrong = HEAD ".visible .entry k()\n{\n.reg .b32 %r;\nfnord.u32 %r, 1;\nret;\n}\n";
    char info[100] = "x", error[1000] = "x", small[10];
    CUmodule module = NULL;
    unsigned options[] = {INFO_LOG_BUFFER, INFO_LOG_BYTES, ERROR_LOG_BUFFER, ERROR_LOG_BYTES};
    void *values[] = {info, (void *)sizeof info, error, (void *)sizeof error};
    GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, wrong, 4, options, values));
    CHECK(strstr(error, "fnord") != NULL && strstr(error, ":7:1") != NULL && info[0] == 0);
    CHECK((size_t)values[3] == strlen(error) + 1);
    // A log that is too long is truncated.
    values[2] = memset(small, 'x', sizeof small);
    values[3] = (void *)(sizeof small - 1);
    GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, wrong, 4, options, values));
    CHECK(strlen(small) == 8 && small[9] == 'x' && strncmp(small, error, 8) == 0);
    values[2] = error;
    values[3] = (void *)sizeof error;
    OK(cuModuleLoadDataEx(&module, STORES("80", "6"), 4, options, values));
    CHECK(error[0] == 0 && stored(module) == 6);
    // A size without a buffer, a buffer without a size, and unknown options.
    unsigned other[] = {ERROR_LOG_BYTES, 12, 999};
    void *others[] = {(void *)1000, (void *)1, NULL};
    GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, wrong, 3, other, others));
    GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, wrong, 1, &options[2], &values[2]));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, wrong, 1, NULL, values));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, wrong, 1, options, NULL));
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const CUcontext context = start();
    texts_are_linked();
    wrong_inputs_of_a_link_step(argv[1]);
    fatbins_contain_ptx(argv[1]);
    other_images_are_refused();
    errors_are_logged();
    OK(cuCtxDestroy_v2(context));
    return finish();
}
