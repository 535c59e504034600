// Tests streams, events, callbacks and host functions. All work of a stream is complete when the call returns.
#include "checks.h"

#define ADD_1                                                                                   \
    HEAD ".visible .entry add_1(.param .u64 x)\n{\n.reg .b32 %r<2>; .reg .b64 %d<2>;\n"          \
         "ld.param.u64 %d0, [x];\nld.global.u32 %r0, [%d0];\nadd.u32 %r0, %r0, 1;\n"            \
         "st.global.u32 [%d0], %r0;\nret;\n}\n"

static void streams_have_properties(CUcontext context) {
    CUstream stream = NULL;
    CUcontext owner = NULL;
    unsigned flags = 9;
    int priority = 9;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(NULL, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&stream, 8));
    OK(cuStreamCreateWithPriority(&stream, STREAM_NON_BLOCKING, -2));
    OK(cuStreamGetFlags(stream, &flags));
    OK(cuStreamGetPriority(stream, &priority));
    OK(cuStreamGetCtx(stream, &owner));
    CHECK(flags == STREAM_NON_BLOCKING && priority == -2 && owner == context);
    OK(cuStreamQuery(stream));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy_v2(stream));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy_v2(stream));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)&flags));
    // A priority beyond the range is clamped.
    OK(cuStreamCreateWithPriority(&stream, 0, -100));
    OK(cuStreamGetPriority(stream, &priority));
    CHECK(priority == -5);
    OK(cuStreamDestroy_v2(stream));
    const CUstream defaults[] = {NULL, STREAM_LEGACY, STREAM_PER_THREAD};
    for (size_t i = 0; i < 3; i++) {
        OK(cuStreamQuery(defaults[i]));
        OK(cuStreamSynchronize(defaults[i]));
        OK(cuStreamGetCtx(defaults[i], &owner));
        CHECK(owner == context);
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy_v2(defaults[i]));
    }
}

static void events_have_times(CUstream stream) {
    CUevent first = NULL, second = NULL, untimed = NULL;
    float milliseconds = -1;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuEventCreate(NULL, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&first, 0x100));
    OK(cuEventCreate(&first, 0));
    OK(cuEventCreate(&second, 0));
    OK(cuEventCreate(&untimed, EVENT_DISABLE_TIMING));
    // An event that is not recorded is complete, but has no time.
    OK(cuEventQuery(first));
    OK(cuEventSynchronize(first));
    OK(cuStreamWaitEvent(stream, first, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime_v2(&milliseconds, first, second));
    OK(cuEventRecord(first, stream));
    OK(cuEventRecord(second, NULL));
    OK(cuEventRecord(untimed, stream));
    OK(cuEventElapsedTime_v2(&milliseconds, first, second));
    CHECK(milliseconds >= 0 && milliseconds < 60000);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime_v2(&milliseconds, first, untimed));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuEventElapsedTime_v2(NULL, first, second));
    OK(cuStreamWaitEvent(STREAM_PER_THREAD, untimed, 0));
    OK(cuEventDestroy_v2(first));
    OK(cuEventDestroy_v2(untimed));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy_v2(first));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(first, stream));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(first));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamWaitEvent(stream, first, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(second, (CUstream)&milliseconds));
    OK(cuEventDestroy_v2(second));
}

// Steps of a stream in the order in which they ran.
static int steps[8];
static int step_count = 0;
static CUstream called_with = NULL;
static CUresult seen_status = 77;

static void add_step(void *data) {
    if (step_count < 8) steps[step_count++] = *(int *)data;
}

static void add_step_of(CUstream stream, CUresult status, void *data) {
    called_with = stream;
    seen_status = status;
    add_step(data);
}

// A callback must not use the driver. A call must return nevertheless.
static void use_the_driver(void *data) {
    CUdeviceptr address = 0;
    if (cuMemAlloc_v2(&address, 4) == CUDA_SUCCESS) cuMemFree_v2(address);
    cuStreamSynchronize(data);
    if (step_count < 8) steps[step_count++] = 9;
}

static void work_is_in_order(CUstream stream) {
    const CUfunction add_1 = function(load(ADD_1), "add_1");
    CUdeviceptr counter = allocate(4);
    int numbers[3] = {1, 2, 3};
    unsigned found = 0, zero = 0;
    void *params[] = {&counter};
    OK(cuMemcpyHtoDAsync_v2(counter, &zero, 4, stream));
    OK(cuLaunchKernel(add_1, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(cuLaunchHostFunc(stream, add_step, &numbers[0]));
    OK(cuLaunchKernel(add_1, 1, 1, 1, 1, 1, 1, 0, STREAM_PER_THREAD, params, NULL));
    OK(cuStreamAddCallback(stream, add_step_of, &numbers[1], 0));
    OK(cuMemcpyDtoHAsync_v2(&found, counter, 4, STREAM_LEGACY));
    OK(cuLaunchHostFunc(NULL, add_step, &numbers[2]));
    OK(cuStreamSynchronize(stream));
    CHECK(found == 2 && step_count == 3 && steps[0] == 1 && steps[1] == 2 && steps[2] == 3);
    CHECK(called_with == stream && seen_status == CUDA_SUCCESS);
    OK(cuLaunchHostFunc(stream, use_the_driver, stream));
    CHECK(step_count == 4 && steps[3] == 9);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(stream, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamAddCallback(stream, NULL, NULL, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamAddCallback(stream, add_step_of, &numbers[1], 1));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunchHostFunc((CUstream)&found, add_step, &numbers[0]));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(add_1, 1, 1, 1, 1, 1, 1, 0, (CUstream)&found, params, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuMemcpyHtoDAsync_v2(counter, &zero, 4, (CUstream)&found));
    CHECK(step_count == 4);
    OK(cuMemFree_v2(counter));
}

int main(void) {
    const CUcontext context = start();
    CUstream stream = NULL;
    OK(cuStreamCreate(&stream, 0));
    streams_have_properties(context);
    events_have_times(stream);
    work_is_in_order(stream);
    OK(cuStreamDestroy_v2(stream));
    OK(cuCtxDestroy_v2(context));
    return finish();
}
