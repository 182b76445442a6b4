// What row kernels reach when written by hand, beside a copy: the yardstick for
// `sinter bench fused` beyond the share of the bound. AVX-512.
//
//	cc -O3 -march=native -o rows rows.c -lm && ./rows
//
// Each runs over arrays of 64 MB in huge pages and stores past the caches; rates
// in GB/s, reads and writes counted apart: median and best of 21 rounds in which
// all take turns.
#define _GNU_SOURCE
#include <immintrin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { WIDTH = 1024, ROWS = 16384, VECTORS = 4, LANES = 16, STEP = VECTORS * LANES, ROUNDS = 21 };

typedef __m512 V;
#define S _mm512_set1_ps
#define load _mm512_load_ps
#define fma _mm512_fmadd_ps
#define each(j, k) for (int j = 0; j < WIDTH; j += STEP) for (int k = 0; k < VECTORS; k++)

static float row[WIDTH] __attribute__((aligned(64)));
static float gamma_[WIDTH] __attribute__((aligned(64)));

static float total(const V *s) {
	return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3])));
}

static void clear(V *s) {
	for (int k = 0; k < VECTORS; k++) s[k] = S(0);
}

static void copy(float *o, const float *x, const float *y) {
	for (long i = 0; i < (long)ROWS * WIDTH; i += LANES) _mm512_stream_ps(o + i, load(x + i));
}

static void add(float *o, const float *x, const float *y) {
	for (long i = 0; i < (long)ROWS * WIDTH; i += LANES) _mm512_stream_ps(o + i, _mm512_add_ps(load(x + i), load(y + i)));
}

// addNorm is a layer norm of x + y in three passes, two of them over the first cache.
static void addNorm(float *o, const float *x, const float *y) {
	V s[VECTORS];
	for (long r = 0; r < ROWS; r++, x += WIDTH, y += WIDTH, o += WIDTH) {
		clear(s);
		each(j, k) {
			int i = j + LANES * k;
			V v = _mm512_add_ps(load(x + i), load(y + i));
			_mm512_store_ps(row + i, v);
			s[k] = _mm512_add_ps(s[k], v);
		}
		V mean = S(total(s) / WIDTH);
		clear(s);
		each(j, k) {
			V v = _mm512_sub_ps(load(row + j + LANES * k), mean);
			s[k] = fma(v, v, s[k]);
		}
		V scale = S(1 / sqrtf(total(s) / WIDTH + 1e-5f));
		each(j, k) {
			int i = j + LANES * k;
			V g = load(gamma_ + i);
			_mm512_stream_ps(o + i, fma(_mm512_mul_ps(_mm512_sub_ps(load(row + i), mean), scale), g, g));
		}
	}
}

// kept are rows that passes leave to one another, at different places of a page:
// at the same, they would compete for the same sets of the first cache.
static float kept[4][2 * WIDTH + 336] __attribute__((aligned(4096)));

static void swap(float **a, float **b) {
	float *t = *a;
	*a = *b, *b = t;
}

// addNormTogether has all three passes in one loop, each a row behind the one
// before it, so that memory never rests. The sums of two rows are kept; reading
// x and y again instead takes almost twice as long.
static void addNormTogether(float *o, const float *x, const float *y) {
	float *a = kept[0], *b = kept[1];
	V s[VECTORS], q[VECTORS], mean = S(0), meanBefore = S(0), scale = S(0);
	for (long r = -2; r < ROWS; r++) {
		long ahead = (r + 2 < ROWS ? r + 2 : ROWS - 1) * WIDTH; // the last row is read three times
		float *out = o + (r > 0 ? r : 0) * WIDTH;                // the first is written three times
		clear(s);
		clear(q);
		each(j, k) {
			int i = j + LANES * k;
			V v = _mm512_add_ps(load(x + ahead + i), load(y + ahead + i));
			V d = _mm512_sub_ps(load(b + i), mean), g = load(gamma_ + i), z = load(a + i);
			_mm512_store_ps(a + i, v); // where the row that goes out was
			s[k] = _mm512_add_ps(s[k], v);
			q[k] = fma(d, d, q[k]);
			_mm512_stream_ps(out + i, fma(_mm512_mul_ps(_mm512_sub_ps(z, meanBefore), scale), g, g));
		}
		meanBefore = mean;
		scale = S(1 / sqrtf(total(q) / WIDTH + 1e-5f));
		mean = S(total(s) / WIDTH);
		swap(&a, &b);
	}
}

