// Tests contexts: the stack of each thread, primary contexts, and what belongs to a context.
#include <pthread.h>

#include "checks.h"

#define KERNEL HEAD ".visible .entry k()\n{\nret;\n}\n"

static CUcontext current(void) {
    CUcontext context = NULL;
    OK(cuCtxGetCurrent(&context));
    return context;
}

static void a_thread_has_a_stack_of_contexts(void) {
    CUcontext first = NULL, second = NULL, popped = NULL;
    CHECK(current() == NULL);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent_v2(&popped));
    OK(cuCtxCreate_v2(&first, 0, 0));
    OK(cuCtxCreate_v4(&second, NULL, 4, 0));
    CHECK(first != NULL && second != NULL && first != second && current() == second);
    OK(cuCtxPopCurrent_v2(&popped));
    CHECK(popped == second && current() == first);
    OK(cuCtxSetCurrent(second));
    CHECK(current() == second);
    // The context replaced the first one.
    OK(cuCtxPopCurrent_v2(NULL));
    CHECK(current() == NULL);
    OK(cuCtxPushCurrent_v2(first));
    OK(cuCtxPushCurrent_v2(second));
    OK(cuCtxPushCurrent_v2(second));
    OK(cuCtxSetCurrent(NULL));
    CHECK(current() == second);
    OK(cuCtxDestroy_v2(second));
    CHECK(current() == first);
    OK(cuCtxDestroy_v2(first));
    CHECK(current() == NULL);
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSetCurrent(first));
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxPushCurrent_v2(first));
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxDestroy_v2(first));
}

static void properties_of_a_context(void) {
    CUcontext context = NULL;
    unsigned flags = 99, version = 0;
    unsigned long long ids[2] = {0, 0};
    size_t value = 0;
    int priorities[2] = {9, 9};
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(NULL, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(&context, 3, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(&context, 0x1000, 0));
    CHECK(current() == NULL);
    OK(cuCtxCreate_v2(&context, 4, 0));
    OK(cuCtxGetFlags(&flags));
    CHECK(flags == 4);
    OK(cuCtxGetApiVersion(context, &version));
    CHECK(version >= 3000);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetApiVersion((CUcontext)&version, &version));
    OK(cuCtxGetId(context, &ids[0]));
    OK(cuCtxGetId(NULL, &ids[1]));
    CHECK(ids[0] == ids[1]);
    OK(cuCtxGetLimit(&value, LIMIT_STACK_SIZE));
    CHECK(value == 1024);
    OK(cuCtxGetLimit(&value, LIMIT_PRINTF_FIFO_SIZE));
    CHECK(value == 1 << 20);
    OK(cuCtxSetLimit(LIMIT_MALLOC_HEAP_SIZE, 1 << 24));
    OK(cuCtxGetLimit(&value, LIMIT_MALLOC_HEAP_SIZE));
    CHECK(value == 1 << 24);
    GIVES(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit(&value, 1000));
    GIVES(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxSetLimit(1000, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxGetLimit(NULL, LIMIT_STACK_SIZE));
    OK(cuCtxGetStreamPriorityRange(&priorities[0], &priorities[1]));
    CHECK(priorities[0] == 0 && priorities[1] == -5);
    OK(cuCtxGetStreamPriorityRange(NULL, NULL));
    // A context is no peer of itself.
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(context, 0));
    OK(cuCtxDestroy_v2(context));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuCtxGetId(context, &ids[1]));
    CHECK(ids[0] != ids[1]);
    OK(cuCtxDestroy_v2(context));
}

static void a_device_has_one_primary_context(void) {
    CUcontext first = NULL, second = NULL;
    unsigned flags = 99;
    int is_active = -1;
    OK(cuDevicePrimaryCtxSetFlags_v2(0, 4));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
    CHECK(flags == 4 && is_active == 0);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDevicePrimaryCtxRetain(NULL, 0));
    OK(cuDevicePrimaryCtxRetain(&first, 0));
    OK(cuDevicePrimaryCtxRetain(&second, 0));
    CHECK(first == second && first != NULL && current() == NULL);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
    CHECK(is_active == 1);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy_v2(first));
    OK(cuCtxSetCurrent(first));
    const CUdeviceptr held = allocate(64);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuMemsetD8_v2(held, 1, 64));
    // The last release frees what belongs to the context.
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
    CHECK(is_active == 0);
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemsetD8_v2(held, 1, 64));
    OK(cuDevicePrimaryCtxRetain(&second, 0));
    CHECK(second == first);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(held, 1, 64));
    // A reset does so as well.
    const CUdeviceptr later = allocate(64);
    OK(cuDevicePrimaryCtxReset_v2(0));
    OK(cuDevicePrimaryCtxRetain(&second, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(later));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuCtxSetCurrent(NULL));
}

static void memory_and_modules_end_with_their_context(void) {
    CUcontext first = NULL, second = NULL;
    unsigned char bytes[64] = {0};
    OK(cuCtxCreate_v2(&first, 0, 0));
    const CUdeviceptr memory = allocate(64);
    const CUmodule module = load(KERNEL);
    const CUfunction kernel = function(module, "k");
    CUstream stream = NULL;
    CUevent event = NULL;
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&event, 0));
    OK(launch(kernel, 1, 1, 0, NULL));
    OK(cuCtxCreate_v2(&second, 0, 0));
    // All contexts can use the memory.
    OK(cuMemsetD8_v2(memory, 3, 64));
    OK(cuCtxDestroy_v2(first));
    CHECK(current() == second);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(bytes, memory, sizeof bytes));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(memory));
    GIVES(CUDA_ERROR_INVALID_HANDLE, launch(kernel, 1, 1, 0, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(second));
    // The destroyed context stays on the stack, below the other one.
    CHECK(current() == first);
    OK(cuCtxPopCurrent_v2(&second));
    CHECK(second == first && current() == NULL);
}

// A context that another thread destroys stays on the stack.
static void *in_another_thread(void *context) {
    CUdeviceptr address = 0;
    CHECK(current() == NULL);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&address, 4));
    OK(cuCtxSetCurrent(context));
    address = allocate(4);
    OK(cuMemFree_v2(address));
    OK(cuCtxDestroy_v2(context));
    CHECK(current() == NULL);
    return NULL;
}

static void each_thread_has_its_own_context(void) {
    CUcontext context = NULL, popped = NULL;
    CUdeviceptr address = 0;
    pthread_t thread;
    OK(cuCtxCreate_v2(&context, 0, 0));
    CHECK(pthread_create(&thread, NULL, in_another_thread, context) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(current() == context);
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&address, 4));
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    OK(cuCtxPopCurrent_v2(&popped));
    CHECK(popped == context && current() == NULL);
}

int main(void) {
    OK(cuInit(0));
    a_thread_has_a_stack_of_contexts();
    properties_of_a_context();
    a_device_has_one_primary_context();
    memory_and_modules_end_with_their_context();
    each_thread_has_its_own_context();
    return finish();
}
