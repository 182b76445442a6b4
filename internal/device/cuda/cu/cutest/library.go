package cutest

import (
	_ "embed"
	"testing"

	"github.com/sinterml/sinter/internal/dynlib/libtest"
)

//go:embed testdata/library.c
var librarySource []byte

// Library builds a library of CUDA's driver and returns the folder it is in, for
// LD_LIBRARY_PATH. It works on the memory of the host (WORKS), or goes wrong in
// one way: CRASH_AT_LOAD, HANG_AT_INIT, CRASH_AT_INIT, EXIT_AT_INIT, NO_DEVICES,
// STUB, MANY_DEVICES (more than there can be) and OLD (a function is missing). One
// of NO_MAPS works without cuTensorMapEncodeTiled and cuGraphAddEventRecordNode.
func Library(t testing.TB, way string) string {
	t.Helper()
	return libtest.Build(t, librarySource, "libcuda.so.1", way)
}
