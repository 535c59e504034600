// Checks of the tests, and steps that many of them have in common. A check that fails prints a line.
#ifndef HALFBYTE_TESTS_CHECKS_H
#define HALFBYTE_TESTS_CHECKS_H

#include <stdio.h>
#include <string.h>

#include "driver.h"

static int failures = 0;

#define CHECK(what)                                                  \
    do {                                                             \
        if (!(what)) {                                               \
            printf("line %d: not so: %s\n", __LINE__, #what);        \
            failures++;                                              \
        }                                                            \
    } while (0)

static inline int gives_at(int line, const char *call, CUresult wanted, CUresult found) {
    if (found != wanted) {
        printf("line %d: %s gives %u, not %u\n", line, call, found, wanted);
        failures++;
    }
    return found == wanted;
}

// Checks the result code of a call. The value is true if the code is the wanted one.
#define GIVES(wanted, call) gives_at(__LINE__, #call, wanted, call)
#define OK(call) gives_at(__LINE__, #call, CUDA_SUCCESS, call)

// Prints "ok" if all checks passed. Returns the exit code.
static inline int finish(void) {
    if (failures == 0) puts("ok");
    return failures != 0;
}

// First lines of the PTX texts.
#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

// Initialises the driver, and creates a context on the first device.
static inline CUcontext start(void) {
    CUcontext context = NULL;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    return context;
}

static inline CUmodule load(const char *text) {
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, text));
    return module;
}

static inline CUfunction function(CUmodule module, const char *name) {
    CUfunction function = NULL;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static inline CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    OK(cuMemAlloc_v2(&address, bytes));
    return address;
}

// Launches a kernel along the axis x, on the default stream.
static inline CUresult launch(CUfunction function, unsigned grid, unsigned block, unsigned shared, void **params) {
    return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, NULL, params, NULL);
}

#endif
