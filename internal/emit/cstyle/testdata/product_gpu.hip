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
DEVICE float at_most_float(float x, float c) { return x > c ? c : x; }
DEVICE int shl_int(int x, int y) { return (ulong)(long)y < 32 ? (int)((uint)x << ((ulong)(long)y & 31)) : 0; }

// product
KERNEL(256) void product_gpu(const float *__restrict__ p0, const long o1, const char *__restrict__ p1, const long o2, float *__restrict__ p2, const long o3, const long d0, const long start, const long end, const long chunk, const long rows) {
	const int item = __builtin_amdgcn_workitem_id_x();
	const long worker = __builtin_amdgcn_workgroup_id_x();
	p0 += o1;
	p1 += o2;
	p2 += o3;
	__shared__ float xs[1040], ys[1040];
	const long across = item % 16, down = item / 16;
	const long panels = (100L + 63) / 64, blocks = (d0 + rows - 1) / rows;
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long task = from; task < to; task++) {
		const long batch = task / (panels * blocks);
		const long col0 = task % panels * 64, cols = 100L - col0 < 64 ? 100L - col0 : 64;
		const long row0 = task / panels % blocks * rows, row1 = row0 + rows < d0 ? row0 + rows : d0;
		float total[16], sum[16];
		for (int i = 0; i < 16; i++) total[i] = sum[i] = 0;
		for (long k0 = 0; k0 < 600L; k0 += 16) {
			for (int s = 0; s < 4; s++) {
				const long e = s * 256 + item;
				const long r = e / 16, k = e % 16;
				float v = 0;
				if (row0 + r < d0 && k0 + k < 600L) {
					v = (float)p0[(((row0 + r) * 600L) + (k0 + k))];
				}
				xs[k * 65 + r] = v;
			}
			for (int s = 0; s < 4; s++) {
				const long e = s * 256 + item;
				const long r = e % 64, k = e / 64;
				float v = 0;
				if (col0 + r < 100L && k0 + k < 600L) {
					v = (float)(float)p1[(((col0 + r) * 600L) + (k0 + k))];
				}
				ys[k * 65 + r] = v;
			}
			barrier();
			#pragma unroll 4
			for (int k = 0; k < 16; k++) {
				float x[4], y[4];
				for (int i = 0; i < 4; i++) x[i] = xs[k * 65 + down + 16 * i];
				for (int i = 0; i < 4; i++) y[i] = ys[k * 65 + across + 16 * i];
				for (int i = 0; i < 4; i++)
					for (int j = 0; j < 4; j++)
						sum[4 * i + j] = fma(x[i], y[j], sum[4 * i + j]);
			}
			barrier();
			if (k0 % 512 == 496 || k0 + 16 >= 600L) {
				for (int i = 0; i < 16; i++) {
					total[i] += sum[i];
					sum[i] = 0;
				}
			}
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

} // namespace sinter
