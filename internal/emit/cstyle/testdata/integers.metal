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
static inline int mod_int(int x, int y) {
	if (y == -1) return 0;
	int r = x % y;
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static inline int max_int(int x, int y) { return x < y ? y : x; }
static inline int shl_int(int x, int y) { return (ulong)(long)y < 32 ? (int)((uint)x << ((ulong)(long)y & 31)) : 0; }

// integers
[[kernel, max_total_threads_per_threadgroup(256)]] void integers(
	device const int *p0 [[buffer(0)]],
	device int *p1 [[buffer(1)]],
	device const uchar *p2 [[buffer(2)]],
	constant long *numbers [[buffer(3)]],
	uint thread_at [[thread_position_in_grid]], uint group_at [[threadgroup_position_in_grid]], uint item_at [[thread_position_in_threadgroup]]) {
	const long o1 = numbers[0];
	const long o2 = numbers[1];
	const long o3 = numbers[2];
	const long start = numbers[3];
	const long end = numbers[4];
	const long chunk = numbers[5];
	const long worker = thread_at;
	p0 += o1;
	p1 += o2;
	p2 += o3;
	const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;
	for (long i_ = from; i_ < to; i_++) {
		if ((i_ < 7L)) p1[i_] = (int)((uint)mod_int(max_int(p0[i_], shl_int(p1[i_], p0[(8L - i_)])), 7) + (uint)(int)((2L < i_) ? p2[i_] : 0u));
	}
}
