// Tests allocations, copies, fills and attributes of memory. It runs with HALFBYTE_MAX_MEMORY=16M.
#include "checks.h"

#define MIB ((size_t)1 << 20)
#define COUNT(of) (sizeof of / sizeof *of)

static void allocations_are_aligned_and_not_zero(void) {
    CUdeviceptr address = 0, start = 0;
    size_t free_before = 0, free_after = 0, total = 0, bytes = 0;
    OK(cuMemGetInfo_v2(&free_before, &total));
    CHECK(total == 16 * MIB && free_before == total);
    const size_t sizes[] = {1, 44, 256, 100000};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        address = allocate(sizes[i]);
        CHECK(address % 256 == 0 && address != 0);
        // A program that relies on zeros must fail here, because it may fail on a GPU.
        unsigned char first = 0;
        OK(cuMemcpyDtoH_v2(&first, address, 1));
        CHECK(first != 0);
        OK(cuMemGetAddressRange_v2(&start, &bytes, address + sizes[i] - 1));
        CHECK(start == address && bytes == sizes[i]);
        OK(cuMemGetAddressRange_v2(NULL, NULL, address));
        OK(cuMemGetInfo_v2(&free_after, &total));
        CHECK(free_after + sizes[i] <= free_before);
        OK(cuMemFree_v2(address));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(address));
        CHECK(cuMemGetAddressRange_v2(&start, &bytes, address) != CUDA_SUCCESS);
    }
    OK(cuMemGetInfo_v2(&free_after, &total));
    CHECK(free_after == free_before);
    OK(cuMemFree_v2(0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(&address, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(NULL, 4));
    address = allocate(512);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(address + 256));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2((CUdeviceptr)(uintptr_t)&bytes));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost((void *)(uintptr_t)address));
    OK(cuMemFree_v2(address));
}

// Test suites allocate until the memory is exhausted.
static void memory_is_limited(void) {
    CUdeviceptr held[32], address = 0;
    size_t count = 0, free = 0, total = 0;
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&address, 17 * MIB));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&address, SIZE_MAX));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&address, SIZE_MAX / 2));
    while (count < COUNT(held) && cuMemAlloc_v2(&held[count], MIB) == CUDA_SUCCESS) count++;
    CHECK(count > 8 && count <= 16);
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&address, MIB));
    OK(cuMemGetInfo_v2(&free, &total));
    CHECK(free < MIB);
    // The error is not sticky.
    OK(cuCtxSynchronize());
    OK(cuMemFree_v2(held[--count]));
    OK(cuMemAlloc_v2(&held[count++], MIB));
    while (count > 0) OK(cuMemFree_v2(held[--count]));
    address = allocate(12 * MIB);
    OK(cuMemFree_v2(address));
}

static void copies_are_within_allocations(void) {
    unsigned words[16], found[16] = {0};
    for (unsigned i = 0; i < 16; i++) words[i] = i * i + 1;
    const CUdeviceptr x = allocate(64), y = allocate(64);
    const CUdeviceptr local = (CUdeviceptr)(uintptr_t)found;
    OK(cuMemcpyHtoD_v2(x, words, 64));
    OK(cuMemcpyDtoD_v2(y, x, 64));
    OK(cuMemcpyDtoH_v2(found, y, 64));
    CHECK(memcmp(words, found, sizeof words) == 0);
    OK(cuMemcpyHtoDAsync_v2(x + 8, words, 8, NULL));
    OK(cuMemcpyDtoHAsync_v2(found, x + 4, 12, NULL));
    CHECK(found[0] == 2 && found[1] == 1 && found[2] == 2);
    // The direction of this copy follows from the addresses.
    OK(cuMemcpy(local, y, 64));
    CHECK(memcmp(words, found, sizeof words) == 0);
    OK(cuMemcpy(x, local, 64));
    OK(cuMemcpyHtoD_v2(x, NULL, 0));
    OK(cuMemcpyDtoD_v2(x, x + 32, 32));
    const struct {
        CUdeviceptr address;
        size_t bytes;
    } wrong[] = {{x, 65}, {x + 61, 4}, {x + 64, 1}, {x - 4, 8}, {0, 4}, {x, SIZE_MAX}, {x + 256, 4}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const CUdeviceptr address = wrong[i].address;
        const size_t bytes = wrong[i].bytes;
        if (!GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(address, words, bytes)) ||
            !GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(found, address, bytes)) ||
            !GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD_v2(y, address, bytes)) ||
            !GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD_v2(address, y, bytes)) ||
            !GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy(address, y, bytes)) ||
            !GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(address, 1, bytes))) {
            printf("case %d\n", (int)i);
        }
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(x, NULL, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(NULL, x, 4));
    // Memory of the host is no memory of a device.
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD_v2(x, local, 4));
    OK(cuMemFree_v2(x));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(found, x, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy(local, x, 4));
    OK(cuMemFree_v2(y));
}