// expv is the function that sinter generates, within 1 ulp.
static inline V expv(V x) {
	x = _mm512_min_ps(S(89), _mm512_max_ps(S(-104), x));
	V n = _mm512_sub_ps(fma(x, S(0x1.715476p0f), S(0x1.8p23f)), S(0x1.8p23f));
	V r = fma(n, S(0x1.05c61p-29f), fma(n, S(-0x1.62e43p-1f), x));
	static const float c[] = {0x1.12399ap-7f, 0x1.5558b4p-5f, 0x1.555492p-3f, 0x1.fffffcp-2f, 1, 1};
	V p = S(0x1.6a48c4p-10f);
	for (int i = 0; i < 6; i++) p = fma(p, r, S(c[i]));
	return _mm512_scalef_ps(p, n);
}

static V largest(const V *m) {
	return S(_mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(m[0], m[1]), _mm512_max_ps(m[2], m[3]))));
}

// softmax does not look for NaN, which sinter does.
static void softmax(float *o, const float *x, const float *y) {
	for (long r = 0; r < ROWS; r++, x += WIDTH, o += WIDTH) {
		V m[VECTORS], s[VECTORS];
		clear(s);
		for (int k = 0; k < VECTORS; k++) m[k] = S(-INFINITY);
		each(j, k) m[k] = _mm512_range_ps(m[k], load(x + j + LANES * k), 5);
		V top = largest(m);
		each(j, k) {
			int i = j + LANES * k;
			V e = expv(_mm512_sub_ps(load(x + i), top));
			_mm512_store_ps(row + i, e);
			s[k] = _mm512_add_ps(s[k], e);
		}
		V scale = S(1 / total(s));
		each(j, k) _mm512_stream_ps(o + j + LANES * k, _mm512_mul_ps(load(row + j + LANES * k), scale));
	}
}

// softmaxTogether has the three passes in one loop. The first keeps what it read.
static void softmaxTogether(float *o, const float *x, const float *y) {
	float *a = kept[0], *b = kept[1], *e = kept[2], *f = kept[3];
	V m[VECTORS], s[VECTORS], top = S(0), scale = S(0);
	for (long r = -2; r < ROWS; r++) {
		const float *next = x + (r + 2 < ROWS ? r + 2 : ROWS - 1) * WIDTH;
		float *out = o + (r > 0 ? r : 0) * WIDTH;
		clear(s);
		for (int k = 0; k < VECTORS; k++) m[k] = S(-INFINITY);
		each(j, k) {
			int i = j + LANES * k;
			V n = load(next + i), v = expv(_mm512_sub_ps(load(b + i), top));
			_mm512_store_ps(a + i, n);
			m[k] = _mm512_range_ps(m[k], n, 5);
			_mm512_store_ps(e + i, v);
			s[k] = _mm512_add_ps(s[k], v);
			_mm512_stream_ps(out + i, _mm512_mul_ps(load(f + i), scale));
		}
		scale = S(1 / total(s));
		top = largest(m);
		swap(&a, &b);
		swap(&e, &f);
	}
}

static const struct {
	const char *name;
	void (*run)(float *, const float *, const float *);
	int arrays; // read and written
} kernels[] = {{"copy", copy, 2}, {"add", add, 3}, {"add-layernorm", addNorm, 3}, {"add-layernorm, together", addNormTogether, 3}, {"softmax", softmax, 2}, {"softmax, together", softmaxTogether, 2}};

enum { KERNELS = sizeof kernels / sizeof *kernels };

// array gives arrays at different places of a page, as sinter's allocator does.
static float *array(void) {
	static size_t place;
	size_t huge = 2 << 20, bytes = sizeof(float) * ROWS * WIDTH + 4096;
	char *p = mmap(0, bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) exit(1);
	p = (char *)(((size_t)p + huge - 1) & ~(huge - 1));
	madvise(p, bytes, MADV_HUGEPAGE);
	memset(p, 0, bytes);
	return (float *)(p + 448 * place++);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int order(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(void) {
	float *x = array(), *y = array(), *o = array();
	for (long i = 0; i < (long)ROWS * WIDTH; i++) x[i] = i % 977 / 500.f;
	static double seconds[KERNELS][ROUNDS];
	for (int round = 0; round < ROUNDS; round++)
		for (int n = 0; n < KERNELS; n++) {
			double start = now();
			kernels[n].run(o, x, y);
			_mm_sfence();
			seconds[n][round] = now() - start;
		}
	for (int n = 0; n < KERNELS; n++) {
		qsort(seconds[n], ROUNDS, sizeof(double), order);
		double bytes = 4.0 * ROWS * WIDTH * kernels[n].arrays / 1e9;
		printf("%-26s %5.1f GB/s, best %5.1f\n", kernels[n].name, bytes / seconds[n][ROUNDS / 2], bytes / seconds[n][0]);
	}
}
