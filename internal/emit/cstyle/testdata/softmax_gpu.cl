#pragma OPENCL FP_CONTRACT OFF
#ifdef __clang__
#define LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES
#endif
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
static inline long checked_index(long x, long n, __global int *word) {
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
__kernel void softmax_gpu(__global const float *restrict p0, const long o1, __global const int *restrict p1, const long o2, __global ushort *restrict p3, const long o4, __global int *restrict status, const long o0, const long d0, const long start, const long end, const long chunk) {
	const int item = get_local_id(0);
	const long worker = get_group_id(0);
	p0 += o1;
	p1 += o2;
	p3 += o4;
	status += o0;
	__local float p2[48];
	__local float p4[32];
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long r_ = from; r_ < to; r_++) {
		const long t1 = checked_index((long)p1[r_], d0, status + 0);
		long row_ = t1;
		float top_ = as_float(0xff800000u);
		barrier(CLK_LOCAL_MEM_FENCE);
		{
			const long item_ = item;
			float top_part_ = as_float(0xff800000u);
			for (long turn_ = 0L, turn__end = div_long(((48L - item_) + 31L), 32L); turn_ < turn__end; turn_++) {
				top_part_ = max_float(top_part_, p0[(long)((ulong)(long)((ulong)row_ * (ulong)48L) + (ulong)(item_ + (turn_ * 32L)))]);
			}
			p4[item_] = top_part_;
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < 16) {
			const long item_2 = item;
			p4[item_2] = max_float(p4[item_2], p4[(item_2 + 16L)]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < 8) {
			const long item_3 = item;
			p4[item_3] = max_float(p4[item_3], p4[(item_3 + 8L)]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < 4) {
			const long item_4 = item;
			p4[item_4] = max_float(p4[item_4], p4[(item_4 + 4L)]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < 2) {
			const long item_5 = item;
			p4[item_5] = max_float(p4[item_5], p4[(item_5 + 2L)]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < 1) {
			const long item_6 = item;
			p4[item_6] = max_float(p4[item_6], p4[(item_6 + 1L)]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		top_ = max_float(top_, p4[0L]);
		float total_ = 0x0p+00f;
		barrier(CLK_LOCAL_MEM_FENCE);
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
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < 16) {
			const long item_8 = item;
			p4[item_8] = (p4[item_8] + p4[(item_8 + 16L)]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < 8) {
			const long item_9 = item;
			p4[item_9] = (p4[item_9] + p4[(item_9 + 8L)]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < 4) {
			const long item_10 = item;
			p4[item_10] = (p4[item_10] + p4[(item_10 + 4L)]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < 2) {
			const long item_11 = item;
			p4[item_11] = (p4[item_11] + p4[(item_11 + 2L)]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < 1) {
			const long item_12 = item;
			p4[item_12] = (p4[item_12] + p4[(item_12 + 1L)]);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
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
