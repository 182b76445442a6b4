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

// softmax
static __attribute__((noinline)) void work_softmax_cpu(__global const float *restrict p0, const long o1, __global const int *restrict p1, const long o2, __global ushort *restrict p3, const long o4, __global float *restrict p4, const long o5, const long s4, __global int *restrict status, const long o0, const long d0, const long start, const long end, const long chunk, const long worker) {
	p0 += o1;
	p1 += o2;
	p3 += o4;
	p4 += o5 + worker * s4;
	status += o0;
	float p2[48];
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long r_ = from; r_ < to; r_++) {
		const long t1 = checked_index((long)p1[r_], d0, status + 0);
		long row_ = t1;
		float top_ = as_float(0xff800000u);
		LANES
		for (long lane_ = 0L, lane__end = 16L; lane_ < lane__end; lane_++) {
			p4[lane_] = as_float(0xff800000u);
		}
		for (long strip_ = 0L, strip__end = 3L; strip_ < strip__end; strip_++) {
			LANES
			for (long lane_2 = 0L, lane_2_end = 16L; lane_2 < lane_2_end; lane_2++) {
				p4[lane_2] = max_float(p4[lane_2], p0[(long)((ulong)(long)((ulong)row_ * (ulong)48L) + (ulong)((strip_ * 16L) + lane_2))]);
			}
		}
		LANES
		for (long item_ = 0L, item__end = 8L; item_ < item__end; item_++) {
			p4[item_] = max_float(p4[item_], p4[(item_ + 8L)]);
		}
		LANES
		for (long item_2 = 0L, item_2_end = 4L; item_2 < item_2_end; item_2++) {
			p4[item_2] = max_float(p4[item_2], p4[(item_2 + 4L)]);
		}
		LANES
		for (long item_3 = 0L, item_3_end = 2L; item_3 < item_3_end; item_3++) {
			p4[item_3] = max_float(p4[item_3], p4[(item_3 + 2L)]);
		}
		LANES
		for (long item_4 = 0L, item_4_end = 1L; item_4 < item_4_end; item_4++) {
			p4[item_4] = max_float(p4[item_4], p4[(item_4 + 1L)]);
		}
		top_ = max_float(top_, p4[0L]);
		float total_ = 0x0p+00f;
		LANES
		for (long lane_3 = 0L, lane_3_end = 16L; lane_3 < lane_3_end; lane_3++) {
			p4[lane_3] = 0x0p+00f;
		}
		for (long strip_2 = 0L, strip_2_end = 3L; strip_2 < strip_2_end; strip_2++) {
			LANES
			for (long lane_4 = 0L, lane_4_end = 16L; lane_4 < lane_4_end; lane_4++) {
				const long t2 = ((strip_2 * 16L) + lane_4);
				const float t3 = at_most_float(at_least_float((p0[(long)((ulong)(long)((ulong)row_ * (ulong)48L) + (ulong)t2)] - top_), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t4 = (fma(t3, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t5 = fma(t4, 0x1.05c61p-29f, fma(t4, (-0x1.62e43p-01f), t3));
				p2[t2] = scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t5, 0x1.12399ap-07f), t5, 0x1.5558b4p-05f), t5, 0x1.555492p-03f), t5, 0x1.fffffcp-02f), t5, 0x1p+00f), t5, 0x1p+00f), t4);
				const float t6 = at_most_float(at_least_float((p0[(long)((ulong)(long)((ulong)row_ * (ulong)48L) + (ulong)((strip_2 * 16L) + lane_4))] - top_), (-0x1.ccp+06f)), 0x1.64p+06f);
				const float t7 = (fma(t6, 0x1.715476p+00f, 0x1.8p+23f) - 0x1.8p+23f);
				const float t8 = fma(t7, 0x1.05c61p-29f, fma(t7, (-0x1.62e43p-01f), t6));
				p4[lane_4] = (p4[lane_4] + scale(fma(fma(fma(fma(fma(fma(0x1.6a48c4p-10f, t8, 0x1.12399ap-07f), t8, 0x1.5558b4p-05f), t8, 0x1.555492p-03f), t8, 0x1.fffffcp-02f), t8, 0x1p+00f), t8, 0x1p+00f), t7));
			}
		}
		LANES
		for (long item_5 = 0L, item_5_end = 8L; item_5 < item_5_end; item_5++) {
			p4[item_5] = (p4[item_5] + p4[(item_5 + 8L)]);
		}
		LANES
		for (long item_6 = 0L, item_6_end = 4L; item_6 < item_6_end; item_6++) {
			p4[item_6] = (p4[item_6] + p4[(item_6 + 4L)]);
		}
		LANES
		for (long item_7 = 0L, item_7_end = 2L; item_7 < item_7_end; item_7++) {
			p4[item_7] = (p4[item_7] + p4[(item_7 + 2L)]);
		}
		LANES
		for (long item_8 = 0L, item_8_end = 1L; item_8 < item_8_end; item_8++) {
			p4[item_8] = (p4[item_8] + p4[(item_8 + 1L)]);
		}
		total_ = (total_ + p4[0L]);
		LANES
		for (long e_ = 0L, e__end = 48L; e_ < e__end; e_++) {
			p3[((r_ * 48L) + e_)] = float_to_bfloat((p2[e_] / total_));
		}
	}
}

__kernel void softmax_cpu(__global const float *restrict p0, const long o1, __global const int *restrict p1, const long o2, __global ushort *restrict p3, const long o4, __global float *restrict p4, const long o5, const long s4, __global int *restrict status, const long o0, const long d0, const long start, const long end, const long chunk) {
	work_softmax_cpu(p0, o1, p1, o2, p3, o4, p4, o5, s4, status, o0, d0, start, end, chunk, get_global_id(0));
}
