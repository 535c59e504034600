// Tests the devices and the texts of result codes. Usage: `devices`; `devices several` with HALFBYTE_DEVICES=2,
// HALFBYTE_SM=90, HALFBYTE_SMS=132 and HALFBYTE_MAX_MEMORY=1G; `devices none` with HALFBYTE_DEVICES=0.
#include "checks.h"

static int attribute(int number, CUdevice device) {
    int value = -1;
    OK(cuDeviceGetAttribute(&value, number, device));
    return value;
}

static void most_functions_need_initialisation(void) {
    int number = 0;
    CUcontext context = NULL;
    CUdeviceptr address = 0;
    CUmodule module = NULL;
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&number));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&number, 0));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuCtxCreate_v2(&context, 0, 0));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDevicePrimaryCtxRetain(&context, 0));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuCtxSynchronize());
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc_v2(&address, 4));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuModuleLoadData(&module, HEAD));
    OK(cuDriverGetVersion(&number));
    CHECK(number >= 13000);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDriverGetVersion(NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&number));
    OK(cuInit(0));
    OK(cuInit(0));
}

static void codes_have_names(void) {
    const char *text = NULL;
    OK(cuGetErrorName(CUDA_SUCCESS, &text));
    CHECK(text != NULL && strcmp(text, "CUDA_SUCCESS") == 0);
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK(text != NULL && strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK(text != NULL && strlen(text) > 5 && strstr(text, "CUDA_ERROR") == NULL);
    int named = 0;
    for (CUresult code = 0; code < 2000; code++) {
        const char *name = "", *description = "";
        const CUresult status = cuGetErrorName(code, &name);
        CHECK(status == cuGetErrorString(code, &description));
        CHECK((status == CUDA_SUCCESS) == (name != NULL) && (name != NULL) == (description != NULL));
        CHECK(status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_VALUE);
        named += status == CUDA_SUCCESS;
    }
    CHECK(named > 80);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(CUDA_SUCCESS, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGetErrorString(CUDA_SUCCESS, NULL));
}

static void devices_have_numbers(int devices) {
    int number = -1;
    OK(cuDeviceGetCount(&number));
    CHECK(number == devices);
    for (int ordinal = 0; ordinal < devices; ordinal++) {
        OK(cuDeviceGet(&number, ordinal));
        CHECK(number == ordinal);
    }
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&number, devices));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&number, -1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetCount(NULL));
    // Each function with a device checks it.
    char text[64];
    size_t bytes = 0;
    unsigned flags = 0;
    CUcontext context = NULL;
    CUdevprop properties;
    unsigned char id[16];
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetName(text, sizeof text, devices));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceTotalMem_v2(&bytes, devices));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&number, WARP_SIZE, devices));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetProperties(&properties, devices));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetUuid_v2(id, devices));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetPCIBusId(text, sizeof text, devices));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceCanAccessPeer(&number, devices, devices));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate_v2(&context, 0, devices));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain(&context, devices));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxGetState(devices, &flags, &number));
}

static void a_device_has_a_name(const char *name) {
    char text[64];
    OK(cuDeviceGetName(text, sizeof text, 0));
    CHECK(strcmp(text, name) == 0);
    memset(text, 'x', sizeof text);
    OK(cuDeviceGetName(text, 5, 0));
    CHECK(strcmp(text, "half") == 0 && text[5] == 'x');
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetName(text, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetName(NULL, 5, 0));
    CUdevice device = -1;
    OK(cuDeviceGetPCIBusId(text, sizeof text, 0));
    OK(cuDeviceGetByPCIBusId(&device, text));
    CHECK(device == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetPCIBusId(text, 4, 0));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&device, "0000:7f:00.0"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId(&device, "nowhere"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId(&device, NULL));
    // Only devices of Windows have this identifier.
    unsigned nodes = 0;
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetLuid(text, &nodes, 0));
}

