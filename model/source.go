package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sinterml/sinter/hub"
	"github.com/sinterml/sinter/internal/jsonread"
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

// openDir reads from a folder: regular files, and none outside.
func openDir(dir string) (*source, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is a file: give the folder it is in", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return &source{name: dir, dir: dir, fsys: hub.Folder(dir)}, nil
}

func (s *source) path(name string) string {
	if s.dir == "" {
		return s.name + "/" + name
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// open opens a file that must be a regular one: a pipe would hold its reader.
func (s *source) open(name string) (file fs.File, size int64, err error) {
	info, err := fs.Stat(s.fsys, name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("it is no regular file (%v)", info.Mode().Type())
	}
	file, err = s.fsys.Open(name)
	return file, info.Size(), err
}

// read returns the contents of a file of at most limit bytes.
func (s *source) read(name string, limit int64) ([]byte, error) {
	if b, ok := s.fsys.(bytesFS); ok {
		if data, ok := b.Bytes(name); ok {
			return data, nil
		}
	}
	file, size, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if size <= limit {
		data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		if _, err := data.ReadFrom(io.LimitReader(file, limit+1)); err != nil {
			return nil, err
		}
		if int64(data.Len()) <= limit {
			return data.Bytes(), nil
		}
		size = int64(data.Len())
	}
	return nil, fmt.Errorf("%d bytes are too many: at most %d", size, limit)
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
	data, err := s.read(name, maxJSON)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err == nil:
		err = unmarshal(data, v)
	}
	if err != nil {
		return false, fmt.Errorf("model: %s: %w", s.path(name), err)
	}
	return true, nil
}

// unmarshal is json.Unmarshal for files of strangers, where two values of one
// name would mean different things to different readers.
func unmarshal(data []byte, v any) error {
	r := jsonread.New(string(data))
	if err := noRepeats(r, strings.ToLower); err != nil { // as encoding/json finds fields
		return err
	}
	if err := r.End(); err != nil {
		return err
	}
	err := json.Unmarshal(data, v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) { // its value may be long
		return fmt.Errorf("%.80s: a %.40s is no %v", wrong.Field, wrong.Value, wrong.Type)
	}
	return err
}

// noRepeats moves past a value and refuses objects with two keys that fold
// makes the same; in objects within, with two that are the same.
func noRepeats(r *jsonread.Reader, fold func(string) string) error {
	exact := func(key string) string { return key }
	switch r.Next() {
	case '{':
		seen := map[string]bool{}
		return r.Object(func(key string) error {
			if key = fold(key); seen[key] {
				return r.Fail("%.40q appears twice", key)
			}
			seen[key] = true
			return noRepeats(r, exact)
		})
	case '[':
		return r.Array(func() error { return noRepeats(r, exact) })
	}
	return r.Skip()
}
