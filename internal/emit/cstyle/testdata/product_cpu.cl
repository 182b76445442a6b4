#pragma OPENCL FP_CONTRACT OFF
#ifdef __clang__
#define LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES
#endif
static inline float at_most_float(float x, float c) { return x > c ? c : x; }
static inline int shl_int(int x, int y) { return (ulong)(long)y < 32 ? (int)((uint)x << ((ulong)(long)y & 31)) : 0; }

// product
static __attribute__((noinline)) void work_product_cpu(__global const float *restrict p0, const long o1, __global const char *restrict p1, const long o2, __global float *restrict p2, const long o3, __global float *restrict p3, const long o4, const long s3, const long d0, const long start, const long end, const long chunk, const long rows, const long worker) {
	p0 += o1;
	p1 += o2;
	p2 += o3;
	p3 += o4 + worker * s3;
	const long panels = (100L + 31) / 32, blocks = (d0 + rows - 1) / rows;
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long task = from; task < to; task++) {
		const long batch = task / (panels * blocks);
		const long col0 = task % panels * 32, cols = 100L - col0 < 32 ? 100L - col0 : 32;
		const long row0 = task / panels % blocks * rows, row1 = row0 + rows < d0 ? row0 + rows : d0;
		for (long k = 0; k < 600L; k++) {
			LANES
			for (long j = 0; j < cols; j++) {
				p3[k * 32 + j] = (float)p1[(((col0 + j) * 600L) + k)];
			}
			for (long j = cols; j < 32; j++) p3[k * 32 + j] = 0;
		}
		for (long row = row0; row < row1; row += 6) {
			const long last = row1 - 1 - row;
			__global const float *x0 = p0 + 0L + (row + (last < 0 ? last : 0)) * 600L;
			__global const float *x1 = p0 + 0L + (row + (last < 1 ? last : 1)) * 600L;
			__global const float *x2 = p0 + 0L + (row + (last < 2 ? last : 2)) * 600L;
			__global const float *x3 = p0 + 0L + (row + (last < 3 ? last : 3)) * 600L;
			__global const float *x4 = p0 + 0L + (row + (last < 4 ? last : 4)) * 600L;
			__global const float *x5 = p0 + 0L + (row + (last < 5 ? last : 5)) * 600L;
			float16 t0_0 = 0;
			float16 t0_1 = 0;
			float16 t1_0 = 0;
			float16 t1_1 = 0;
			float16 t2_0 = 0;
			float16 t2_1 = 0;
			float16 t3_0 = 0;
			float16 t3_1 = 0;
			float16 t4_0 = 0;
			float16 t4_1 = 0;
			float16 t5_0 = 0;
			float16 t5_1 = 0;
			for (long k0 = 0; k0 < 600L; k0 += 512) {
				const long k1 = k0 + 512 < 600L ? k0 + 512 : 600L;
				float16 c0_0 = 0;
				float16 c0_1 = 0;
				float16 c1_0 = 0;
				float16 c1_1 = 0;
				float16 c2_0 = 0;
				float16 c2_1 = 0;
				float16 c3_0 = 0;
				float16 c3_1 = 0;
				float16 c4_0 = 0;
				float16 c4_1 = 0;
				float16 c5_0 = 0;
				float16 c5_1 = 0;
				for (long k = k0; k < k1; k++) {
					const float16 y0 = vload16(0, p3 + k * 32 + 0);
					const float16 y1 = vload16(0, p3 + k * 32 + 16);
					const float16 a0 = (float16)(x0[k * 1L]);
					c0_0 = fma(a0, y0, c0_0);
					c0_1 = fma(a0, y1, c0_1);
					const float16 a1 = (float16)(x1[k * 1L]);
					c1_0 = fma(a1, y0, c1_0);
					c1_1 = fma(a1, y1, c1_1);
					const float16 a2 = (float16)(x2[k * 1L]);
					c2_0 = fma(a2, y0, c2_0);
					c2_1 = fma(a2, y1, c2_1);
					const float16 a3 = (float16)(x3[k * 1L]);
					c3_0 = fma(a3, y0, c3_0);
					c3_1 = fma(a3, y1, c3_1);
					const float16 a4 = (float16)(x4[k * 1L]);
					c4_0 = fma(a4, y0, c4_0);
					c4_1 = fma(a4, y1, c4_1);
					const float16 a5 = (float16)(x5[k * 1L]);
					c5_0 = fma(a5, y0, c5_0);
					c5_1 = fma(a5, y1, c5_1);
				}
				t0_0 += c0_0;
				t0_1 += c0_1;
				t1_0 += c1_0;
				t1_1 += c1_1;
				t2_0 += c2_0;
				t2_1 += c2_1;
				t3_0 += c3_0;
				t3_1 += c3_1;
				t4_0 += c4_0;
				t4_1 += c4_1;
				t5_0 += c5_0;
				t5_1 += c5_1;
			}
			float sums[192];
			vstore16((t0_0), 0, sums + 0);
			vstore16((t0_1), 0, sums + 16);
			vstore16((t1_0), 0, sums + 32);
			vstore16((t1_1), 0, sums + 48);
			vstore16((t2_0), 0, sums + 64);
			vstore16((t2_1), 0, sums + 80);
			vstore16((t3_0), 0, sums + 96);
			vstore16((t3_1), 0, sums + 112);
			vstore16((t4_0), 0, sums + 128);
			vstore16((t4_1), 0, sums + 144);
			vstore16((t5_0), 0, sums + 160);
			vstore16((t5_1), 0, sums + 176);
			for (long i = 0; i <= last && i < 6; i++) {
				const long r = row + i;
				LANES
				for (long col = col0; col < col0 + cols; col++) {
					const float acc_ = sums[i * 32 + col - col0];
					const float t1 = at_most_float(fabs(acc_), 0x1.4p+03f);
					const float t2 = fma(t1, (-0x1.715476p+01f), 0x1.8000fep+23f);
					const float t3 = as_float((int)shl_int(as_int((float)t2), 23));
					const float t4 = fma((t2 - 0x1.8000fep+23f), 0x1.62e43p-02f, t1);
					const float t5 = fma((t4 * t4), fma(fma(fma(fma((-0x1.6b9ca2p-05f), t4, 0x1.12256p-03f), t4, (-0x1.5556f2p-02f)), t4, 0x1.5554b4p-01f), t4, (-0x1.fffffep-01f)), t4);
					p2[((r * 100L) + col)] = as_float((int)(int)(as_int((float)(fma(t3, t5, fma(t3, (-0x1p-01f), 0x1p-01f)) / fma(t3, (-t5), fma(t3, 0x1p-01f, 0x1p-01f)))) | (int)(as_int((float)acc_) & (-2147483647 - 1))));
				}
			}
		}
	}
}

__kernel void product_cpu(__global const float *restrict p0, const long o1, __global const char *restrict p1, const long o2, __global float *restrict p2, const long o3, __global float *restrict p3, const long o4, const long s3, const long d0, const long start, const long end, const long chunk, const long rows) {
	work_product_cpu(p0, o1, p1, o2, p2, o3, p3, o4, s3, d0, start, end, chunk, rows, get_global_id(0));
}