static void copies_of_rows(void) {
    // Three rows of 4 bytes out of a matrix with rows of 8 bytes, to a matrix with rows of 512 bytes.
    unsigned char matrix[5][8], found[3][4];
    for (int i = 0; i < 40; i++) matrix[i / 8][i % 8] = (unsigned char)(i + 1);
    CUdeviceptr pitched = 0;
    size_t pitch = 0;
    OK(cuMemAllocPitch_v2(&pitched, &pitch, 8, 5, 4));
    CHECK(pitch >= 8 && pitch % 4 == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch_v2(&pitched, NULL, 8, 5, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch_v2(&pitched, &pitch, 0, 5, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch_v2(&pitched, &pitch, 8, 5, 3));
    CUDA_MEMCPY2D up = {
        .from_x = 2, .from_y = 1, .from_type = MEMORY_HOST, .from_host = matrix, .from_pitch = 8,
        .to_x = 1, .to_y = 1, .to_type = MEMORY_DEVICE, .to_device = pitched, .to_pitch = pitch, .width = 4, .height = 3,
    };
    OK(cuMemcpy2D_v2(&up));
    CUDA_MEMCPY2D down = {
        .from_x = 1, .from_y = 1, .from_type = MEMORY_UNIFIED, .from_device = pitched, .from_pitch = pitch,
        .to_type = MEMORY_HOST, .to_host = found, .to_pitch = 4, .width = 4, .height = 3,
    };
    OK(cuMemcpy2DUnaligned_v2(&down));
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 4; column++) CHECK(found[row][column] == matrix[row + 1][column + 2]);
    }
    // A single row needs no pitch.
    CUDA_MEMCPY2D row = up;
    row.from_x = row.from_y = row.to_x = row.to_y = row.from_pitch = row.to_pitch = 0;
    row.height = 1;
    OK(cuMemcpy2D_v2(&row));
    CUDA_MEMCPY2D wrong[] = {row, up, up, up, up, up, up};
    wrong[0].height = 2;
    wrong[1].from_pitch = 5;
    wrong[2].to_pitch = 4;
    wrong[3].height = 5;
    wrong[4].to_device = 0;
    wrong[5].from_host = NULL;
    wrong[6].from_type = 9;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (!GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&wrong[i]))) printf("case %d\n", (int)i);
    }
    up.to_type = MEMORY_ARRAY;
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemcpy2D_v2(&up));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(NULL));
    up.to_type = MEMORY_DEVICE;
    up.width = 0;
    OK(cuMemcpy2D_v2(&up));
    OK(cuMemFree_v2(pitched));
}

static void copies_of_layers(void) {
    // The corner of 2 layers, 2 rows and 2 bytes of a cube of 4 layers, 3 rows and 5 bytes.
    unsigned char cube[60], found[8];
    for (int i = 0; i < 60; i++) cube[i] = (unsigned char)(i + 1);
    const CUdeviceptr device = allocate(60);
    CUDA_MEMCPY3D all = {
        .from_type = MEMORY_HOST, .from_host = cube, .from_pitch = 5, .from_height = 3,
        .to_type = MEMORY_DEVICE, .to_device = device, .to_pitch = 5, .to_height = 3, .width = 5, .height = 3, .depth = 4,
    };
    OK(cuMemcpy3D_v2(&all));
    CUDA_MEMCPY3D corner = {
        .from_x = 3, .from_y = 1, .from_z = 2, .from_type = MEMORY_DEVICE, .from_device = device, .from_pitch = 5, .from_height = 3,
        .to_type = MEMORY_HOST, .to_host = found, .to_pitch = 2, .to_height = 2, .width = 2, .height = 2, .depth = 2,
    };
    OK(cuMemcpy3D_v2(&corner));
    for (int i = 0; i < 8; i++) CHECK(found[i] == cube[(2 + i / 4) * 15 + (1 + i / 2 % 2) * 5 + 3 + i % 2]);
    CUDA_MEMCPY3D wrong[] = {corner, corner, corner, corner, all};
    wrong[0].depth = 3;
    wrong[1].from_height = 2;
    wrong[2].from_pitch = 4;
    wrong[3].from_level = 1;
    wrong[4].to_device = device + 1;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (!GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D_v2(&wrong[i]))) printf("case %d\n", (int)i);
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D_v2(NULL));
    OK(cuMemFree_v2(device));
}

