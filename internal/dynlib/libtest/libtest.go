// Package libtest builds libraries in C for tests: drivers that go wrong where
// they are opened.
package libtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
)

// Build compiles source with -D way as the library called file, and returns the
// folder it is in, for LD_LIBRARY_PATH. Without a C compiler the test is
// skipped, but fails where everything has to be tested.
func Build(t testing.TB, source []byte, file, way string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		effort.Missing(t, "no C compiler to build a library with")
	}
	dir := t.TempDir()
	c := filepath.Join(dir, "library.c")
	if err := os.WriteFile(c, source, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(cc, "-shared", "-fPIC", "-D"+way, "-o", filepath.Join(dir, file), c).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}
