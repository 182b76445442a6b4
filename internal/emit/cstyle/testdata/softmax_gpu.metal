#include <metal_stdlib>
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#pragma clang fp contract(off)
using namespace metal;
#define as_char(x) as_type<char>(x)
#define as_uchar(x) as_type<uchar>(x)
#define as_short(x) as_type<short>(x)
#define as_ushort(x) as_type<ushort>(x)
#define as_int(x) as_type<int>(x)
#define as_uint(x) as_type<uint>(x)
#define as_long(x) as_type<long>(x)
#define as_ulong(x) as_type<ulong>(x)
#define as_float(x) as_type<float>(x)
static inline ushort float_to_bfloat(float x) {
	uint b = as_uint(x);
	uint r = (b + 0x7fffu + (b >> 16 & 1u)) >> 16;
	return (ushort)((b & 0x7fffffffu) > 0x7f800000u ? b >> 16 | 0x40u : r);
}
static inline float scale(float x, float n) {
	uint k = as_uint(n + 12582912.0f) - 0x4b400000u;
	uint first = (uint)((int)k >> 1);
	return x * as_float(first + 127u << 23) * as_float(k - first + 127u << 23);
}
static inline long checked_index(long x, long n, device int *word) {
	if (x < 0 || x >= n) {
		*word = 1;
		return x < 0 ? 0 : n - 1;
	}
	return x;
}
static inline float at_least_float(float x, float c) { return x < c ? c : x; }
static inline float at_most_float(float x, float c) { return x > c ? c : x; }
static inline float max_float(float x, float y) {
	return x > y || x != x ? x : x == y ? as_float(as_uint(x) & as_uint(y)) : y;
}
static inline long div_long(long x, long y) {
	if (y == -1) return (long)(0 - (ulong)x);
	long q = x / y;
	return q - (long)(x % y != 0 && (x < 0) != (y < 0));
}

// softmax
[[kernel, max_total_threads_per_threadgroup(32)]] void softmax_gpu(
	device const float *p0 [[buffer(0)]],
	device const int *p1 [[buffer(1)]],
	device ushort *p3 [[buffer(2)]],
	device int *status [[buffer(3)]],
	constant long *numbers [[buffer(4)]],
	uint thread_at [[thread_position_in_grid]], uint group_at [[threadgroup_position_in_grid]], uint item_at [[thread_position_in_threadgroup]]) {
	const long o1 = numbers[0];
	const long o2 = numbers[1];
	const long o4 = numbers[2];
	const long o0 = numbers[3];
	const long d0 = numbers[4];
	const long start = numbers[5];
	const long end = numbers[6];
	const long chunk = numbers[7];
	const int item = item_at;
	const long worker = group_at;
	p0 += o1;
	p1 += o2;
	p3 += o4;
	status += o0;
	threadgroup float p2[48];
	threadgroup float p4[32];
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long r_ = from; r_ < to; r_++) {
		const long t1 = checked_index((long)p1[r_], d0, status + 0);
		long row_ = t1;
		float top_ = as_float(0xff800000u);
		threadgroup_barrier(mem_flags::mem_threadgroup);
		{
			const long item_ = item;
			float top_part_ = as_float(0xff800000u);
			for (long turn_ = 0L, turn__end = div_long(((48L - item_) + 31L), 32L); turn_ < turn__end; turn_++) {
				top_part_ = max_float(top_part_, p0[(long)((ulong)(long)((ulong)row_ * (ulong)48L) + (ulong)(item_ + (turn_ * 32L)))]);
			}
			p4[item_] = top_part_;
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (item < 16) {
			const long item_2 = item;
			p4[item_2] = max_float(p4[item_2], p4[(item_2 + 16L)]);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (item < 8) {
			const long item_3 = item;
			p4[item_3] = max_float(p4[item_3], p4[(item_3 + 8L)]);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (item < 4) {
			const long item_4 = item;
			p4[item_4] = max_float(p4[item_4], p4[(item_4 + 4L)]);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (item < 2) {
			const long item_5 = item;
			p4[item_5] = max_float(p4[item_5], p4[(item_5 + 2L)]);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (item < 1) {
			const long item_6 = item;
			p4[item_6] = max_float(p4[item_6], p4[(item_6 + 1L)]);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		top_ = max_float(top_, p4[0L]);
		float total_ = 0.0f;
		threadgroup_barrier(mem_flags::mem_threadgroup);
		{
			const long item_7 = item;
			float total_part_ = 0.0f;
			for (long turn_2 = 0L, turn_2_end = div_long(((48L - item_7) + 31L), 32L); turn_2 < turn_2_end; turn_2++) {
				const long t2 = (item_7 + (turn_2 * 32L));
				const float t3 = at_most_float(at_least_float((p0[(long)((ulong)(long)((ulong)row_ * (ulong)48L) + (ulong)t2)] - top_), (-115.0f)), 89.0f);
				const float t4 = (metal::fma(t3, 1.442695f, 1.2582912e+07f) - 1.2582912e+07f);
				const float t5 = metal::fma(t4, 1.9046542e-09f, metal::fma(t4, (-0.6931472f), t3));
				p2[t2] = scale(metal::fma(metal::fma(metal::fma(metal::fma(metal::fma(metal::fma(0.0013820047f, t5, 0.008368683f), t5, 0.041668274f), t5, 0.16666521f), t5, 0.49999994f), t5, 1.0f), t5, 1.0f), t4);
				const float t6 = at_most_float(at_least_float((p0[(long)((ulong)(long)((ulong)row_ * (ulong)48L) + (ulong)(item_7 + (turn_2 * 32L)))] - top_), (-115.0f)), 89.0f);
				const float t7 = (metal::fma(t6, 1.442695f, 1.2582912e+07f) - 1.2582912e+07f);
				const float t8 = metal::fma(t7, 1.9046542e-09f, metal::fma(t7, (-0.6931472f), t6));
				total_part_ = (total_part_ + scale(metal::fma(metal::fma(metal::fma(metal::fma(metal::fma(metal::fma(0.0013820047f, t8, 0.008368683f), t8, 0.041668274f), t8, 0.16666521f), t8, 0.49999994f), t8, 1.0f), t8, 1.0f), t7));
			}
			p4[item_7] = total_part_;
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (item < 16) {
			const long item_8 = item;
			p4[item_8] = (p4[item_8] + p4[(item_8 + 16L)]);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (item < 8) {
			const long item_9 = item;
			p4[item_9] = (p4[item_9] + p4[(item_9 + 8L)]);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (item < 4) {
			const long item_10 = item;
			p4[item_10] = (p4[item_10] + p4[(item_10 + 4L)]);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (item < 2) {
			const long item_11 = item;
			p4[item_11] = (p4[item_11] + p4[(item_11 + 2L)]);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
		if (item < 1) {
			const long item_12 = item;
			p4[item_12] = (p4[item_12] + p4[(item_12 + 1L)]);
		}
		threadgroup_barrier(mem_flags::mem_threadgroup);
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