static void fills_count_elements(void) {
    unsigned char found[64];
    const CUdeviceptr x = allocate(64);
    OK(cuMemsetD8_v2(x, 0x11, 64));
    OK(cuMemsetD16_v2(x + 2, 0x2233, 3));
    OK(cuMemsetD32_v2(x + 8, 0x44556677, 2));
    OK(cuMemsetD32Async(x + 60, 0x8899aabb, 1, NULL));
    OK(cuMemcpyDtoH_v2(found, x, 64));
    const unsigned char begin[17] = {0x11, 0x11, 0x33, 0x22, 0x33, 0x22, 0x33, 0x22, 0x77,
                                     0x66, 0x55, 0x44, 0x77, 0x66, 0x55, 0x44, 0x11};
    CHECK(memcmp(found, begin, sizeof begin) == 0 && found[59] == 0x11 && found[60] == 0xbb && found[63] == 0x88);
    OK(cuMemsetD2D32_v2(x, 16, 0, 2, 3));
    OK(cuMemcpyDtoH_v2(found, x, 64));
    CHECK(found[7] == 0 && found[8] == 0x77 && found[39] == 0 && found[40] == 0x11 && found[48] == 0x11);
    OK(cuMemsetD8_v2(x, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD16_v2(x + 1, 1, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(x + 2, 1, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(x, 1, 17));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(x, 1, SIZE_MAX / 4 + 2));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32_v2(x, 4, 1, 2, 2));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32_v2(x, 16, 1, 2, 5));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuMemsetD32Async(x, 1, 1, (CUstream)found));
    OK(cuMemFree_v2(x));
}

static void memory_of_the_host(void) {
    void *host = NULL;
    CUdeviceptr device = 0;
    unsigned flags = 99, word = 7;
    if (!OK(cuMemAllocHost_v2(&host, 100))) return;
    memset(host, 5, 100);
    OK(cuMemHostGetDevicePointer_v2(&device, host, 0));
    CHECK(device == (CUdeviceptr)(uintptr_t)host);
    OK(cuMemcpy(device, device + 4, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2(&device, host, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2(&device, &word, 0));
    OK(cuMemFreeHost(host));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(&word));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocHost_v2(NULL, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&host, 4, 0x100));
    OK(cuMemHostAlloc(&host, 100, MEMHOSTALLOC_PORTABLE | MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetFlags(&flags, host));
    CHECK(flags == (MEMHOSTALLOC_PORTABLE | MEMHOSTALLOC_DEVICEMAP));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostGetFlags(&flags, &word));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2((CUdeviceptr)(uintptr_t)host));
    OK(cuMemFreeHost(host));
}

static void registered_memory(void) {
    unsigned words[4] = {1, 2, 3, 4};
    CUdeviceptr device = 0;
    GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(words));
    OK(cuMemHostRegister_v2(words, sizeof words, 0));
    GIVES(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(words, sizeof words, 0));
    OK(cuMemHostGetDevicePointer_v2(&device, &words[1], 0));
    CHECK(device == (CUdeviceptr)(uintptr_t)&words[1]);
    OK(cuMemsetD32_v2(device, 9, 2));
    CHECK(words[0] == 1 && words[1] == 9 && words[2] == 9 && words[3] == 4);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(device, 9, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(words));
    OK(cuMemHostUnregister(words));
    GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(words));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(device, 9, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(NULL, 4, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(words, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(words, 4, 0x100));
}

static void managed_memory_is_that_of_both(void) {
    CUdeviceptr managed = 0;
    unsigned found = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&managed, 64, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&managed, 0, MEM_ATTACH_GLOBAL));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocManaged(&managed, 17 * MIB, MEM_ATTACH_GLOBAL));
    if (!OK(cuMemAllocManaged(&managed, 64, MEM_ATTACH_GLOBAL))) return;
    *(unsigned *)(uintptr_t)managed = 123;
    OK(cuMemcpyDtoH_v2(&found, managed, 4));
    CHECK(found == 123);
    OK(cuMemFree_v2(managed));
}

static unsigned word_of(unsigned attribute, CUdeviceptr address) {
    unsigned value = 99;
    OK(cuPointerGetAttribute(&value, attribute, address));
    return value;
}

