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
DEVICE ushort float_to_bfloat(float x) {
	uint b = as_uint(x);
	uint r = (b + 0x7fffu + (b >> 16 & 1u)) >> 16;
	return (ushort)((b & 0x7fffffffu) > 0x7f800000u ? b >> 16 | 0x40u : r);
}
DEVICE float scale(float x, float n) {
	uint k = as_uint(n + 12582912.0f) - 0x4b400000u;
	uint first = (uint)((int)k >> 1);
	return x * as_float(first + 127u << 23) * as_float(k - first + 127u << 23);
}
DEVICE long checked_index(long x, long n, int *word) {
	if (x < 0 || x >= n) {
		*word = 1;
		return x < 0 ? 0 : n - 1;
	}
	return x;
}
DEVICE float at_least_float(float x, float c) { return x < c ? c : x; }
DEVICE float at_most_float(float x, float c) { return x > c ? c : x; }
DEVICE float max_float(float x, float y) {
	return x > y || x != x ? x : x == y ? as_float(as_uint(x) & as_uint(y)) : y;
}
DEVICE long div_long(long x, long y) {
	if (y == -1) return (long)(0 - (ulong)x);
	long q = x / y;
	return q - (long)(x % y != 0 && (x < 0) != (y < 0));
}

// softmax
KERNEL(32) void softmax_gpu(const float *__restrict__ p0, const long o1, const int *__restrict__ p1, const long o2, ushort *__restrict__ p3, const long o4, int *__restrict__ status, const long o0, const long d0, const long start, const long end, const long chunk) {
	const int item = __builtin_amdgcn_workitem_id_x();
	const long worker = __builtin_amdgcn_workgroup_id_x();
	p0 += o1;
	p1 += o2;
	p3 += o4;
	status += o0;
	__shared__ float p2[48];
	__shared__ float p4[32];
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long r_ = from; r_ < to; r_++) {
		const long t1 = checked_index((long)p1[r_], d0, status + 0);
		long row_ = t1;
		float top_ = as_float(0xff800000u);
		barrier();
		{
			const long item_ = item;
			float top_part_ = as_float(0xff800000u);
			for (long turn_ = 0L, turn__end = div_long(((48L - item_) + 31L), 32L); turn_ < turn__end; turn_++) {
				top_part_ = max_float(top_part_, p0[(long)((ulong)(long)((ulong)row_ * (ulong)48L) + (ulong)(item_ + (turn_ * 32L)))]);
			}
			p4[item_] = top_part_;
		}
		barrier();
		if (item < 16) {
			const long item_2 = item;
			p4[item_2] = max_float(p4[item_2], p4[(item_2 + 16L)]);
		}
		barrier();
		if (item < 8) {
			const long item_3 = item;
			p4[item_3] = max_float(p4[item_3], p4[(item_3 + 8L)]);
		}
		barrier();
		if (item < 4) {
			const long item_4 = item;
			p4[item_4] = max_float(p4[item_4], p4[(item_4 + 4L)]);
		}
		barrier();
		if (item < 2) {
			const long item_5 = item;
			p4[item_5] = max_float(p4[item_5], p4[(item_5 + 2L)]);
		}
		barrier();
		if (item < 1) {
			const long item_6 = item;
			p4[item_6] = max_float(p4[item_6], p4[(item_6 + 1L)]);
		}
		barrier();
		top_ = max_float(top_, p4[0L]);
		float total_ = 0x0p+00f;
		barrier();
		{
			const long item_7 = item;
			float total_part_ = 0x0p+00f;
			for (long turn_2 = 0L, turn_2_end = div_long(((48L - item_7) + 31L), 32L); turn_2 < turn_2_end; turn_2++) {
				const long t2 = (item_7 + (turn_2 * 32L));
				const float t3 = at_most_float(at_least_float((p0[(long)((ulong)(long)((ulong)row_ * (ulong)48L) + (ulong)t2)] - top_), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t4 = (fma(t3, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t5 = fma(t4, 0x1.05c61p-29f, fma(t4, (-0x1.62e43p-01f), t3));
				p2[t2] = scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t5, 0x1.12399ap-07f), t5, 0x1.5558b4p-05f), t5, 0x1.555492p-03f), t5, 0x1.fffffcp-02f), t5, 0x1p+00f), t5, 0x1p+00f), t4);
				const float t6 = at_most_float(at_least_float((p0[(long)((ulong)(long)((ulong)row_ * (ulong)48L) + (ulong)(item_7 + (turn_2 * 32L)))] - top_), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t7 = (fma(t6, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t8 = fma(t7, 0x1.05c61p-29f, fma(t7, (-0x1.62e43p-01f), t6));
				total_part_ = (total_part_ + scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t8, 0x1.12399ap-07f), t8, 0x1.5558b4p-05f), t8, 0x1.555492p-03f), t8, 0x1.fffffcp-02f), t8, 0x1p+00f), t8, 0x1p+00f), t7));
			}
			p4[item_7] = total_part_;
		}
		barrier();
		if (item < 16) {
			const long item_8 = item;
			p4[item_8] = (p4[item_8] + p4[(item_8 + 16L)]);
		}
		barrier();
		if (item < 8) {
			const long item_9 = item;
			p4[item_9] = (p4[item_9] + p4[(item_9 + 8L)]);
		}
		barrier();
		if (item < 4) {
			const long item_10 = item;
			p4[item_10] = (p4[item_10] + p4[(item_10 + 4L)]);
		}
		barrier();
		if (item < 2) {
			const long item_11 = item;
			p4[item_11] = (p4[item_11] + p4[(item_11 + 2L)]);
		}
		barrier();
		if (item < 1) {
			const long item_12 = item;
			p4[item_12] = (p4[item_12] + p4[(item_12 + 1L)]);
		}
		barrier();
		total_ = (total_ + p4[0L]);
		{
			const long item_13 = item;
			for (long turn_3 = 0L, turn_3_end = div_long(((48L - item_13) + 31L), 32L); turn_3 < turn_3_end; turn_3++) {
				const long t9 = (item_13 + (turn_3 * 32L));
				p3[((r_ * 48L) + t9)] = float_to_bfloat((p2[t9] / total_));
			}
		}
	}
}

} // namespace sinter
