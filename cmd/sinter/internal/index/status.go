package index

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Status describes a space.
type Status struct {
	Space
	Dir    string    `json:"folder"`
	Bytes  int64     `json:"bytes"`
	Files  int       `json:"files"`
	Chunks int       `json:"chunks"`
	Roots  []Root    `json:"roots"`
	Made   time.Time `json:"made"` // of the oldest vector; zero where there is none
	Used   time.Time `json:"used"` // within an hour
	// Damage says why the numbers cannot be told; "" where nothing is wrong.
	Damage string `json:"damage,omitempty"`
}

// Root is a path that was searched.
type Root struct {
	Path string    `json:"path"`
	Used time.Time `json:"used"`
}

// List describes the spaces in the folder of an index, the last used first. A
// folder that is missing has none.
func List(ctx context.Context, dir string) ([]Status, error) {
	names, err := spaceNames(dir)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	all := []Status{}
	for _, name := range names {
		s := Status{Dir: filepath.Join(dir, name), Bytes: folderBytes(dir, []string{name}), Roots: []Root{}}
		if err := s.read(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			s.Damage = err.Error()
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Status) int { return b.Used.Compare(a.Used) })
	return all, nil
}

func (s *Status) read(ctx context.Context) error {
	var err error
	if s.Space, err = readSpace(s.Dir); err != nil {
		return err
	}
	if info, err := os.Stat(filepath.Join(s.Dir, spaceName)); err == nil {
		s.Used = info.ModTime()
	}
	x := &Index{dir: s.Dir, space: s.Space}
	return x.read(ctx, func(r *Reader) error {
		if r.tx == nil {
			return nil
		}
		if err := r.count(s); err != nil {
			return err
		}
		segments, err := r.Segments()
		if err != nil {
			return err
		}
		defer segments.Close()
		for _, seg := range segments.open {
			for _, b := range seg.blocks {
				if s.Made.IsZero() || b.made.Before(s.Made) {
					s.Made = b.made
				}
			}
		}
		return nil
	})
}

// count fills in what the tables tell.
func (r *Reader) count(s *Status) error {
	if err := r.tx.each(tableFiles, func(_, _ []byte) error { s.Files++; return nil }); err != nil {
		return err
	}
	if err := r.tx.each(tableChunks, func(_, _ []byte) error { s.Chunks++; return nil }); err != nil {
		return err
	}
	err := r.tx.each(tableRoots, func(key, value []byte) error {
		root := Root{string(key), decodeTime(value)}
		s.Roots = append(s.Roots, root)
		if root.Used.After(s.Used) { // touch leaves out what is within an hour
			s.Used = root.Used
		}
		return nil
	})
	slices.SortFunc(s.Roots, func(a, b Root) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Path, b.Path)) })
	return err
}

// spaceNames lists the folders of spaces, which are called by a hash. Whatever
// else lies in the folder is not ours.
func spaceNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if id, err := hex.DecodeString(e.Name()); err == nil && len(id) == len(Key{}) && e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// folderBytes adds up the files of spaces.
func folderBytes(dir string, names []string) int64 {
	var bytes int64
	for _, name := range names {
		entries, _ := os.ReadDir(filepath.Join(dir, name)) // what cannot be read counts nothing
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
	}
	return bytes
}
