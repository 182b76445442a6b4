package cstyle

// HIP is HIP C++ for AMD's compiler, by its built-in functions alone: no header
// of HIP has to be there. The program is a namespace, so that its names are not
// those of a header that is.
var HIP = &Style{
	Name: "HIP",
	Head: hipHead, Foot: "\n} // namespace sinter\n",
	// All 16 steps at once bring more operands than there are registers.
	Unroll: "#pragma unroll 4",
	Pairs:  "#pragma unroll 2",
	Rolled: "#pragma unroll 1",
	// For gfx1100 the compiler spills what would be on its way to a second stage.
	OneStage: true,
	Types:    types,
	Entry:    "KERNEL(ITEMS) void",
	Helper:   "DEVICE",
	Global:   "",
	Restrict: "__restrict__ ", Shared: "__shared__",
	Work:          "(long)__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x()",
	Group:         "__builtin_amdgcn_workgroup_id_x()",
	Item:          "__builtin_amdgcn_workitem_id_x()",
	BarrierShared: "barrier();", // for all memory
	BarrierAll:    "barrier();",
	Float:         OpenCL.Float,
}

// HIPOptions ask the compiler for exact arithmetic.
var HIPOptions = []string{"-O3", "-std=c++17", "-ffp-contract=off", "-fno-fast-math", "-fhip-fp32-correctly-rounded-divide-sqrt"}

// hipHead makes OpenCL's names of HIP's. On Windows a long of HIP has 32 bits.
// The instruction for square roots is off by one place at most: the residual of
// a neighbour, which an FMA gives exactly, tells whether that is nearer; numbers
// whose residual could be lost are scaled first. Square roots of doubles are in
// the device library, and right there.
const hipHead = `#pragma clang fp contract(off)
#ifndef __device__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#endif
#ifndef KERNEL
#define KERNEL(items) extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(1, items)))
#endif
#define DEVICE static inline __device__
#define long __INT64_TYPE__

extern "C" __device__ double __ocml_sqrt_f64(double);

namespace sinter {

static_assert((char)-1 < 0, "char is a signed byte here");
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uint uint4 __attribute__((ext_vector_type(4)));

#define as_char(x) __builtin_bit_cast(char, x)
#define as_uchar(x) __builtin_bit_cast(uchar, x)
#define as_short(x) __builtin_bit_cast(short, x)
#define as_ushort(x) __builtin_bit_cast(ushort, x)
#define as_int(x) __builtin_bit_cast(int, x)
#define as_uint(x) __builtin_bit_cast(uint, x)
#define as_long(x) __builtin_bit_cast(long, x)
#define as_ulong(x) __builtin_bit_cast(ulong, x)
#define as_float(x) __builtin_bit_cast(float, x)
#define as_double(x) __builtin_bit_cast(double, x)

DEVICE float fabs(float x) { return __builtin_fabsf(x); }
DEVICE double fabs(double x) { return __builtin_fabs(x); }
DEVICE float trunc(float x) { return __builtin_truncf(x); }
DEVICE double trunc(double x) { return __builtin_trunc(x); }
DEVICE float floor(float x) { return __builtin_floorf(x); }
DEVICE double floor(double x) { return __builtin_floor(x); }
DEVICE float rint(float x) { return __builtin_rintf(x); }
DEVICE double rint(double x) { return __builtin_rint(x); }
DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
DEVICE double sqrt(double x) { return __ocml_sqrt_f64(x); }
DEVICE float sqrt(float x) {
	const bool tiny = x < 0x1p-96f;
	const float a = tiny ? x * 0x1p32f : x;
	const float s = __builtin_amdgcn_sqrtf(a);
	const float below = as_float(as_uint(s) - 1), above = as_float(as_uint(s) + 1);
	float r = fma(-below, s, a) <= 0 ? below : s;
	r = fma(-above, s, a) > 0 ? above : r;
	r = a == 0 || a == __builtin_inff() ? a : r;
	return tiny ? r * 0x1p-16f : r;
}
DEVICE void barrier() {
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
`
