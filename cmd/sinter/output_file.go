package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// outputFile is where a command's data goes: standard output, or a file that
// appears under its name once all is in it.
type outputFile struct {
	io.Writer
	file *os.File // nil: standard output
	path string   // to rename file to; "" where file is written in place
}

// createOutput opens a file for writing; "" and "-" are standard output. What is no
// regular file, such as a pipe or /dev/null, is written in place.
func (a *app) createOutput(path string) (*outputFile, error) {
	if path == "" || path == "-" {
		return &outputFile{Writer: a.stdout}, nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link is followed, not replaced
	}
	mode := fs.FileMode(0o666) // less umask
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return nil, usagef("output %s is a folder: give the name of a file", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &outputFile{Writer: f, file: f}, nil
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x.part", filepath.Base(path), rand.Uint32()))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err // its path is of nobody's making
	}
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", path, err)
	}
	return &outputFile{Writer: f, file: f, path: path}, nil
}

// seekable is the file where its bytes can be written in any order.
func (o *outputFile) seekable() *os.File {
	if o.path == "" {
		return nil
	}
	return o.file
}

// close ends the output. Where err, the result of what wrote it, is nil, the
// file takes its name, else it goes.
func (o *outputFile) close(err error) error {
	if o.file == nil {
		return err
	}
	if err == nil && o.path != "" {
		err = o.file.Sync()
	}
	if e := o.file.Close(); err == nil {
		err = e
	}
	switch {
	case o.path == "":
		return err
	case err == nil:
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		_ = os.Remove(o.file.Name())
	}
	return err
}
