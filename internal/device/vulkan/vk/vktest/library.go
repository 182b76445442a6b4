package vktest

import (
	_ "embed"
	"testing"

	"github.com/sinterml/sinter/internal/dynlib/libtest"
)

//go:embed testdata/library.c
var librarySource []byte

// Library builds a loader of Vulkan that goes wrong in one way, and returns the
// folder it is in, for LD_LIBRARY_PATH. The ways are CRASH_AT_LOAD, NO_DRIVER,
// HANG_AT_INSTANCE, CRASH_AT_INSTANCE, EXIT_AT_INSTANCE, NO_DEVICES,
// MANY_DEVICES (more than there can be), OLD (of version 1.1) and GAP (a
// function is missing).
func Library(t testing.TB, way string) string {
	t.Helper()
	return libtest.Build(t, librarySource, "libvulkan.so.1", way)
}
