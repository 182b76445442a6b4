// A loader of Vulkan that goes wrong in the way it is built for. Whatever else
// is called fails with VK_ERROR_INITIALIZATION_FAILED.
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

static int fails(void) { return -3; }

static int version(uint32_t *v) {
#ifdef OLD
	*v = 1u << 22 | 1u << 12;
#else
	*v = 1u << 22 | 3u << 12;
#endif
	return 0;
}

static int extensions(const char *layer, uint32_t *count, void *out) {
	*count = 0;
	return 0;
}

static int create(const void *info, const void *allocator, void **instance) {
#ifdef HANG_AT_INSTANCE
	for (;;) pause();
#endif
#ifdef CRASH_AT_INSTANCE
	abort();
#endif
#ifdef EXIT_AT_INSTANCE
	exit(3);
#endif
#ifdef NO_DRIVER
	return -9; // VK_ERROR_INCOMPATIBLE_DRIVER
#endif
	*instance = (void *)1;
	return 0;
}

static int devices(void *instance, uint32_t *count, void *out) {
#ifdef MANY_DEVICES
	*count = 0x7fffffff;
#else
	*count = 0;
#endif
	return 0;
}

void *vkGetInstanceProcAddr(void *instance, const char *name) {
	if (strcmp(name, "vkEnumerateInstanceVersion") == 0) return version;
	if (strcmp(name, "vkEnumerateInstanceExtensionProperties") == 0) return extensions;
	if (strcmp(name, "vkCreateInstance") == 0) return create;
	if (strcmp(name, "vkEnumeratePhysicalDevices") == 0) return devices;
#ifdef GAP
	if (strcmp(name, "vkGetPhysicalDeviceFeatures2") == 0) return 0;
#endif
	return fails;
}
