// Package reftest finds the data that reference tests read: outputs of
// independent implementations, and the real models they were made with.
package reftest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
)

// Dir is the folder of reference data called name, such as "minilm". With
// SINTER_REFERENCE set it lies in that folder, which may hold a subset of the
// names: a test whose data is not there is skipped. Otherwise it is
// testdata/reference/name of this repository, and must exist.
func Dir(t testing.TB, name string) string {
	t.Helper()
	if root := os.Getenv("SINTER_REFERENCE"); root != "" {
		dir := filepath.Join(root, name)
		if !isDir(dir) {
			t.Skipf("SINTER_REFERENCE is set to %s, which has no folder %q; unset it to use testdata/reference", root, name)
		}
		return dir
	}
	dir := filepath.Join(repository(t), "testdata", "reference", name)
	if !isDir(dir) {
		t.Fatalf("no reference data in %s: the checkout is incomplete, or the name is wrong", dir)
	}
	return dir
}

// Model is the folder of a real model called name, in $SINTER_MODELS or
// ~/.cache/sinter-models. Models are too large for the repository, so the test
// is skipped where it is absent; with SINTER_CI set it fails.
func Model(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("SINTER_MODELS")
	if root == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Skipf("no home folder to look for models in (%v); set SINTER_MODELS", err)
		}
		root = filepath.Join(home, ".cache", "sinter-models")
	}
	dir := filepath.Join(root, name)
	if !isDir(dir) {
		effort.Missing(t, fmt.Sprintf("no model %q in %s; get it with .ci/fetch-models", name, root))
	}
	return dir
}

// repository is the folder of go.mod. A test runs in the folder of its
// package, so it is that folder or one above.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod in the folder of the test or above it")
		}
		dir = parent
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
