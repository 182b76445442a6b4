#pragma OPENCL FP_CONTRACT OFF
#ifdef __clang__
#define LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES
#endif
static inline int mod_int(int x, int y) {
	if (y == -1) return 0;
	int r = x % y;
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static inline int max_int(int x, int y) { return x < y ? y : x; }
static inline int shl_int(int x, int y) { return (ulong)(long)y < 32 ? (int)((uint)x << ((ulong)(long)y & 31)) : 0; }

// integers
__kernel void integers(__global const int *restrict p0, const long o1, __global int *restrict p1, const long o2, __global const uchar *restrict p2, const long o3, const long start, const long end, const long chunk) {
	const long worker = get_global_id(0);
	p0 += o1;
	p1 += o2;
	p2 += o3;
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long i_ = from; i_ < to; i_++) {
		if ((i_ < 7L)) p1[i_] = (int)((uint)mod_int(max_int(p0[i_], shl_int(p1[i_], p0[(8L - i_)])), 7) + (uint)(int)((2L < i_) ? p2[i_] : 0u));
	}
}
