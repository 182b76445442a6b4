// A library with OpenCL's functions that goes wrong in the way it is built for.
// Whatever else is called fails with CL_INVALID_OPERATION.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef CRASH_AT_LOAD
__attribute__((constructor)) static void load(void) {
	fprintf(stderr, "driver: cannot cope\n");
	*(volatile int *)0 = 1;
}
#endif

int clGetPlatformIDs(uint32_t n, void **ids, uint32_t *count) {
#ifdef HANG_AT_ENUMERATION
	for (;;) pause();
#endif
#ifdef CRASH_AT_ENUMERATION
	abort();
#endif
#ifdef EXIT_AT_ENUMERATION
	exit(3);
#endif
#ifdef MANY_PLATFORMS
	if (count) *count = 0x7fffffff;
	return 0;
#endif
	if (count) *count = 0;
	return -1001; // CL_PLATFORM_NOT_FOUND_KHR
}

#define FAILS(name) int name(void) { return -59; }
FAILS(clBuildProgram)
FAILS(clCreateBuffer)
FAILS(clCreateCommandQueue)
FAILS(clCreateContext)
FAILS(clCreateKernel)
FAILS(clCreateProgramWithBinary)
FAILS(clCreateProgramWithSource)
FAILS(clCreateSubBuffer)
FAILS(clEnqueueCopyBuffer)
FAILS(clEnqueueFillBuffer)
FAILS(clEnqueueMapBuffer)
FAILS(clEnqueueMarkerWithWaitList)
FAILS(clEnqueueNDRangeKernel)
FAILS(clEnqueueReadBuffer)
FAILS(clEnqueueUnmapMemObject)
FAILS(clEnqueueWriteBuffer)
#ifndef OLD
FAILS(clFinish)
#endif
FAILS(clFlush)
FAILS(clGetDeviceIDs)
FAILS(clGetDeviceInfo)
FAILS(clGetEventInfo)
FAILS(clGetEventProfilingInfo)
FAILS(clGetKernelWorkGroupInfo)
FAILS(clGetPlatformInfo)
FAILS(clGetProgramBuildInfo)
FAILS(clGetProgramInfo)
FAILS(clReleaseCommandQueue)
FAILS(clReleaseContext)
FAILS(clReleaseEvent)
FAILS(clReleaseKernel)
FAILS(clReleaseMemObject)
FAILS(clReleaseProgram)
FAILS(clSetEventCallback)
FAILS(clSetKernelArg)
FAILS(clWaitForEvents)
