// Package textfiles finds the text files below folders.
package textfiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the size above which a file is left aside: generated code, logs
// and data say little and fill an index.
const MaxBytes = 2 << 20

// sniffed is how much of a file is searched for a zero byte, which no text has.
const sniffed = 8 << 10

// Why Read leaves a file aside.
var (
	ErrBinary   = errors.New("not a text file")
	ErrTooLarge = fmt.Errorf("larger than %d MiB", MaxBytes>>20)
	ErrEncoding = errors.New("not valid UTF-8")
)

// File is a file that List found.
type File struct {
	Path string // as a user would type it
	Size int64
}

// Options say what List takes. The zero value is every file that is neither
// hidden nor in a hidden folder.
type Options struct {
	// Globs choose files: see ParseGlobs.
	Globs Globs
	// Warn, if set, is told of what cannot be read.
	Warn func(path string, err error)
}

// List finds the files below roots, in lexical order. A root may itself be a
// file; a root that does not exist is an error. Links are not followed, but for
// roots. A file below two roots is listed once.
func List(ctx context.Context, roots []string, o Options) ([]File, error) {
	l := lister{ctx: ctx, Options: o, seen: map[string]bool{}}
	for _, root := range roots {
		info, err := os.Stat(root)
		if err != nil {
			return nil, err
		}
		switch {
		case info.IsDir():
			if err := l.walk(root); err != nil {
				return nil, err
			}
		case info.Mode().IsRegular():
			l.add(root, info.Size())
		default:
			return nil, fmt.Errorf("%s is neither a file nor a folder", root)
		}
	}
	return l.files, nil
}

type lister struct {
	Options
	ctx   context.Context
	files []File
	seen  map[string]bool // absolute paths
}

func (l *lister) walk(root string) error {
	// A root that is a link to a folder is walked as one: WalkDir itself looks
	// at the link.
	start := root
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		start = root + string(filepath.Separator)
	}
	return filepath.WalkDir(start, func(path string, d fs.DirEntry, err error) error {
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		if err != nil {
			l.warn(path, err)
			return nil
		}
		if path == start {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if l.leaveOut(filepath.ToSlash(rel), d) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil { // it has gone meanwhile
			l.warn(path, err)
			return nil
		}
		l.add(path, info.Size())
		return nil
	})
}

func (l *lister) leaveOut(rel string, d fs.DirEntry) bool {
	return strings.HasPrefix(d.Name(), ".") || l.Globs.Excludes(rel, d.IsDir())
}

func (l *lister) warn(path string, err error) {
	if l.Warn != nil {
		l.Warn(path, err)
	}
}

func (l *lister) add(path string, size int64) {
	key := path
	if abs, err := filepath.Abs(path); err == nil {
		key = abs
	}
	if !l.seen[key] {
		l.seen[key] = true
		l.files = append(l.files, File{filepath.Clean(path), size})
	}
}

// Read reads a text file, without a byte order mark. What is no text, or too
// much of it, is an error that wraps one of this package's.
func Read(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return "", err
	case bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0:
		return "", fmt.Errorf("%s: %w", path, ErrBinary)
	case len(data) > MaxBytes:
		return "", fmt.Errorf("%s: %w", path, ErrTooLarge)
	case !utf8.Valid(data):
		return "", fmt.Errorf("%s: %w", path, ErrEncoding)
	}
	return string(bytes.TrimPrefix(data, []byte("\ufeff"))), nil
}
