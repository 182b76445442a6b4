//go:build unix

package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/timetest"
	"golang.org/x/sys/unix"
)

// What is no regular file inside the folder is refused, without waiting for
// whoever may be at the other end.
func TestFolderRefuses(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "model")
	write(t, filepath.Join(dir, "config.json"), "text")
	write(t, filepath.Join(base, "secret"), "text")
	write(t, filepath.Join(dir, "sub", "config.json"), "text")
	for name, target := range map[string]string{
		"up": "../secret", "absolute": filepath.Join(base, "secret"), "device": "/dev/zero", "loop": "loop", "chain": "up", "folder": "..",
		"none": "absent", "inside": "config.json", "deep": "sub/../sub/config.json", "whole": filepath.Join(dir, "config.json"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"up": "out of the folder", "absolute": "out of the folder", "chain": "out of the folder", "folder": "out of the folder",
		"folder/secret": "out of the folder", "device": "out of the folder", "loop": "links", "none": "no such file", "pipe": "no regular file",
		"sub": "a folder", ".": "a folder", "..": "not a path", "../secret": "not a path", "/etc/passwd": "not a path", "sub/../config.json": "not a path",
		"": "not a path", "a\x00b": "not a path", "absent": "no such file", "config.json/x": "not a directory",
		strings.Repeat("x", 10_000): "too long",
	} {
		var file fs.File
		var err error
		timetest.Within(t, time.Second, fmt.Sprintf("%.40q: refusing it", name), func() { file, err = Folder(dir).Open(name) })
		if err == nil {
			_ = file.Close()
			t.Errorf("%.40q was opened", name)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want an error that says %q", name, err, want)
		}
	}
	for _, name := range []string{"config.json", "inside", "deep", "whole", "sub/config.json"} {
		if data, err := fs.ReadFile(Folder(dir), name); err != nil || string(data) != "text" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// A link whose file was not loaded, or is gone, is a damaged model and not one
// without that file: what reads it must not go on without.
func TestFolderDanglingLink(t *testing.T) {
	dir := t.TempDir()
	for name, target := range map[string]string{"modules.json": "../../blobs/1234", "1_Pooling": "gone", "chain": "modules.json"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"modules.json", "1_Pooling/config.json", "chain"} {
		_, err := Folder(dir).Open(name)
		if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no such file") || !strings.Contains(err.Error(), "link") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"absent", "absent/config.json"} {
		if _, err := Folder(dir).Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A folder may be named from where the program runs.
func TestFolderRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, filepath.Join("models", "tiny", "config.json"), "text")
	for _, dir := range []string{"models/tiny", "./models/tiny/", "models/../models/tiny"} {
		if data, err := fs.ReadFile(Folder(dir), "config.json"); err != nil || string(data) != "text" {
			t.Errorf("%s: %q, %v", dir, data, err)
		}
	}
}

// The hub cache keeps a snapshot's files in the folder "blobs" beside it.
func TestFolderOfASnapshot(t *testing.T) {
	repo := filepath.Join(t.TempDir(), "models--a--b")
	write(t, filepath.Join(repo, "blobs", "1234"), "text")
	write(t, filepath.Join(filepath.Dir(repo), "models--other", "blobs", "5678"), "text")
	snapshot := filepath.Join(repo, "snapshots", "abcd")
	if err := os.MkdirAll(snapshot, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"config.json": "../../blobs/1234", "stranger": "../../../models--other/blobs/5678"} {
		if err := os.Symlink(target, filepath.Join(snapshot, name)); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := fs.ReadFile(Folder(snapshot), "config.json"); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := fs.ReadFile(Folder(snapshot), "stranger"); err == nil || !strings.Contains(err.Error(), "out of the folder") {
		t.Errorf("a file of another model: %v", err)
	}
	// A link to the snapshot is as good as its name.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(snapshot, link); err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(Folder(link), "config.json"); err != nil {
		t.Error(err)
	}
}

func TestFolderThatIsNone(t *testing.T) {
	for _, f := range []Folder{"", Folder(filepath.Join(t.TempDir(), "absent")), "\x00"} {
		if _, err := f.Open("config.json"); err == nil {
			t.Errorf("%q: no error", string(f))
		}
	}
}
