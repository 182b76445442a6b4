#pragma clang fp contract(off)
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
DEVICE int mod_int(int x, int y) {
	if (y == -1) return 0;
	int r = x % y;
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
DEVICE int max_int(int x, int y) { return x < y ? y : x; }
DEVICE int shl_int(int x, int y) { return (ulong)(long)y < 32 ? (int)((uint)x << ((ulong)(long)y & 31)) : 0; }

// integers
KERNEL(256) void integers(const int *__restrict__ p0, const long o1, int *__restrict__ p1, const long o2, const uchar *__restrict__ p2, const long o3, const long start, const long end, const long chunk) {
	const long worker = (long)__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
	p0 += o1;
	p1 += o2;
	p2 += o3;
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long i_ = from; i_ < to; i_++) {
		if ((i_ < 7L)) p1[i_] = (int)((uint)mod_int(max_int(p0[i_], shl_int(p1[i_], p0[(8L - i_)])), 7) + (uint)(int)((2L < i_) ? p2[i_] : 0u));
	}
}

} // namespace sinter
