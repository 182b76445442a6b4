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
DEVICE float bfloat_to_float(ushort h) { return as_float((uint)h << 16); }
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
DEVICE float at_least_float(float x, float c) { return x < c ? c : x; }
DEVICE float at_most_float(float x, float c) { return x > c ? c : x; }
DEVICE long div_long(long x, long y) {
	if (y == -1) return (long)(0 - (ulong)x);
	long q = x / y;
	return q - (long)(x % y != 0 && (x < 0) != (y < 0));
}
DEVICE long mod_long(long x, long y) {
	if (y == -1) return 0;
	long r = x % y;
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
DEVICE long min_long(long x, long y) { return x < y ? x : y; }

// attention
KERNEL(256) void attention(const ushort *__restrict__ p0, const long o1, const ushort *__restrict__ p1, const long o2, const ushort *__restrict__ p2, const long o3, float *__restrict__ p3, const long o4, float *__restrict__ p4, const long o5, const long d0, const long d1, const long d2, const long start, const long end, const long chunk) {
	const int item = __builtin_amdgcn_workitem_id_x();
	const long worker = __builtin_amdgcn_workgroup_id_x();
	p0 += o1;
	p1 += o2;
	p2 += o3;
	p3 += o4;
	p4 += o5;
	__shared__ float p5[4160];
	__shared__ float p6[2080];
	__shared__ float p7[2112];
	__shared__ float p8[512];
	float p9[8];
	float p10[16];
	float p11[2];
	float p12[2];
	long p13[2];
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long tile_ = from; tile_ < to; tile_++) {
		long kvhead_ = ((tile_ / ((d0 + 63L) / 64L)) % 2L);
		long first_ = ((tile_ % ((d0 + 63L) / 64L)) * 64L);
		long seq_ = (tile_ / (((d0 + 63L) / 64L) * 2L));
		long last_ = min_long((long)((ulong)first_ + (ulong)64L), d0);
		long i0_ = div_long(first_, 2L);
		long i1_ = div_long((long)((ulong)last_ + (ulong)(-1L)), 2L);
		barrier();
		{
			const long item_ = item;
			#pragma unroll 1
			for (long strip_ = 0L, strip__end = 4L; strip_ < strip__end; strip_++) {
				#pragma unroll 2
				for (long step_ = 0L, step__end = 4L; step_ < step__end; step_++) {
					long f_ = min_long((long)((ulong)first_ + (ulong)(((((strip_ * 4L) + step_) * 256L) + item_) / 64L)), (long)((ulong)last_ + (ulong)(-1L)));
					const long t1 = ((((strip_ * 4L) + step_) * 256L) + item_);
					const long t2 = (t1 % 64L);
					p5[(((t1 / 64L) * 65L) + t2)] = (float)bfloat_to_float(p0[(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)seq_ * (ulong)4L) + (ulong)(long)((ulong)(long)((ulong)kvhead_ * (ulong)2L) + (ulong)mod_long(f_, 2L))) * (ulong)d1) + (ulong)div_long(f_, 2L)) * (ulong)64L) + (ulong)t2)]);
				}
			}
			long f_2 = min_long((long)((ulong)first_ + (ulong)(item_ / 8L)), (long)((ulong)last_ + (ulong)(-1L)));
			p13[0] = div_long(f_2, 2L);
			p11[0] = as_float(0xff800000u);
			p12[0] = 0x0p+00f;
			p10[0] = 0x0p+00f;
			p10[1] = 0x0p+00f;
			p10[2] = 0x0p+00f;
			p10[3] = 0x0p+00f;
			p10[4] = 0x0p+00f;
			p10[5] = 0x0p+00f;
			p10[6] = 0x0p+00f;
			p10[7] = 0x0p+00f;
			long f_3 = min_long((long)((ulong)first_ + (ulong)((item_ / 8L) + 32L)), (long)((ulong)last_ + (ulong)(-1L)));
			p13[1] = div_long(f_3, 2L);
			p11[1] = as_float(0xff800000u);
			p12[1] = 0x0p+00f;
			p10[8] = 0x0p+00f;
			p10[9] = 0x0p+00f;
			p10[10] = 0x0p+00f;
			p10[11] = 0x0p+00f;
			p10[12] = 0x0p+00f;
			p10[13] = 0x0p+00f;
			p10[14] = 0x0p+00f;
			p10[15] = 0x0p+00f;
		}
		#pragma unroll 1
		for (long block_ = (0L / 32L), block__end = div_long((long)((ulong)(long)((ulong)(long)((ulong)i1_ + (ulong)d2) - (ulong)d1) + (ulong)32L), 32L); block_ < block__end; block_++) {
			long j0_ = (block_ * 32L);
			barrier();
			{
				const long item_2 = item;
				#pragma unroll 1
				for (long strip_2 = 0L, strip_2_end = 2L; strip_2 < strip_2_end; strip_2++) {
					#pragma unroll 2
					for (long step_2 = 0L, step_2_end = 4L; step_2 < step_2_end; step_2++) {
						const long t3 = ((((strip_2 * 4L) + step_2) * 256L) + item_2);
						const long t4 = (t3 / 64L);
						const long t5 = (t3 % 64L);
						p6[((t4 * 65L) + t5)] = (float)bfloat_to_float(p1[(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)seq_ * (ulong)2L) + (ulong)kvhead_) * (ulong)d2) + (ulong)min_long((long)((ulong)j0_ + (ulong)t4), (d2 + (-1L)))) * (ulong)64L) + (ulong)t5)]);
					}
				}
			}
			barrier();
			{
				const long item_3 = item;
				float dot_ = 0x0p+00f;
				float dot_2 = 0x0p+00f;
				float dot_3 = 0x0p+00f;
				float dot_4 = 0x0p+00f;
				float dot_5 = 0x0p+00f;
				float dot_6 = 0x0p+00f;
				float dot_7 = 0x0p+00f;
				float dot_8 = 0x0p+00f;
				#pragma unroll 1
				for (long strip_3 = 0L, strip_3_end = 16L; strip_3 < strip_3_end; strip_3++) {
					#pragma unroll 2
					for (long step_3 = 0L, step_3_end = 4L; step_3 < step_3_end; step_3++) {
						float q_ = p5[(((item_3 / 8L) * 65L) + ((strip_3 * 4L) + step_3))];
						float q_2 = p5[((((item_3 / 8L) * 65L) + 2080L) + ((strip_3 * 4L) + step_3))];
						float k_ = p6[(((item_3 % 8L) * 65L) + ((strip_3 * 4L) + step_3))];
						float k_2 = p6[((((item_3 % 8L) * 65L) + 520L) + ((strip_3 * 4L) + step_3))];
						float k_3 = p6[((((item_3 % 8L) * 65L) + 1040L) + ((strip_3 * 4L) + step_3))];
						float k_4 = p6[((((item_3 % 8L) * 65L) + 1560L) + ((strip_3 * 4L) + step_3))];
						dot_ = fma(q_, k_, dot_);
						dot_2 = fma(q_, k_2, dot_2);
						dot_3 = fma(q_, k_3, dot_3);
						dot_4 = fma(q_, k_4, dot_4);
						dot_5 = fma(q_2, k_, dot_5);
						dot_6 = fma(q_2, k_2, dot_6);
						dot_7 = fma(q_2, k_3, dot_7);
						dot_8 = fma(q_2, k_4, dot_8);
					}
				}
				long to_ = (long)((ulong)(long)((ulong)(long)((ulong)p13[0] + (ulong)d2) - (ulong)d1) + (ulong)1L);
				p9[0] = (((long)((ulong)j0_ + (ulong)(item_3 % 8L)) < to_) ? (dot_ * 0x1p-03f) : as_float(0xff800000u));
				p9[1] = (((long)((ulong)(long)((ulong)j0_ + (ulong)8L) + (ulong)(item_3 % 8L)) < to_) ? (dot_2 * 0x1p-03f) : as_float(0xff800000u));
				p9[2] = (((long)((ulong)(long)((ulong)j0_ + (ulong)16L) + (ulong)(item_3 % 8L)) < to_) ? (dot_3 * 0x1p-03f) : as_float(0xff800000u));
				p9[3] = (((long)((ulong)(long)((ulong)j0_ + (ulong)24L) + (ulong)(item_3 % 8L)) < to_) ? (dot_4 * 0x1p-03f) : as_float(0xff800000u));
				float most_ = p9[0];
				const float t6 = p9[1];
				most_ = ((most_ < t6) ? t6 : most_);
				const float t7 = p9[2];
				most_ = ((most_ < t7) ? t7 : most_);
				const float t8 = p9[3];
				most_ = ((most_ < t8) ? t8 : most_);
				p8[item_3] = most_;
				long to_2 = (long)((ulong)(long)((ulong)(long)((ulong)p13[1] + (ulong)d2) - (ulong)d1) + (ulong)1L);
				p9[4] = (((long)((ulong)j0_ + (ulong)(item_3 % 8L)) < to_2) ? (dot_5 * 0x1p-03f) : as_float(0xff800000u));
				p9[5] = (((long)((ulong)(long)((ulong)j0_ + (ulong)8L) + (ulong)(item_3 % 8L)) < to_2) ? (dot_6 * 0x1p-03f) : as_float(0xff800000u));
				p9[6] = (((long)((ulong)(long)((ulong)j0_ + (ulong)16L) + (ulong)(item_3 % 8L)) < to_2) ? (dot_7 * 0x1p-03f) : as_float(0xff800000u));
				p9[7] = (((long)((ulong)(long)((ulong)j0_ + (ulong)24L) + (ulong)(item_3 % 8L)) < to_2) ? (dot_8 * 0x1p-03f) : as_float(0xff800000u));
				float most_2 = p9[4];
				const float t9 = p9[5];
				most_2 = ((most_2 < t9) ? t9 : most_2);
				const float t10 = p9[6];
				most_2 = ((most_2 < t10) ? t10 : most_2);
				const float t11 = p9[7];
				most_2 = ((most_2 < t11) ? t11 : most_2);
				p8[((((item_3 / 8L) * 8L) + 256L) + (item_3 % 8L))] = most_2;
			}
			long full_ = (long)(bool)((0L < (long)((ulong)j0_ + (ulong)1L)) & ((long)((ulong)j0_ + (ulong)31L) < (long)((ulong)(long)((ulong)(long)((ulong)i0_ + (ulong)d2) - (ulong)d1) + (ulong)1L)));
			barrier();
			{
				const long item_4 = item;
				float top_ = p11[0];
				#pragma unroll 1
				for (long strip_4 = 0L, strip_4_end = 2L; strip_4 < strip_4_end; strip_4++) {
					#pragma unroll 2
					for (long step_4 = 0L, step_4_end = 4L; step_4 < step_4_end; step_4++) {
						const float t12 = p8[(((item_4 / 8L) * 8L) + ((strip_4 * 4L) + step_4))];
						top_ = ((top_ < t12) ? t12 : top_);
					}
				}
				float safe_ = ((top_ == as_float(0xff800000u)) ? 0x0p+00f : top_);
				const float t13 = at_most_float(at_least_float((p11[0] - safe_), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t14 = (fma(t13, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t15 = fma(t14, 0x1.05c61p-29f, fma(t14, (-0x1.62e43p-01f), t13));
				float factor_ = scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t15, 0x1.12399ap-07f), t15, 0x1.5558b4p-05f), t15, 0x1.555492p-03f), t15, 0x1.fffffcp-02f), t15, 0x1p+00f), t15, 0x1p+00f), t14);
				p11[0] = top_;
				const long t16 = (item_4 * 2L);
				p12[0] = (p12[0] * factor_);
				const long t17 = (item_4 * 16L);
				p10[0] = (p10[0] * factor_);
				const long t18 = ((item_4 * 16L) + 1L);
				p10[1] = (p10[1] * factor_);
				const long t19 = ((item_4 * 16L) + 2L);
				p10[2] = (p10[2] * factor_);
				const long t20 = ((item_4 * 16L) + 3L);
				p10[3] = (p10[3] * factor_);
				const long t21 = ((item_4 * 16L) + 4L);
				p10[4] = (p10[4] * factor_);
				const long t22 = ((item_4 * 16L) + 5L);
				p10[5] = (p10[5] * factor_);
				const long t23 = ((item_4 * 16L) + 6L);
				p10[6] = (p10[6] * factor_);
				const long t24 = ((item_4 * 16L) + 7L);
				p10[7] = (p10[7] * factor_);
				const float t25 = at_most_float(at_least_float((p9[0] - safe_), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t26 = (fma(t25, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t27 = fma(t26, 0x1.05c61p-29f, fma(t26, (-0x1.62e43p-01f), t25));
				p7[(((item_4 / 8L) * 33L) + (item_4 % 8L))] = (float)bfloat_to_float(float_to_bfloat(scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t27, 0x1.12399ap-07f), t27, 0x1.5558b4p-05f), t27, 0x1.555492p-03f), t27, 0x1.fffffcp-02f), t27, 0x1p+00f), t27, 0x1p+00f), t26)));
				const float t28 = at_most_float(at_least_float((p9[1] - safe_), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t29 = (fma(t28, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t30 = fma(t29, 0x1.05c61p-29f, fma(t29, (-0x1.62e43p-01f), t28));
				p7[(((item_4 / 8L) * 33L) + ((item_4 % 8L) + 8L))] = (float)bfloat_to_float(float_to_bfloat(scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t30, 0x1.12399ap-07f), t30, 0x1.5558b4p-05f), t30, 0x1.555492p-03f), t30, 0x1.fffffcp-02f), t30, 0x1p+00f), t30, 0x1p+00f), t29)));
				const float t31 = at_most_float(at_least_float((p9[2] - safe_), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t32 = (fma(t31, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t33 = fma(t32, 0x1.05c61p-29f, fma(t32, (-0x1.62e43p-01f), t31));
				p7[(((item_4 / 8L) * 33L) + ((item_4 % 8L) + 16L))] = (float)bfloat_to_float(float_to_bfloat(scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t33, 0x1.12399ap-07f), t33, 0x1.5558b4p-05f), t33, 0x1.555492p-03f), t33, 0x1.fffffcp-02f), t33, 0x1p+00f), t33, 0x1p+00f), t32)));
				const float t34 = at_most_float(at_least_float((p9[3] - safe_), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t35 = (fma(t34, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t36 = fma(t35, 0x1.05c61p-29f, fma(t35, (-0x1.62e43p-01f), t34));
				p7[(((item_4 / 8L) * 33L) + ((item_4 % 8L) + 24L))] = (float)bfloat_to_float(float_to_bfloat(scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t36, 0x1.12399ap-07f), t36, 0x1.5558b4p-05f), t36, 0x1.555492p-03f), t36, 0x1.fffffcp-02f), t36, 0x1p+00f), t36, 0x1p+00f), t35)));
				float top_2 = p11[1];
				#pragma unroll 1
				for (long strip_5 = 0L, strip_5_end = 2L; strip_5 < strip_5_end; strip_5++) {
					#pragma unroll 2
					for (long step_5 = 0L, step_5_end = 4L; step_5 < step_5_end; step_5++) {
						const float t37 = p8[((((item_4 / 8L) * 8L) + 256L) + ((strip_5 * 4L) + step_5))];
						top_2 = ((top_2 < t37) ? t37 : top_2);
					}
				}
				float safe_2 = ((top_2 == as_float(0xff800000u)) ? 0x0p+00f : top_2);
				const float t38 = at_most_float(at_least_float((p11[1] - safe_2), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t39 = (fma(t38, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t40 = fma(t39, 0x1.05c61p-29f, fma(t39, (-0x1.62e43p-01f), t38));
				float factor_2 = scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t40, 0x1.12399ap-07f), t40, 0x1.5558b4p-05f), t40, 0x1.555492p-03f), t40, 0x1.fffffcp-02f), t40, 0x1p+00f), t40, 0x1p+00f), t39);
				p11[1] = top_2;
				const long t41 = ((item_4 * 2L) + 1L);
				p12[1] = (p12[1] * factor_2);
				const long t42 = ((item_4 * 16L) + 8L);
				p10[8] = (p10[8] * factor_2);
				const long t43 = ((item_4 * 16L) + 9L);
				p10[9] = (p10[9] * factor_2);
				const long t44 = ((item_4 * 16L) + 10L);
				p10[10] = (p10[10] * factor_2);
				const long t45 = ((item_4 * 16L) + 11L);
				p10[11] = (p10[11] * factor_2);
				const long t46 = ((item_4 * 16L) + 12L);
				p10[12] = (p10[12] * factor_2);
				const long t47 = ((item_4 * 16L) + 13L);
				p10[13] = (p10[13] * factor_2);
				const long t48 = ((item_4 * 16L) + 14L);
				p10[14] = (p10[14] * factor_2);
				const long t49 = ((item_4 * 16L) + 15L);
				p10[15] = (p10[15] * factor_2);
				const float t50 = at_most_float(at_least_float((p9[4] - safe_2), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t51 = (fma(t50, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t52 = fma(t51, 0x1.05c61p-29f, fma(t51, (-0x1.62e43p-01f), t50));
				p7[((((item_4 / 8L) * 33L) + 1056L) + (item_4 % 8L))] = (float)bfloat_to_float(float_to_bfloat(scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t52, 0x1.12399ap-07f), t52, 0x1.5558b4p-05f), t52, 0x1.555492p-03f), t52, 0x1.fffffcp-02f), t52, 0x1p+00f), t52, 0x1p+00f), t51)));
				const float t53 = at_most_float(at_least_float((p9[5] - safe_2), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t54 = (fma(t53, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t55 = fma(t54, 0x1.05c61p-29f, fma(t54, (-0x1.62e43p-01f), t53));
				p7[((((item_4 / 8L) * 33L) + 1056L) + ((item_4 % 8L) + 8L))] = (float)bfloat_to_float(float_to_bfloat(scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t55, 0x1.12399ap-07f), t55, 0x1.5558b4p-05f), t55, 0x1.555492p-03f), t55, 0x1.fffffcp-02f), t55, 0x1p+00f), t55, 0x1p+00f), t54)));
				const float t56 = at_most_float(at_least_float((p9[6] - safe_2), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t57 = (fma(t56, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t58 = fma(t57, 0x1.05c61p-29f, fma(t57, (-0x1.62e43p-01f), t56));
				p7[((((item_4 / 8L) * 33L) + 1056L) + ((item_4 % 8L) + 16L))] = (float)bfloat_to_float(float_to_bfloat(scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t58, 0x1.12399ap-07f), t58, 0x1.5558b4p-05f), t58, 0x1.555492p-03f), t58, 0x1.fffffcp-02f), t58, 0x1p+00f), t58, 0x1p+00f), t57)));
				const float t59 = at_most_float(at_least_float((p9[7] - safe_2), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t60 = (fma(t59, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t61 = fma(t60, 0x1.05c61p-29f, fma(t60, (-0x1.62e43p-01f), t59));
				p7[((((item_4 / 8L) * 33L) + 1056L) + ((item_4 % 8L) + 24L))] = (float)bfloat_to_float(float_to_bfloat(scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t61, 0x1.12399ap-07f), t61, 0x1.5558b4p-05f), t61, 0x1.555492p-03f), t61, 0x1.fffffcp-02f), t61, 0x1p+00f), t61, 0x1p+00f), t60)));
				#pragma unroll 1
				for (long strip_6 = 0L, strip_6_end = 2L; strip_6 < strip_6_end; strip_6++) {
					#pragma unroll 2
					for (long step_6 = 0L, step_6_end = 4L; step_6 < step_6_end; step_6++) {
						const long t62 = ((((strip_6 * 4L) + step_6) * 256L) + item_4);
						const long t63 = (long)((ulong)j0_ + (ulong)(t62 / 64L));
						p6[t62] = ((t63 < d2) ? (float)bfloat_to_float(p2[(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)seq_ * (ulong)2L) + (ulong)kvhead_) * (ulong)d2) + (ulong)min_long(t63, (d2 + (-1L)))) * (ulong)64L) + (ulong)(t62 % 64L))]) : 0x0p+00f);
					}
				}
			}
			barrier();
			{
				const long item_5 = item;
				#pragma unroll 1
				for (long once_ = 0L, once__end = full_; once_ < once__end; once_++) {
					#pragma unroll 1
					for (long strip_7 = 0L, strip_7_end = 8L; strip_7 < strip_7_end; strip_7++) {
						#pragma unroll 2
						for (long step_7 = 0L, step_7_end = 4L; step_7 < step_7_end; step_7++) {
							float v_ = p6[((((strip_7 * 4L) + step_7) * 64L) + (item_5 % 8L))];
							float v_2 = p6[((((strip_7 * 4L) + step_7) * 64L) + ((item_5 % 8L) + 8L))];
							float v_3 = p6[((((strip_7 * 4L) + step_7) * 64L) + ((item_5 % 8L) + 16L))];
							float v_4 = p6[((((strip_7 * 4L) + step_7) * 64L) + ((item_5 % 8L) + 24L))];
							float v_5 = p6[((((strip_7 * 4L) + step_7) * 64L) + ((item_5 % 8L) + 32L))];
							float v_6 = p6[((((strip_7 * 4L) + step_7) * 64L) + ((item_5 % 8L) + 40L))];
							float v_7 = p6[((((strip_7 * 4L) + step_7) * 64L) + ((item_5 % 8L) + 48L))];
							float v_8 = p6[((((strip_7 * 4L) + step_7) * 64L) + ((item_5 % 8L) + 56L))];
							float weight_ = p7[(((item_5 / 8L) * 33L) + ((strip_7 * 4L) + step_7))];
							const long t64 = (item_5 * 2L);
							p12[0] = (p12[0] + weight_);
							const long t65 = (item_5 * 16L);
							p10[0] = fma(weight_, v_, p10[0]);
							const long t66 = ((item_5 * 16L) + 1L);
							p10[1] = fma(weight_, v_2, p10[1]);
							const long t67 = ((item_5 * 16L) + 2L);
							p10[2] = fma(weight_, v_3, p10[2]);
							const long t68 = ((item_5 * 16L) + 3L);
							p10[3] = fma(weight_, v_4, p10[3]);
							const long t69 = ((item_5 * 16L) + 4L);
							p10[4] = fma(weight_, v_5, p10[4]);
							const long t70 = ((item_5 * 16L) + 5L);
							p10[5] = fma(weight_, v_6, p10[5]);
							const long t71 = ((item_5 * 16L) + 6L);
							p10[6] = fma(weight_, v_7, p10[6]);
							const long t72 = ((item_5 * 16L) + 7L);
							p10[7] = fma(weight_, v_8, p10[7]);
							float weight_2 = p7[((((item_5 / 8L) * 33L) + 1056L) + ((strip_7 * 4L) + step_7))];
							const long t73 = ((item_5 * 2L) + 1L);
							p12[1] = (p12[1] + weight_2);
							const long t74 = ((item_5 * 16L) + 8L);
							p10[8] = fma(weight_2, v_, p10[8]);
							const long t75 = ((item_5 * 16L) + 9L);
							p10[9] = fma(weight_2, v_2, p10[9]);
							const long t76 = ((item_5 * 16L) + 10L);
							p10[10] = fma(weight_2, v_3, p10[10]);
							const long t77 = ((item_5 * 16L) + 11L);
							p10[11] = fma(weight_2, v_4, p10[11]);
							const long t78 = ((item_5 * 16L) + 12L);
							p10[12] = fma(weight_2, v_5, p10[12]);
							const long t79 = ((item_5 * 16L) + 13L);
							p10[13] = fma(weight_2, v_6, p10[13]);
							const long t80 = ((item_5 * 16L) + 14L);
							p10[14] = fma(weight_2, v_7, p10[14]);
							const long t81 = ((item_5 * 16L) + 15L);
							p10[15] = fma(weight_2, v_8, p10[15]);
						}
					}
				}
				#pragma unroll 1
				for (long once_2 = 0L, once_2_end = (long)((ulong)1L - (ulong)full_); once_2 < once_2_end; once_2++) {
					long to_3 = (long)((ulong)(long)((ulong)(long)((ulong)p13[0] + (ulong)d2) - (ulong)d1) + (ulong)1L);
					long to_4 = (long)((ulong)(long)((ulong)(long)((ulong)p13[1] + (ulong)d2) - (ulong)d1) + (ulong)1L);
					#pragma unroll 1
					for (long strip_8 = 0L, strip_8_end = 8L; strip_8 < strip_8_end; strip_8++) {
						#pragma unroll 2
						for (long step_8 = 0L, step_8_end = 4L; step_8 < step_8_end; step_8++) {
							float v_9 = p6[((((strip_8 * 4L) + step_8) * 64L) + (item_5 % 8L))];
							float v_10 = p6[((((strip_8 * 4L) + step_8) * 64L) + ((item_5 % 8L) + 8L))];
							float v_11 = p6[((((strip_8 * 4L) + step_8) * 64L) + ((item_5 % 8L) + 16L))];
							float v_12 = p6[((((strip_8 * 4L) + step_8) * 64L) + ((item_5 % 8L) + 24L))];
							float v_13 = p6[((((strip_8 * 4L) + step_8) * 64L) + ((item_5 % 8L) + 32L))];
							float v_14 = p6[((((strip_8 * 4L) + step_8) * 64L) + ((item_5 % 8L) + 40L))];
							float v_15 = p6[((((strip_8 * 4L) + step_8) * 64L) + ((item_5 % 8L) + 48L))];
							float v_16 = p6[((((strip_8 * 4L) + step_8) * 64L) + ((item_5 % 8L) + 56L))];
							float weight_3 = p7[(((item_5 / 8L) * 33L) + ((strip_8 * 4L) + step_8))];
							const long t82 = (item_5 * 2L);
							p12[0] = (p12[0] + weight_3);
							bool seen_ = ((long)((ulong)j0_ + (ulong)((strip_8 * 4L) + step_8)) < to_3);
							const long t83 = (item_5 * 16L);
							const float t84 = p10[0];
							p10[0] = (seen_ ? fma(weight_3, v_9, t84) : t84);
							const long t85 = ((item_5 * 16L) + 1L);
							const float t86 = p10[1];
							p10[1] = (seen_ ? fma(weight_3, v_10, t86) : t86);
							const long t87 = ((item_5 * 16L) + 2L);
							const float t88 = p10[2];
							p10[2] = (seen_ ? fma(weight_3, v_11, t88) : t88);
							const long t89 = ((item_5 * 16L) + 3L);
							const float t90 = p10[3];
							p10[3] = (seen_ ? fma(weight_3, v_12, t90) : t90);
							const long t91 = ((item_5 * 16L) + 4L);
							const float t92 = p10[4];
							p10[4] = (seen_ ? fma(weight_3, v_13, t92) : t92);
							const long t93 = ((item_5 * 16L) + 5L);
							const float t94 = p10[5];
							p10[5] = (seen_ ? fma(weight_3, v_14, t94) : t94);
							const long t95 = ((item_5 * 16L) + 6L);
							const float t96 = p10[6];
							p10[6] = (seen_ ? fma(weight_3, v_15, t96) : t96);
							const long t97 = ((item_5 * 16L) + 7L);
							const float t98 = p10[7];
							p10[7] = (seen_ ? fma(weight_3, v_16, t98) : t98);
							float weight_4 = p7[((((item_5 / 8L) * 33L) + 1056L) + ((strip_8 * 4L) + step_8))];
							const long t99 = ((item_5 * 2L) + 1L);
							p12[1] = (p12[1] + weight_4);
							bool seen_2 = ((long)((ulong)j0_ + (ulong)((strip_8 * 4L) + step_8)) < to_4);
							const long t100 = ((item_5 * 16L) + 8L);
							const float t101 = p10[8];
							p10[8] = (seen_2 ? fma(weight_4, v_9, t101) : t101);
							const long t102 = ((item_5 * 16L) + 9L);
							const float t103 = p10[9];
							p10[9] = (seen_2 ? fma(weight_4, v_10, t103) : t103);
							const long t104 = ((item_5 * 16L) + 10L);
							const float t105 = p10[10];
							p10[10] = (seen_2 ? fma(weight_4, v_11, t105) : t105);
							const long t106 = ((item_5 * 16L) + 11L);
							const float t107 = p10[11];
							p10[11] = (seen_2 ? fma(weight_4, v_12, t107) : t107);
							const long t108 = ((item_5 * 16L) + 12L);
							const float t109 = p10[12];
							p10[12] = (seen_2 ? fma(weight_4, v_13, t109) : t109);
							const long t110 = ((item_5 * 16L) + 13L);
							const float t111 = p10[13];
							p10[13] = (seen_2 ? fma(weight_4, v_14, t111) : t111);
							const long t112 = ((item_5 * 16L) + 14L);
							const float t113 = p10[14];
							p10[14] = (seen_2 ? fma(weight_4, v_15, t113) : t113);
							const long t114 = ((item_5 * 16L) + 15L);
							const float t115 = p10[15];
							p10[15] = (seen_2 ? fma(weight_4, v_16, t115) : t115);
						}
					}
				}
			}
		}
		barrier();
		{
			const long item_6 = item;
			float total_ = p12[0];
			p5[(((item_6 / 8L) * 64L) + (item_6 % 8L))] = ((total_ == 0x0p+00f) ? 0x0p+00f : ((p10[0] + 0x0p+00f) / total_));
			p5[(((item_6 / 8L) * 64L) + ((item_6 % 8L) + 8L))] = ((total_ == 0x0p+00f) ? 0x0p+00f : ((p10[1] + 0x0p+00f) / total_));
			p5[(((item_6 / 8L) * 64L) + ((item_6 % 8L) + 16L))] = ((total_ == 0x0p+00f) ? 0x0p+00f : ((p10[2] + 0x0p+00f) / total_));
			p5[(((item_6 / 8L) * 64L) + ((item_6 % 8L) + 24L))] = ((total_ == 0x0p+00f) ? 0x0p+00f : ((p10[3] + 0x0p+00f) / total_));
			p5[(((item_6 / 8L) * 64L) + ((item_6 % 8L) + 32L))] = ((total_ == 0x0p+00f) ? 0x0p+00f : ((p10[4] + 0x0p+00f) / total_));
			p5[(((item_6 / 8L) * 64L) + ((item_6 % 8L) + 40L))] = ((total_ == 0x0p+00f) ? 0x0p+00f : ((p10[5] + 0x0p+00f) / total_));
			p5[(((item_6 / 8L) * 64L) + ((item_6 % 8L) + 48L))] = ((total_ == 0x0p+00f) ? 0x0p+00f : ((p10[6] + 0x0p+00f) / total_));
			p5[(((item_6 / 8L) * 64L) + ((item_6 % 8L) + 56L))] = ((total_ == 0x0p+00f) ? 0x0p+00f : ((p10[7] + 0x0p+00f) / total_));
			const bool t116 = (total_ < 0x1p-126f);
			const int t117 = as_int((float)(t116 ? (total_ * 0x1p+24f) : total_));
			const int t118 = (int)((int)((uint)t117 - (uint)1059760811) & (-8388608));
			const float t119 = (as_float((int)(int)((uint)t117 - (uint)t118)) - 0x1p+00f);
			if (((item_6 % 8L) == 0L)) p8[((item_6 / 8L) * 8L)] = ((total_ == 0x0p+00f) ? as_float(0xff800000u) : (p11[0] + ((0x0p+00f < total_) ? ((total_ < as_float(0x7f800000u)) ? fma(((float)t118 + (t116 ? (-0x1.8p+27f) : 0x0p+00f)), 0x1.62e43p-24f, fma((t119 * t119), fma(fma(fma(fma(fma(fma(fma(0x1.1f262cp-03f, t119, (-0x1.3b0c3cp-03f)), t119, 0x1.1ea8f2p-03f), t119, (-0x1.5038e4p-03f)), t119, 0x1.99d3acp-03f), t119, (-0x1.00144ep-02f)), t119, 0x1.5554fcp-02f), t119, (-0x1.ffffd6p-02f)), t119)) : total_) : ((total_ == 0x0p+00f) ? as_float(0xff800000u) : as_float(0x7fc00000u)))));
			float total_2 = p12[1];
			p5[((((item_6 / 8L) * 64L) + 2048L) + (item_6 % 8L))] = ((total_2 == 0x0p+00f) ? 0x0p+00f : ((p10[8] + 0x0p+00f) / total_2));
			p5[((((item_6 / 8L) * 64L) + 2048L) + ((item_6 % 8L) + 8L))] = ((total_2 == 0x0p+00f) ? 0x0p+00f : ((p10[9] + 0x0p+00f) / total_2));
			p5[((((item_6 / 8L) * 64L) + 2048L) + ((item_6 % 8L) + 16L))] = ((total_2 == 0x0p+00f) ? 0x0p+00f : ((p10[10] + 0x0p+00f) / total_2));
			p5[((((item_6 / 8L) * 64L) + 2048L) + ((item_6 % 8L) + 24L))] = ((total_2 == 0x0p+00f) ? 0x0p+00f : ((p10[11] + 0x0p+00f) / total_2));
			p5[((((item_6 / 8L) * 64L) + 2048L) + ((item_6 % 8L) + 32L))] = ((total_2 == 0x0p+00f) ? 0x0p+00f : ((p10[12] + 0x0p+00f) / total_2));
			p5[((((item_6 / 8L) * 64L) + 2048L) + ((item_6 % 8L) + 40L))] = ((total_2 == 0x0p+00f) ? 0x0p+00f : ((p10[13] + 0x0p+00f) / total_2));
			p5[((((item_6 / 8L) * 64L) + 2048L) + ((item_6 % 8L) + 48L))] = ((total_2 == 0x0p+00f) ? 0x0p+00f : ((p10[14] + 0x0p+00f) / total_2));
			p5[((((item_6 / 8L) * 64L) + 2048L) + ((item_6 % 8L) + 56L))] = ((total_2 == 0x0p+00f) ? 0x0p+00f : ((p10[15] + 0x0p+00f) / total_2));
			const bool t120 = (total_2 < 0x1p-126f);
			const int t121 = as_int((float)(t120 ? (total_2 * 0x1p+24f) : total_2));
			const int t122 = (int)((int)((uint)t121 - (uint)1059760811) & (-8388608));
			const float t123 = (as_float((int)(int)((uint)t121 - (uint)t122)) - 0x1p+00f);
			if (((item_6 % 8L) == 0L)) p8[(((item_6 / 8L) * 8L) + 256L)] = ((total_2 == 0x0p+00f) ? as_float(0xff800000u) : (p11[1] + ((0x0p+00f < total_2) ? ((total_2 < as_float(0x7f800000u)) ? fma(((float)t122 + (t120 ? (-0x1.8p+27f) : 0x0p+00f)), 0x1.62e43p-24f, fma((t123 * t123), fma(fma(fma(fma(fma(fma(fma(0x1.1f262cp-03f, t123, (-0x1.3b0c3cp-03f)), t123, 0x1.1ea8f2p-03f), t123, (-0x1.5038e4p-03f)), t123, 0x1.99d3acp-03f), t123, (-0x1.00144ep-02f)), t123, 0x1.5554fcp-02f), t123, (-0x1.ffffd6p-02f)), t123)) : total_2) : ((total_2 == 0x0p+00f) ? as_float(0xff800000u) : as_float(0x7fc00000u)))));
		}
		barrier();
		{
			const long item_7 = item;
			#pragma unroll 1
			for (long turn_ = 0L, turn__end = div_long((long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)last_ - (ulong)first_) * (ulong)64L) - (ulong)item_7) + (ulong)255L), 256L); turn_ < turn__end; turn_++) {
				long f_4 = (long)((ulong)first_ + (ulong)(((turn_ * 256L) + item_7) / 64L));
				long i_ = div_long(f_4, 2L);
				long head_ = (long)((ulong)(long)((ulong)kvhead_ * (ulong)2L) + (ulong)mod_long(f_4, 2L));
				float acc_ = p5[((turn_ * 256L) + item_7)];
				p3[(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)seq_ * (ulong)4L) + (ulong)head_) * (ulong)d1) + (ulong)i_) * (ulong)64L) + (ulong)(((turn_ * 256L) + item_7) % 64L))] = acc_;
			}
		}
		{
			const long item_8 = item;
			#pragma unroll 1
			for (long turn_2 = 0L, turn_2_end = div_long((long)((ulong)(long)((ulong)(long)((ulong)last_ - (ulong)first_) - (ulong)item_8) + (ulong)255L), 256L); turn_2 < turn_2_end; turn_2++) {
				long f_5 = (long)((ulong)first_ + (ulong)((turn_2 * 256L) + item_8));
				long i_2 = div_long(f_5, 2L);
				long head_2 = (long)((ulong)(long)((ulong)kvhead_ * (ulong)2L) + (ulong)mod_long(f_5, 2L));
				float lse_ = p8[(((turn_2 * 256L) + item_8) * 8L)];
				p4[(long)((ulong)(long)((ulong)(long)((ulong)(long)((ulong)seq_ * (ulong)4L) + (ulong)head_2) * (ulong)d1) + (ulong)i_2)] = lse_;
			}
		}
	}
}

} // namespace sinter
