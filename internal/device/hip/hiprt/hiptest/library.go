package hiptest

import (
	_ "embed"
	"testing"

	"github.com/sinterml/sinter/internal/dynlib/libtest"
)

//go:embed testdata/library.c
var librarySource []byte

// Library builds a library of HIP's runtime and compiler and returns the folder it
// is in, for LD_LIBRARY_PATH. It works on the memory of the host (WORKS, and
// BEFORE_6 with what versions before 6 have), or goes wrong in one way:
// CRASH_AT_LOAD, HANG_AT_INIT, CRASH_AT_INIT, EXIT_AT_INIT, NO_DEVICES, NO_DRIVER,
// MANY_DEVICES (more than there can be), UNKNOWN (an architecture), NO_COMPILER
// and OLD (a function is missing).
func Library(t testing.TB, way string) string {
	t.Helper()
	return libtest.Build(t, librarySource, "libamdhip64.so.7", way)
}
