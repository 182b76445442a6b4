package cltest

import (
	_ "embed"
	"testing"

	"github.com/sinterml/sinter/internal/dynlib/libtest"
)

//go:embed testdata/library.c
var librarySource []byte

// Library builds an OpenCL library that goes wrong in one way, and returns the
// folder it is in, for LD_LIBRARY_PATH. The ways are CRASH_AT_LOAD,
// HANG_AT_ENUMERATION, CRASH_AT_ENUMERATION, EXIT_AT_ENUMERATION, NO_DEVICES,
// MANY_PLATFORMS (more than there can be) and OLD (a function is missing).
func Library(t testing.TB, way string) string {
	t.Helper()
	return libtest.Build(t, librarySource, "libOpenCL.so.1", way)
}
