package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// source is where a model's files are read from: a folder, or a file system.
type source struct {
	name string // for messages
	dir  string // "" for a file system
	fsys fs.FS
}

// bytesFS is a file system that can hand out a file's bytes without a copy.
type bytesFS interface {
	Bytes(name string) ([]byte, bool)
}

// openDir reads from a folder. Names that lead out of it are refused; links
// are followed, for hub caches are made of them.
func openDir(dir string) (*source, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is a file: give the folder it is in", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return &source{name: dir, dir: dir, fsys: os.DirFS(dir)}, nil
}

func (s *source) path(name string) string {
	if s.dir == "" {
		return s.name + "/" + name
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// read returns a file's contents.
func (s *source) read(name string) ([]byte, error) {
	if b, ok := s.fsys.(bytesFS); ok {
		if data, ok := b.Bytes(name); ok {
			return data, nil
		}
	}
	return fs.ReadFile(s.fsys, name)
}

func (s *source) has(name string) bool {
	_, err := fs.Stat(s.fsys, name)
	return err == nil
}

// maxJSON bounds a configuration file.
const maxJSON = 1 << 20

// config reads a JSON file into v. A file that is not there leaves v as it is
// and reports false.
func (s *source) config(name string, v any) (bool, error) {
	data, err := s.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("model: %s: %w", s.path(name), err)
	case len(data) > maxJSON:
		return false, fmt.Errorf("model: %s: %d bytes are too many for a configuration", s.path(name), len(data))
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("model: %s: %w", s.path(name), err)
	}
	return true, nil
}