static void addresses_have_attributes(CUcontext context) {
    const CUdeviceptr x = allocate(100), y = allocate(100);
    CUdeviceptr managed = 0, start = 0;
    void *host = NULL, *pointer = NULL;
    size_t bytes = 0;
    unsigned long long ids[2] = {0, 0};
    CUcontext owner = NULL;
    OK(cuMemAllocHost_v2(&host, 100));
    OK(cuMemAllocManaged(&managed, 100, MEM_ATTACH_GLOBAL));
    const CUdeviceptr of_host = (CUdeviceptr)(uintptr_t)host, local = (CUdeviceptr)(uintptr_t)&bytes;
    CHECK(word_of(POINTER_MEMORY_TYPE, x + 99) == MEMORY_DEVICE && word_of(POINTER_MEMORY_TYPE, of_host) == MEMORY_HOST);
    CHECK(word_of(POINTER_DEVICE_ORDINAL, x) == 0);
    OK(cuPointerGetAttribute(&owner, POINTER_CONTEXT, x));
    CHECK(owner == context);
    OK(cuPointerGetAttribute(&start, POINTER_DEVICE_POINTER, x + 8));
    CHECK(start == x + 8);
    OK(cuPointerGetAttribute(&start, POINTER_RANGE_START, x + 8));
    OK(cuPointerGetAttribute(&bytes, POINTER_RANGE_SIZE, x + 8));
    CHECK(start == x && bytes == 100);
    OK(cuPointerGetAttribute(&pointer, POINTER_HOST_POINTER, of_host));
    CHECK(pointer == host);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&pointer, POINTER_HOST_POINTER, x));
    OK(cuPointerGetAttribute(&ids[0], POINTER_BUFFER_ID, x));
    OK(cuPointerGetAttribute(&ids[1], POINTER_BUFFER_ID, y));
    CHECK(ids[0] != ids[1]);
    CHECK(word_of(POINTER_IS_MANAGED, managed) == 1 && word_of(POINTER_IS_MANAGED, x) == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&bytes, POINTER_MEMORY_TYPE, local));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&bytes, POINTER_MEMORY_TYPE, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&bytes, 1000, x));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(NULL, POINTER_MEMORY_TYPE, x));
    // The plural form succeeds for unknown addresses.
    unsigned type = 99, numbers[] = {POINTER_MEMORY_TYPE, POINTER_RANGE_SIZE};
    void *values[] = {&type, &bytes};
    OK(cuPointerGetAttributes(2, numbers, values, x));
    CHECK(type == MEMORY_DEVICE && bytes == 100);
    OK(cuPointerGetAttributes(2, numbers, values, local));
    CHECK(type == 0 && bytes == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttributes(2, NULL, values, x));
    OK(cuMemFree_v2(x));
    OK(cuMemFree_v2(y));
    OK(cuMemFree_v2(managed));
    OK(cuMemFreeHost(host));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, x));
}

static void pools_count_their_memory(void) {
    CUmemoryPool pool = NULL;
    CUdeviceptr first = 0, second = 0;
    uint64_t used = 99, high = 99;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolGetAttribute(pool, MEMPOOL_USED_CURRENT, &used));
    CHECK(used == 0);
    OK(cuMemAllocAsync(&first, 1000, NULL));
    OK(cuMemAllocAsync(&second, 1000, NULL));
    OK(cuMemsetD8_v2(first, 1, 1000));
    OK(cuMemPoolGetAttribute(pool, MEMPOOL_USED_CURRENT, &used));
    CHECK(used >= 2000);
    OK(cuMemFreeAsync(first, NULL));
    OK(cuMemFree_v2(second));
    OK(cuMemPoolGetAttribute(pool, MEMPOOL_USED_CURRENT, &used));
    OK(cuMemPoolGetAttribute(pool, MEMPOOL_USED_HIGH, &high));
    CHECK(used == 0 && high >= 2000);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(first, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocAsync(&first, 0, NULL));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocAsync(&first, 17 * MIB, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuMemAllocAsync(&first, 4, (CUstream)&used));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute((CUmemoryPool)&used, MEMPOOL_USED_CURRENT, &used));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(pool, 1000, &used));
}

int main(void) {
    const CUcontext context = start();
    allocations_are_aligned_and_not_zero();
    memory_is_limited();
    copies_are_within_allocations();
    copies_of_rows();
    copies_of_layers();
    fills_count_elements();
    memory_of_the_host();
    registered_memory();
    managed_memory_is_that_of_both();
    addresses_have_attributes(context);
    pools_count_their_memory();
    OK(cuCtxDestroy_v2(context));
    return finish();
}
