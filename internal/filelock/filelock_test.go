package filelock

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
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

// A child that is being started by another goroutine has all files that are open, until
// it runs its program.
func TestFolderBesideChildren(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("no children that have files of their parent here")
	}
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	var started sync.WaitGroup
	defer started.Wait()
	defer stop()
	for range 2 {
		started.Go(func() {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, "true").Run()
			}
		})
	}
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		release, err := Folder(dir)
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
}
