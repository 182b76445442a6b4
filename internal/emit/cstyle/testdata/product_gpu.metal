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
static inline float at_most_float(float x, float c) { return x > c ? c : x; }
static inline int shl_int(int x, int y) { return (ulong)(long)y < 32 ? (int)((uint)x << ((ulong)(long)y & 31)) : 0; }

// product
[[kernel, max_total_threads_per_threadgroup(256)]] void product_gpu(
	device const float *p0 [[buffer(0)]],
	device const char *p1 [[buffer(1)]],
	device float *p2 [[buffer(2)]],
	constant long *numbers [[buffer(3)]],
	uint thread_at [[thread_position_in_grid]], uint group_at [[threadgroup_position_in_grid]], uint item_at [[thread_position_in_threadgroup]]) {
	const long o1 = numbers[0];
	const long o2 = numbers[1];
	const long o3 = numbers[2];
	const long d0 = numbers[3];
	const long start = numbers[4];
	const long end = numbers[5];
	const long chunk = numbers[6];
	const long rows = numbers[7];
	const int item = item_at;
	const long worker = group_at;
	p0 += o1;
	p1 += o2;
	p2 += o3;
	threadgroup float xs[2080], ys[2080];
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
				#pragma clang loop unroll(full)
				for (int s = 0; s < 4; s++) {
					const long e = s * 256 + item;
					const long r = e / 16, k = e % 16;
					float v = 0;
					if (row0 + r < d0 && k0 + k < 600L) {
						v = (float)p0[(((row0 + r) * 600L) + (k0 + k))];
					}
					next_xs[s] = v;
				}
				#pragma clang loop unroll(full)
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
							sum[4 * i + j] = metal::fma(x[i], y[j], sum[4 * i + j]);
				}
				if (k0 % 512 == 0 || !more) {
					for (int i = 0; i < 16; i++) {
						total[i] += sum[i];
						sum[i] = 0;
					}
				}
			}
			if (more) {
				#pragma clang loop unroll(full)
				for (int s = 0; s < 4; s++) {
					const long e = s * 256 + item;
					const long r = e / 16, k = e % 16;
					xs[next * 1040 + k * 65 + r] = next_xs[s];
				}
				#pragma clang loop unroll(full)
				for (int s = 0; s < 4; s++) {
					const long e = s * 256 + item;
					const long r = e % 64, k = e / 64;
					ys[next * 1040 + k * 65 + r] = next_ys[s];
				}
			}
			threadgroup_barrier(mem_flags::mem_threadgroup);
		}
		for (int n = 0; n < 16; n++) {
			const long r = row0 + down + n / 4 * 16, col = col0 + across + n % 4 * 16;
			if (r < row1 && col < col0 + cols) {
				const float acc_ = ((float)total[n]);
				const float t1 = at_most_float(metal::fabs(acc_), 10.0f);
				const float t2 = metal::fma(t1, (-2.88539f), 1.2583039e+07f);
				const float t3 = as_float((int)shl_int(as_int((float)t2), 23));
				const float t4 = metal::fma((t2 - 1.2583039e+07f), 0.3465736f, t1);
				const float t5 = metal::fma((t4 * t4), metal::fma(metal::fma(metal::fma(metal::fma((-0.04438621f), t4, 0.13386035f), t4, (-0.33333948f)), t4, 0.66666186f), t4, (-0.99999994f)), t4);
				p2[((r * 100L) + col)] = as_float((int)(int)(as_int((float)(metal::fma(t3, t5, metal::fma(t3, (-0.5f), 0.5f)) / metal::fma(t3, (-t5), metal::fma(t3, 0.5f, 0.5f)))) | (int)(as_int((float)acc_) & (-2147483647 - 1))));
			}
		}
	}
}