static void attributes_are_those_of_sm_80(void) {
    const int expected[][2] = {
        {MAX_THREADS_PER_BLOCK, 1024},
        {MAX_BLOCK_DIM_Z, 64},
        {MAX_GRID_DIM_X, 2147483647},
        {MAX_GRID_DIM_Y, 65535},
        {MAX_SHARED_MEMORY_PER_BLOCK, 49152},
        {WARP_SIZE, 32},
        {MULTIPROCESSOR_COUNT, 4},
        {INTEGRATED, 0},
        {MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {UNIFIED_ADDRESSING, 1},
        {COMPUTE_CAPABILITY_MAJOR, 8},
        {COMPUTE_CAPABILITY_MINOR, 0},
        {MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 167936},
        {MANAGED_MEMORY, 1},
        {PAGEABLE_MEMORY_ACCESS, 0},
        {COOPERATIVE_LAUNCH, 1},
        {MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 166912},
        {CLUSTER_LAUNCH, 0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const int value = attribute(expected[i][0], 0);
        if (value != expected[i][1]) {
            printf("attribute %d is %d, not %d\n", expected[i][0], value, expected[i][1]);
            failures++;
        }
    }
    // Programs read all attributes that they know.
    int value = 0;
    for (int number = 1; number <= LAST_DEVICE_ATTRIBUTE; number++) {
        value = -1;
        CHECK(cuDeviceGetAttribute(&value, number, 0) == CUDA_SUCCESS && value >= 0);
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, LAST_DEVICE_ATTRIBUTE + 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, -1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(NULL, WARP_SIZE, 0));
    CUdevprop properties = {0};
    OK(cuDeviceGetProperties(&properties, 0));
    CHECK(properties.max_threads == 1024 && properties.max_block[2] == 64 && properties.max_grid[1] == 65535);
    CHECK(properties.shared == 49152 && properties.warp == 32 && properties.registers == 65536);
    int major = 0, minor = -1;
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    CHECK(major == 8 && minor == 0);
    size_t bytes = 0;
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    CHECK(bytes == (size_t)4 << 30);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceTotalMem_v2(NULL, 0));
}

// A program sees several devices, and each of them can access the memory of the others.
static void several_devices_are_peers(void) {
    int value = -1;
    CHECK(attribute(COMPUTE_CAPABILITY_MAJOR, 1) == 9 && attribute(CLUSTER_LAUNCH, 1) == 1);
    CHECK(attribute(MULTIPROCESSOR_COUNT, 1) == 132);
    CHECK(attribute(PCI_BUS_ID, 0) != attribute(PCI_BUS_ID, 1));
    unsigned char first[16], second[16];
    OK(cuDeviceGetUuid_v2(first, 0));
    OK(cuDeviceGetUuid_v2(second, 1));
    CHECK(memcmp(first, second, sizeof first) != 0);
    size_t bytes = 0;
    OK(cuDeviceTotalMem_v2(&bytes, 1));
    CHECK(bytes == (size_t)1 << 30);
    OK(cuDeviceCanAccessPeer(&value, 0, 1));
    CHECK(value == 1);
    OK(cuDeviceCanAccessPeer(&value, 1, 1));
    CHECK(value == 0);
    OK(cuDeviceGetP2PAttribute(&value, 2, 0, 1));
    CHECK(value == 1);
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetP2PAttribute(&value, 2, 1, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetP2PAttribute(&value, 77, 0, 1));
    CUcontext contexts[2];
    OK(cuCtxCreate_v2(&contexts[1], 0, 1));
    CUdevice device = -1;
    OK(cuCtxGetDevice(&device));
    CHECK(device == 1);
    const CUdeviceptr far = allocate(64);
    OK(cuMemsetD8_v2(far, 7, 64));
    OK(cuCtxCreate_v2(&contexts[0], 0, 0));
    GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(contexts[1]));
    OK(cuCtxEnablePeerAccess(contexts[1], 0));
    GIVES(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(contexts[1], 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxEnablePeerAccess(contexts[1], 1));
    unsigned char bytes_of[64] = {0};
    OK(cuMemcpyDtoH_v2(bytes_of, far, sizeof bytes_of));
    CHECK(bytes_of[0] == 7 && bytes_of[63] == 7);
    OK(cuPointerGetAttribute(&value, POINTER_DEVICE_ORDINAL, far));
    CHECK(value == 1);
    OK(cuCtxDisablePeerAccess(contexts[1]));
    OK(cuCtxDestroy_v2(contexts[0]));
    OK(cuCtxDestroy_v2(contexts[1]));
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "several") == 0) {
        OK(cuInit(0));
        devices_have_numbers(2);
        a_device_has_a_name("halfbyte sm_90");
        several_devices_are_peers();
    } else if (strcmp(mode, "none") == 0) {
        int count = -1;
        GIVES(CUDA_ERROR_NO_DEVICE, cuInit(0));
        GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    } else {
        most_functions_need_initialisation();
        codes_have_names();
        devices_have_numbers(1);
        a_device_has_a_name("halfbyte sm_80");
        attributes_are_those_of_sm_80();
    }
    return finish();
}
