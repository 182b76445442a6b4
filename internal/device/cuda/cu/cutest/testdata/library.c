// A library with the functions of CUDA's driver, as cuda.h declares them. It
// works on the processor's memory, or goes wrong in the way it is built for. The
// kernel of every program fills a buffer: arguments are the buffer, the number
// of words and the value, and each thread fills one word.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CRASH_AT_LOAD
__attribute__((constructor)) static void load(void) {
	fprintf(stderr, "driver: cannot cope\n");
	*(volatile int *)0 = 1;
}
#endif

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct { unsigned char bytes[16]; } CUuuid;
typedef void *handle;

enum { CONTEXT = 0x11, POOL = 0x12, STREAM = 0x13, EVENT = 0x14, MODULE = 0x15, FUNCTION = 0x16, GRAPH = 0x17, EXEC = 0x18, LINK = 0x19 };
static __thread int current;
#define NEED(condition) if (!(condition)) return 1
#define INSIDE NEED(current > 0)
static handle is(intptr_t h) { return (handle)h; }

CUresult cuInit(unsigned int flags) {
#ifdef HANG_AT_INIT
	for (;;) pause();
#endif
#ifdef CRASH_AT_INIT
	abort();
#endif
#ifdef EXIT_AT_INIT
	exit(3);
#endif
#ifdef NO_DEVICES
	return 100;
#endif
#ifdef STUB
	return 34;
#endif
	return flags;
}
CUresult cuDriverGetVersion(int *version) { *version = 12040; return 0; }
CUresult cuDeviceGetCount(int *n) {
#ifdef MANY_DEVICES
	*n = 0x7fffffff;
	return 0;
#endif
	*n = 1;
	return 0;
}
CUresult cuDeviceGet(CUdevice *d, int ordinal) { *d = ordinal; return 0; }
CUresult cuDeviceGetName(char *name, int len, CUdevice d) { snprintf(name, len, "Library GPU %d", d); return 0; }
CUresult cuDeviceGetUuid(CUuuid *u, CUdevice d) { memset(u, 0xee, sizeof *u); return 0; }
CUresult cuDeviceGetUuid_v2(CUuuid *u, CUdevice d) { memset(u, 0, sizeof *u); u->bytes[0] = 1 + d; return 0; }
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice d) { NEED(d == 0); *bytes = (size_t)1 << 33; return 0; }
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice d) {
	NEED(d == 0);
	switch (attribute) {
	case 1: *value = 1024; break;
	case 8: *value = 48 << 10; break;
	case 75: *value = 8; break;
	case 76: *value = 9; break;
	case 97: *value = 99 << 10; break;
	case 115: *value = 1; break;
	default: *value = 0;
	}
	return 0;
}
CUresult cuDevicePrimaryCtxRetain(handle *c, CUdevice d) { NEED(d == 0); *c = is(CONTEXT); return 0; }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) { NEED(d == 0); return 0; }
CUresult cuDevicePrimaryCtxReset_v2(CUdevice d) { NEED(d == 0); return 0; }
CUresult cuCtxPushCurrent_v2(handle c) { NEED(c == is(CONTEXT)); current++; return 0; }
CUresult cuCtxPopCurrent_v2(handle *c) { INSIDE; *c = is(CONTEXT); current--; return 0; }

CUresult cuMemGetInfo_v2(size_t *left, size_t *total) { INSIDE; *left = 1; *total = 2; return 0; }
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n) { INSIDE; return !(*p = (CUdeviceptr)(intptr_t)malloc(n)); }
CUresult cuMemFree_v2(CUdeviceptr p) { INSIDE; free((void *)(intptr_t)p); return 0; }
CUresult cuMemHostAlloc(void **p, size_t n, unsigned int flags) { INSIDE; NEED(flags == 1); return !(*p = malloc(n)); }
CUresult cuMemFreeHost(void *p) { INSIDE; free(p); return 0; }

