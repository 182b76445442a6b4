package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDisk fails at one operation and at all behind it but for Remove.
type fullDisk struct {
	OS
	after, done int
}

func (d *fullDisk) step() error {
	if d.done++; d.done > d.after {
		return syscall.ENOSPC
	}
	return nil
}

func (d *fullDisk) Create(name string, mode fs.FileMode) (File, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := d.OS.Create(name, mode)
	return &fullFile{f, d}, err
}

func (d *fullDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.OS.Rename(from, to)
}

type fullFile struct {
	File
	disk *fullDisk
}

func (f *fullFile) Write(p []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *fullFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	return f.File.Sync()
}

func write(d Disk, path, text string) error {
	p, err := Create(d, path, 0o600)
	if err != nil {
		return err
	}
	for _, part := range []string{text[:1], text[1:]} {
		if _, err := io.WriteString(p, part); err != nil {
			p.Discard()
			return err
		}
	}
	return p.Commit()
}

// Wherever the disk is full, the old file is there and nothing else.
func TestFullDisk(t *testing.T) {
	for after := 0; ; after++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		if err := write(nil, path, "old"); err != nil {
			t.Fatal(err)
		}
		err := write(&fullDisk{after: after}, path, "new")
		data, e := os.ReadFile(path)
		if e != nil {
			t.Fatal(e)
		}
		names, e := os.ReadDir(dir)
		if e != nil || len(names) != 1 {
			t.Fatal(names, e)
		}
		if err == nil {
			if after != 5 || string(data) != "new" {
				t.Errorf("after %d operations %q", after, data)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) || string(data) != "old" {
			t.Errorf("operation %d: %v, %q", after, err, data)
		}
	}
}

func TestCreateWithoutFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "file")
	if _, err := Create(nil, path, 0o600); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), suffix) {
		t.Error(err)
	}
}

func TestOf(t *testing.T) {
	dir := t.TempDir()
	p, err := Create(nil, filepath.Join(dir, "a.b"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if of, ok := Of(names[0].Name()); of != "a.b" || !ok {
		t.Error(of, ok)
	}
	p.Discard()
	for _, name := range []string{"", ".", "a.b", ".part", ".12345678.part", "a.b.12345678.part", ".a.b.part", ".a.1234567.part"} {
		if of, ok := Of(name); ok {
			t.Errorf("%q: %q", name, of)
		}
	}
}
