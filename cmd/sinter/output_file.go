package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sinterml/sinter/internal/atomicfile"
)

// outputFile is where a command's data goes: standard output, or a file that
// appears under its name once all is in it.
type outputFile struct {
	io.Writer
	file    *os.File            // nil: standard output
	pending *atomicfile.Pending // nil where file is written in place
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
	mode, kept := fs.FileMode(0o666), false // less umask, but those of a file that is there
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
		mode, kept = info.Mode().Perm(), true
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	p, err := atomicfile.Create(nil, path, mode)
	if err != nil {
		return nil, err
	}
	file := p.File.(*os.File)
	if kept {
		_ = file.Chmod(mode) // what umask took; where there are no modes it is none the worse
	}
	return &outputFile{Writer: p, file: file, pending: p}, nil
}

// checkOutput says before long work what createOutput would say behind it. What is
// written in place is left alone: a pipe is opened once.
func (a *app) checkOutput(flag, path string) error {
	info, err := os.Stat(path)
	if path == "" || path == "-" || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	out, err := a.createOutput(path)
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	out.pending.Discard()
	return nil
}

// seekable is the file where its bytes can be written in any order.
func (o *outputFile) seekable() *os.File {
	if o.pending == nil {
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
	switch {
	case o.pending == nil:
		return errors.Join(err, o.file.Close())
	case err != nil:
		o.pending.Discard()
		return err
	}
	return o.pending.Commit()
}