typedef struct {
	int allocType, handleTypes;
	struct { int type, id; } location;
	void *win32SecurityAttributes;
	size_t maxSize;
	unsigned short usage;
	unsigned char reserved[54];
} CUmemPoolProps;
CUresult cuMemPoolCreate(handle *pool, const CUmemPoolProps *props) {
	INSIDE;
	NEED(props->allocType == 1 && props->handleTypes == 0 && props->location.type == 1 && props->location.id == 0 && props->maxSize == 0);
	*pool = is(POOL);
	return 0;
}
CUresult cuMemPoolDestroy(handle pool) { NEED(pool == is(POOL)); return 0; }
CUresult cuMemPoolSetAttribute(handle pool, int attribute, void *value) { NEED(pool == is(POOL) && attribute == 4 && (*(uint64_t *)value == UINT64_MAX || *(uint64_t *)value == 1 << 20)); return 0; }
CUresult cuMemPoolGetAttribute(handle pool, int attribute, void *value) { NEED(pool == is(POOL)); *(uint64_t *)value = attribute == 5 ? 1000 : 300; return 0; }
CUresult cuMemPoolTrimTo(handle pool, size_t keep) { NEED(pool == is(POOL) && (keep == 0 || keep == 1 << 20)); return 0; }
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t n, handle pool, handle stream) { NEED(pool == is(POOL) && stream == is(STREAM)); return cuMemAlloc_v2(p, n); }
CUresult cuMemFreeAsync(CUdeviceptr p, handle stream) { NEED(stream == is(STREAM)); return cuMemFree_v2(p); }

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t n, handle s) { INSIDE; NEED(s == is(STREAM)); memcpy((void *)(intptr_t)dst, src, n); return 0; }
CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t n, handle s) { INSIDE; NEED(s == is(STREAM)); memcpy(dst, (void *)(intptr_t)src, n); return 0; }
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t n, handle s) { INSIDE; NEED(s == is(STREAM)); memcpy((void *)(intptr_t)dst, (void *)(intptr_t)src, n); return 0; }
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t n, handle s) { INSIDE; NEED(s == is(STREAM)); memset((void *)(intptr_t)dst, value, n); return 0; }

CUresult cuModuleLoadDataEx(handle *m, const void *image, unsigned int n, int *options, void **values) {
	INSIDE;
	if (strstr(image, "nonsense")) {
		for (unsigned int i = 0; i < n; i++)
			if (options[i] == 5) strcpy(values[i], "line 1: nonsense");
			else NEED(options[i] == 6 && (size_t)values[i] == 64 << 10);
		return 218;
	}
	*m = is(MODULE);
	return 0;
}
// Code is the text behind the head of an ELF file.
static char linked[100];
CUresult cuLinkCreate_v2(unsigned int n, int *options, void **values, handle *link) { INSIDE; NEED(n == 0 && !options && !values); *link = is(LINK); return 0; }
CUresult cuLinkAddData_v2(handle link, int type, void *data, size_t size, const char *name, unsigned int n, int *options, void **values) {
	INSIDE;
	NEED(link == is(LINK) && type == 1 && size == strlen(data) + 1 && !name && n == 0 && !options && !values);
	if (strstr(data, "nonsense")) return 218;
	snprintf(linked, sizeof linked, "\x7f" "ELF%s", (char *)data);
	return 0;
}
CUresult cuLinkComplete(handle link, void **code, size_t *size) { INSIDE; NEED(link == is(LINK)); *code = linked; *size = strlen(linked) + 1; return 0; }
CUresult cuLinkDestroy(handle link) { INSIDE; NEED(link == is(LINK)); memset(linked, 0, sizeof linked); return 0; }

CUresult cuModuleUnload(handle m) { INSIDE; NEED(m == is(MODULE)); return 0; }
CUresult cuModuleGetFunction(handle *f, handle m, const char *name) { INSIDE; NEED(m == is(MODULE) && !strcmp(name, "fill")); *f = is(FUNCTION); return 0; }
CUresult cuFuncGetAttribute(int *value, int attribute, handle f) { INSIDE; NEED(f == is(FUNCTION)); *value = attribute == 0 ? 256 : 10 * attribute; return 0; }
CUresult cuFuncSetAttribute(handle f, int attribute, int value) { INSIDE; NEED(f == is(FUNCTION) && attribute == 8 && value == 60 << 10); return 0; }
CUresult cuLaunchKernel(handle f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz,
	unsigned int shared, handle s, void **params, void **extra) {
	INSIDE;
	NEED(f == is(FUNCTION) && gy == 1 && gz == 1 && by == 1 && bz == 1 && s == is(STREAM) && !extra);
	uint32_t *p = (uint32_t *)(intptr_t) * (CUdeviceptr *)params[0];
	uint64_t n = *(uint64_t *)params[1];
	for (uint64_t i = 0; i < (uint64_t)gx * bx && i < n; i++) p[i] = *(uint64_t *)params[2] + shared;
	return 0;
}

