// Package atomicfile writes files that are there as a whole or not at all, also
// when the process is killed or the power fails meanwhile: into a temporary
// file beside them, which is synced and then takes their name.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Disk is where files are written, so that tests can fill it or pull its plug.
type Disk interface {
	// Create makes a file that is not there yet.
	Create(name string, mode fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	// SyncDir makes sure that the names in a folder are kept.
	SyncDir(name string) error
}

// File is a file that is being written.
type File interface {
	io.WriteCloser
	Sync() error
}

// OS is the disk of the operating system.
type OS struct{}

// Create makes a file to write to and to read back.
func (OS) Create(name string, mode fs.FileMode) (File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
}

// Rename puts a file in the place of another.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove deletes a file.
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir is the function of that name.
func (OS) SyncDir(name string) error { return SyncDir(name) }

// Pending is a file that has not taken its name yet. Commit or Discard ends it.
type Pending struct {
	File
	disk       Disk
	path, temp string
}

// suffix of files that are not complete.
const suffix = ".part"

// Create begins a file, on the disk of the operating system if d is nil.
func Create(d Disk, path string, mode fs.FileMode) (*Pending, error) {
	if d == nil {
		d = OS{}
	}
	p := &Pending{disk: d, path: path, temp: filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x%s", filepath.Base(path), rand.Uint32(), suffix))}
	f, err := d.Create(p.temp, mode)
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err // its path is of nobody's making
	}
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", path, err)
	}
	p.File = f
	return p, nil
}

// Of tells whether a file of this name, without its folder, is a temporary one,
// and of which: what a process that was killed leaves behind.
func Of(name string) (path string, ok bool) {
	rest, dotted := strings.CutPrefix(name, ".")
	rest, ok = strings.CutSuffix(rest, suffix)
	dot := len(rest) - 9 // before eight digits
	if !ok || !dotted || dot < 1 || rest[dot] != '.' {
		return "", false
	}
	return rest[:dot], true
}

// Commit gives the file its name once all of it is on the disk. After an error
// what had the name before is there, and the temporary file is not.
func (p *Pending) Commit() error {
	err := p.File.Sync()
	if e := p.File.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = p.disk.Rename(p.temp, p.path)
	}
	if err != nil {
		_ = p.disk.Remove(p.temp)
		return err
	}
	return p.disk.SyncDir(filepath.Dir(p.path))
}

// Discard removes what was written.
func (p *Pending) Discard() {
	_ = p.File.Close()
	_ = p.disk.Remove(p.temp)
}
