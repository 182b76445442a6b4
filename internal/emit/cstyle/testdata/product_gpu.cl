#pragma OPENCL FP_CONTRACT OFF
#ifdef __clang__
#define LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES
#endif
static inline float at_most_float(float x, float c) { return x > c ? c : x; }
static inline int shl_int(int x, int y) { return (ulong)(long)y < 32 ? (int)((uint)x << ((ulong)(long)y & 31)) : 0; }

// product
__kernel void product_gpu(__global const float *restrict p0, const long o1, __global const char *restrict p1, const long o2, __global float *restrict p2, const long o3, const long d0, const long start, const long end, const long chunk, const long rows) {
	const int item = get_local_id(0);
	const long worker = get_group_id(0);
	p0 += o1;
	p1 += o2;
	p2 += o3;
	__local float xs[2080], ys[2080];
	const long across = item % 16, down = item / 16;
	const long panels = (100L + 63) / 64, blocks = (d0 + rows - 1) / rows;
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long task = from; task < to; task++) {
		const long batch = task / (panels * blocks);
		const long col0 = task % panels * 64, cols = 100L - col0 < 64 ? 100L - col0 : 64;
		const long row0 = task / panels % blocks * rows, row1 = row0 + rows < d0 ? row0 + rows : d0;
		float total[16], sum[16];
		for (int i = 0; i < 16; i++) total[i] = sum[i] = 0;
		for (long k0 = 0; k0 < 600L + 16; k0 += 16) {
			const int next = k0 / 16 % 2, now = 1 - next;
			const bool more = k0 < 600L;
			float next_xs[4], next_ys[4];
			if (more) {
				#pragma unroll
				for (int s = 0; s < 4; s++) {
					const long e = s * 256 + item;
					const long r = e / 16, k = e % 16;
					float v = 0;
					if (row0 + r < d0 && k0 + k < 600L) {
						v = (float)p0[(((row0 + r) * 600L) + (k0 + k))];
					}
					next_xs[s] = v;
				}
				#pragma unroll
				for (int s = 0; s < 4; s++) {
					const long e = s * 256 + item;
					const long r = e % 64, k = e / 64;
					float v = 0;
					if (col0 + r < 100L && k0 + k < 600L) {
						v = (float)(float)p1[(((col0 + r) * 600L) + (k0 + k))];
					}
					next_ys[s] = v;
				}
			}
			if (k0 > 0) {
				for (int k = 0; k < 16; k++) {
					float x[4], y[4];
					for (int i = 0; i < 4; i++) x[i] = xs[now * 1040 + k * 65 + down + 16 * i];
					for (int i = 0; i < 4; i++) y[i] = ys[now * 1040 + k * 65 + across + 16 * i];
					for (int i = 0; i < 4; i++)
						for (int j = 0; j < 4; j++)
							sum[4 * i + j] = fma(x[i], y[j], sum[4 * i + j]);
				}
				if (k0 % 512 == 0 || !more) {
					for (int i = 0; i < 16; i++) {
						total[i] += sum[i];
						sum[i] = 0;
					}
				}
			}
			if (more) {
				#pragma unroll
				for (int s = 0; s < 4; s++) {
					const long e = s * 256 + item;
					const long r = e / 16, k = e % 16;
					xs[next * 1040 + k * 65 + r] = next_xs[s];
				}
				#pragma unroll
				for (int s = 0; s < 4; s++) {
					const long e = s * 256 + item;
					const long r = e % 64, k = e / 64;
					ys[next * 1040 + k * 65 + r] = next_ys[s];
				}
			}
			barrier(CLK_LOCAL_MEM_FENCE);
		}
		for (int n = 0; n < 16; n++) {
			const long r = row0 + down + n / 4 * 16, col = col0 + across + n % 4 * 16;
			if (r < row1 && col < col0 + cols) {
				const float acc_ = ((float)total[n]);
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
