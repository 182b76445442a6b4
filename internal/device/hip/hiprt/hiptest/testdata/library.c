// A library with the functions of HIP's runtime and of its compiler, as
// hip_runtime_api.h and hiprtc.h declare them. It works on the processor's
// memory, or goes wrong in the way it is built for. The kernel of every program
// fills a buffer: arguments are the buffer, the number of words and the value, and
// each work-item fills one word.
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

typedef int hipError_t;
typedef int hiprtcResult;
typedef void *handle;

enum { STREAM = 0x13, MODULE = 0x15, FUNCTION = 0x16, PROGRAM = 0x17 };
static __thread int current = 5; // a device of somebody else
#define NEED(condition) if (!(condition)) return 1
#define INSIDE NEED(current == 0)
static handle is(intptr_t h) { return (handle)h; }

hipError_t hipInit(unsigned int flags) {
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
#ifdef NO_DRIVER
	return 35;
#endif
	return flags;
}
hipError_t hipDriverGetVersion(int *version) { *version = 60241134; return 0; }
hipError_t hipGetDeviceCount(int *n) {
#ifdef MANY_DEVICES
	*n = 0x7fffffff;
	return 0;
#endif
	*n = 1;
	return 0;
}
#ifdef UNKNOWN
#define ARCH "gfx9999"
#else
#define ARCH "gfx90a:sramecc+:xnack-"
#endif

// hipDeviceProp_t, as far as the name of the architecture.
typedef struct {
	char name[256];
	size_t totalGlobalMem, sharedMemPerBlock;
	int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, memoryClockRate, memoryBusWidth;
	size_t totalConstMem;
	int major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, computeMode, clockInstructionRate;
	unsigned arch;
	int concurrentKernels, pciDomainID, pciBusID, pciDeviceID;
	size_t maxSharedMemoryPerMultiProcessor;
	int isMultiGpuBoard, canMapHostMemory, gcnArch;
	char gcnArchName[256];
} before6;
typedef struct {
	char name[256], uuid[16], luid[8];
	unsigned luidDeviceNodeMask;
	size_t totalGlobalMem, sharedMemPerBlock;
	int regsPerBlock, warpSize;
	size_t memPitch;
	int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
	size_t totalConstMem;
	int major, minor;
	size_t textureAlignment, texturePitchAlignment;
	int deviceOverlap, multiProcessorCount;
	char between[1160 - 392]; // up to where hipDeviceProp_tR0600 has the name
	char gcnArchName[256];
} of6;
#define FILL \
	snprintf(p->name, sizeof p->name, "Library GPU %d", d); \
	snprintf(p->gcnArchName, sizeof p->gcnArchName, ARCH); \
	p->totalGlobalMem = 1; p->sharedMemPerBlock = 64 << 10; p->warpSize = 64; p->multiProcessorCount = 104; \
	return 0;
#ifdef BEFORE_6
hipError_t hipGetDeviceProperties(before6 *p, int d) { NEED(d == 0); FILL }
#else
hipError_t hipGetDeviceProperties(before6 *p, int d) { return 1; } // of programs for versions before 6
hipError_t hipGetDevicePropertiesR0600(of6 *p, int d) { NEED(d == 0); FILL }
#endif
hipError_t hipDeviceGetPCIBusId(char *text, int n, int d) { NEED(d == 0); snprintf(text, n, "0000:C1:00.0"); return 0; }
hipError_t hipDeviceTotalMem(size_t *bytes, int d) { NEED(d == 0); *bytes = (size_t)1 << 33; return 0; }
hipError_t hipSetDevice(int d) { current = d; return 0; }
hipError_t hipGetDevice(int *d) { *d = current; return 0; }

hipError_t hipMemGetInfo(size_t *left, size_t *total) { INSIDE; *left = 1; *total = 2; return 0; }
hipError_t hipMalloc(void **p, size_t n) { INSIDE; return (*p = malloc(n)) ? 0 : 2; }
hipError_t hipFree(void *p) { INSIDE; free(p); return 0; }
hipError_t hipMemcpyAsync(void *dst, const void *src, size_t n, int kind, handle s) { INSIDE; NEED(s == is(STREAM) && kind >= 1 && kind <= 3); memcpy(dst, src, n); return 0; }
hipError_t hipMemsetAsync(void *p, int value, size_t n, handle s) { INSIDE; NEED(s == is(STREAM)); memset(p, value, n); return 0; }

hipError_t hipStreamCreateWithFlags(handle *s, unsigned int flags) { INSIDE; NEED(flags == 1); *s = is(STREAM); return 0; }
hipError_t hipStreamSynchronize(handle s) { NEED(s == is(STREAM)); return 0; }
hipError_t hipStreamDestroy(handle s) { NEED(s == is(STREAM)); return 0; }

hipError_t hipModuleLoadData(handle *m, const void *image) { INSIDE; if (memcmp(image, "\x7f" "ELF", 4)) return 200; *m = is(MODULE); return 0; }
hipError_t hipModuleUnload(handle m) { INSIDE; NEED(m == is(MODULE)); return 0; }
hipError_t hipModuleGetFunction(handle *f, handle m, const char *name) { INSIDE; NEED(m == is(MODULE)); if (strcmp(name, "fill")) return 500; *f = is(FUNCTION); return 0; }
#ifndef OLD
hipError_t hipModuleLaunchKernel(handle f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz,
	unsigned int shared, handle s, void **params, void **extra) {
	INSIDE;
	NEED(f == is(FUNCTION) && gy == 1 && gz == 1 && by == 1 && bz == 1 && shared == 0 && s == is(STREAM) && !extra);
	uint32_t *p = *(uint32_t **)params[0];
	uint64_t n = *(uint64_t *)params[1];
	for (uint64_t i = 0; i < (uint64_t)gx * bx && i < n; i++) p[i] = *(uint64_t *)params[2];
	return 0;
}
#endif

#ifndef NO_COMPILER
// Code is the text behind the head of an ELF file, and the log is of what was
// refused.
static char code[100], complaint[100];
hiprtcResult hiprtcVersion(int *major, int *minor) { *major = 6; *minor = 2; return 0; }
hiprtcResult hiprtcCreateProgram(handle *p, const char *source, const char *name, int headers, const char **texts, const char **names) {
	if (strcmp(name, "program.hip") || headers || texts || names) return 2;
	snprintf(code, sizeof code, "\x7f" "ELF%s", source);
	*p = is(PROGRAM);
	return 0;
}
hiprtcResult hiprtcCompileProgram(handle p, int n, const char **options) {
	if (p != is(PROGRAM) || n != 2 || strcmp(options[0], "--gpu-architecture=" ARCH) || strcmp(options[1], "-O3")) return 5;
	if (!strstr(code, "nonsense")) return 0;
	snprintf(complaint, sizeof complaint, "line 1: nonsense");
	return 6;
}
hiprtcResult hiprtcGetProgramLogSize(handle p, size_t *n) { *n = strlen(complaint) + 1; return 0; }
hiprtcResult hiprtcGetProgramLog(handle p, char *text) { strcpy(text, complaint); return 0; }
hiprtcResult hiprtcGetCodeSize(handle p, size_t *n) { *n = strlen(code) + 1; return 0; }
hiprtcResult hiprtcGetCode(handle p, char *to) { strcpy(to, code); return 0; }
hiprtcResult hiprtcDestroyProgram(handle *p) { if (*p != is(PROGRAM)) return 4; *p = 0; return 0; }
#endif
