package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestFolder(t *testing.T) {
	if runtime.GOOS == "plan9" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no locks here")
	}
	dir := filepath.Join(t.TempDir(), "folder")
	if _, err := Folder(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	release, err := Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("a folder that is locked: %v", err)
	}
	release()
	if release, err = Folder(dir); err != nil {
		t.Fatalf("a folder that was given free: %v", err)
	}
	release()
}
