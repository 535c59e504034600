// Declarations of CUDA C++ for clang without the CUDA headers.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define INT_MIN (-__INT_MAX__ - 1)
#define INT_MAX __INT_MAX__
#define CUDA_VERSION 12000
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

typedef __SIZE_TYPE__ size_t;
typedef unsigned int cuuint32_t;

#define HALFBYTE_VECTORS(type, name, align2, align4)                                                                   \
    struct name##1 { type x; };                                                                                        \
    struct __align__(align2) name##2 { type x, y; };                                                                   \
    struct name##3 { type x, y, z; };                                                                                  \
    struct __align__(align4) name##4 { type x, y, z, w; };                                                             \
    static inline __host__ __device__ name##1 make_##name##1(type x) { return {x}; }                                   \
    static inline __host__ __device__ name##2 make_##name##2(type x, type y) { return {x, y}; }                        \
    static inline __host__ __device__ name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }             \
    static inline __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
HALFBYTE_VECTORS(signed char, char, 2, 4)
HALFBYTE_VECTORS(unsigned char, uchar, 2, 4)
HALFBYTE_VECTORS(short, short, 4, 8)
HALFBYTE_VECTORS(unsigned short, ushort, 4, 8)
HALFBYTE_VECTORS(int, int, 8, 16)
HALFBYTE_VECTORS(unsigned int, uint, 8, 16)
HALFBYTE_VECTORS(long, long, 16, 16)
HALFBYTE_VECTORS(unsigned long, ulong, 16, 16)
HALFBYTE_VECTORS(long long, longlong, 16, 16)
HALFBYTE_VECTORS(unsigned long long, ulonglong, 16, 16)
HALFBYTE_VECTORS(float, float, 8, 16)
HALFBYTE_VECTORS(double, double, 16, 16)
#undef HALFBYTE_VECTORS

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};

#include <__clang_cuda_builtin_vars.h>

#include <__clang_cuda_libdevice_declares.h>

#include <__clang_cuda_device_functions.h>

#include <__clang_cuda_math.h>

// The header of intrinsics for sm_90 uses these functions before it declares them.
static inline __device__ unsigned __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
static inline __device__ size_t __cvta_generic_to_shared(const void *p) {
    return (size_t)(__attribute__((address_space(3))) const void *)p;
}

#include <__clang_cuda_intrinsics.h>

extern "C" {
__device__ int printf(const char *, ...);
__device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t bytes);
}
#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __PRETTY_FUNCTION__, 1))

#define HALFBYTE_ATOMICS(type)                                                                                         \
    static inline __device__ type atomicAdd(type *p, type v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }    \
    static inline __device__ type atomicSub(type *p, type v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }    \
    static inline __device__ type atomicMin(type *p, type v) { return __atomic_fetch_min(p, v, __ATOMIC_RELAXED); }    \
    static inline __device__ type atomicMax(type *p, type v) { return __atomic_fetch_max(p, v, __ATOMIC_RELAXED); }    \
    static inline __device__ type atomicAnd(type *p, type v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }    \
    static inline __device__ type atomicOr(type *p, type v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }      \
    static inline __device__ type atomicXor(type *p, type v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }    \
    static inline __device__ type atomicExch(type *p, type v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }  \
    static inline __device__ type atomicCAS(type *p, type old, type v) {                                               \
        __atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                            \
        return old;                                                                                                    \
    }
HALFBYTE_ATOMICS(int)
HALFBYTE_ATOMICS(unsigned int)
HALFBYTE_ATOMICS(unsigned long long)
#undef HALFBYTE_ATOMICS
static inline __device__ float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
static inline __device__ double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