#ifndef NO_MAPS
CUresult cuTensorMapEncodeTiled(void *map, int type, unsigned int rank, void *address, const uint64_t *size, const uint64_t *stride,
	const unsigned int *box, const unsigned int *step, int interleave, int swizzle, int promotion, int fill) {
	INSIDE;
	NEED((uintptr_t)map % 64 == 0 && type == 1 && rank == 3 && address == (void *)0x7000 && interleave == 0 && swizzle == 3 && promotion == 2 && fill == 0);
	for (int i = 0; i < 3; i++) NEED(size[i] == 100 + i && box[i] == 10 + i && step[i] == 1);
	NEED(stride[0] == 208 && stride[1] == 208 * 101);
	memset(map, 7, 128);
	return 0;
}
#endif

CUresult cuStreamCreate(handle *s, unsigned int flags) { INSIDE; NEED(flags == 1); *s = is(STREAM); return 0; }
CUresult cuStreamSynchronize(handle s) { NEED(s == is(STREAM)); return 0; }
CUresult cuStreamWaitEvent(handle s, handle e, unsigned int flags) { NEED(s == is(STREAM) && e == is(EVENT) && flags == 0); return 0; }
CUresult cuStreamDestroy_v2(handle s) { NEED(s == is(STREAM)); return 0; }
CUresult cuEventCreate(handle *e, unsigned int flags) { INSIDE; NEED(flags == 0 || flags == 2); *e = is(EVENT); return 0; }
CUresult cuEventRecord(handle e, handle s) { NEED(e == is(EVENT) && s == is(STREAM)); return 0; }
CUresult cuEventQuery(handle e) { NEED(e == is(EVENT)); return 600; }
CUresult cuEventSynchronize(handle e) { NEED(e == is(EVENT)); return 0; }
CUresult cuEventElapsedTime(float *ms, handle start, handle end) { NEED(start == is(EVENT) && end == is(EVENT)); *ms = 2.5f; return 0; }
CUresult cuEventDestroy_v2(handle e) { NEED(e == is(EVENT)); return 0; }

// CUDA_KERNEL_NODE_PARAMS of version 1.
typedef struct {
	handle func;
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	void **kernelParams, **extra;
} params;
static struct { params p; CUdeviceptr memory; uint64_t n, value; int event; } nodes[8];
static int count;
static CUresult keep(int i, const params *p) {
	nodes[i].p = *p;
	nodes[i].event = 0;
	nodes[i].memory = *(CUdeviceptr *)p->kernelParams[0];
	nodes[i].n = *(uint64_t *)p->kernelParams[1];
	nodes[i].value = *(uint64_t *)p->kernelParams[2];
	return 0;
}
CUresult cuGraphCreate(handle *g, unsigned int flags) { INSIDE; NEED(flags == 0); *g = is(GRAPH); count = 0; return 0; }
CUresult cuGraphAddKernelNode(handle *n, handle g, const handle *after, size_t dependencies, const params *p) {
	INSIDE;
	NEED(g == is(GRAPH) && count < 8 && dependencies == (count > 0) && (count == 0 || *after == is(count)));
	*n = is(count + 1);
	return keep(count++, p);
}
#ifndef NO_MAPS
CUresult cuGraphAddEventRecordNode(handle *n, handle g, const handle *after, size_t dependencies, handle e) {
	INSIDE;
	NEED(g == is(GRAPH) && count < 8 && dependencies == (count > 0) && (count == 0 || *after == is(count)) && e == is(EVENT));
	nodes[count].event = 1;
	*n = is(++count);
	return 0;
}
#endif
#ifndef OLD
CUresult cuGraphInstantiateWithFlags(handle *x, handle g, unsigned long long flags) { INSIDE; NEED(g == is(GRAPH) && flags == 0); *x = is(EXEC); return 0; }
#endif
CUresult cuGraphExecKernelNodeSetParams(handle x, handle n, const params *p) { INSIDE; NEED(x == is(EXEC)); return keep((int)(intptr_t)n - 1, p); }
CUresult cuGraphLaunch(handle x, handle s) {
	INSIDE;
	NEED(x == is(EXEC));
	for (int i = 0; i < count; i++) {
		if (nodes[i].event) continue;
		params *p = &nodes[i].p;
		void *args[] = {&nodes[i].memory, &nodes[i].n, &nodes[i].value};
		NEED(!cuLaunchKernel(p->func, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ, p->sharedMemBytes, s, args, p->extra));
	}
	return 0;
}
CUresult cuGraphExecDestroy(handle x) { NEED(x == is(EXEC)); return 0; }
CUresult cuGraphDestroy(handle g) { NEED(g == is(GRAPH)); return 0; }
