package textfiles

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// List finds the files below roots, each root's in lexical order of their
// folders and names. A root may itself be a file, a pipe, or Stdin; it is taken
// whatever the rules are. A root that does not exist is an error. A file below
// two roots is listed once.
func List(ctx context.Context, roots []string, o Options) ([]File, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Skip == nil {
		o.Skip = func(string, error) {}
	}
	l := lister{ctx: ctx, Options: o, reader: ruleReader{o.Skip}, seen: map[string]bool{}}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if o.Excludes != "" && !o.NoIgnore {
		l.global = l.reader.file(o.Excludes)
	}
	for _, root := range roots {
		if err := l.root(cwd, root); err != nil {
			return nil, err
		}
	}
	return l.files, nil
}

type lister struct {
	Options
	ctx    context.Context
	reader ruleReader
	global patterns
	files  []File
	seen   map[string]bool // absolute paths
}

// folder is one that is being walked, or a root.
type folder struct {
	path string // as a user would type it
	// real is the path that rules are about: absolute, with slashes, the root's
	// links resolved.
	real string
	// local is the path that globs of a user are about: from the current folder
	// if it is in that, with slashes.
	local string
	rules *rules // of the folders above
	above []fs.FileInfo
}

func (l *lister) root(cwd, root string) error {
	if root == Stdin {
		l.add(Stdin, File{Path: Stdin, Named: true})
		return nil
	}
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	abs := filepath.Clean(root)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(cwd, root)
	}
	real, err := filepath.EvalSymlinks(abs)
	if !info.IsDir() {
		if err != nil { // a pipe has no path of its own
			real = abs
		}
		l.add(filepath.ToSlash(real), File{filepath.Clean(root), info.Size(), true, info})
		return nil
	}
	if err != nil {
		return err
	}
	f := folder{path: filepath.Clean(root), real: filepath.ToSlash(real), local: filepath.ToSlash(abs)}
	if rel, err := filepath.Rel(cwd, abs); err == nil && filepath.IsLocal(rel) {
		f.local = filepath.ToSlash(rel)
	}
	if !l.NoIgnore {
		f.rules = l.reader.above(real)
	}
	return l.walk(f, info)
}

// walk lists what a folder holds. Only the end of the context is an error.
func (l *lister) walk(f folder, info fs.FileInfo) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(f.path)
	if err != nil {
		l.Skip(f.path, err)
	}
	if !l.NoIgnore {
		f.rules = l.reader.enter(f.rules, filepath.FromSlash(f.real), func(name string) bool {
			_, found := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
			return found
		})
	}
	if l.Follow {
		f.above = append(slices.Clip(f.above), info)
	}
	for _, e := range entries {
		if err := l.entry(&f, e); err != nil {
			return err
		}
	}
	return nil
}

// entry lists one thing that a folder holds.
func (l *lister) entry(f *folder, e fs.DirEntry) error {
	kind := e.Type()
	link := kind&fs.ModeSymlink != 0
	if link && !l.Follow || !link && !kind.IsDir() && !kind.IsRegular() {
		return nil
	}
	name := e.Name()
	child := folder{path: filepath.Join(f.path, name), real: slashed(f.real) + name, local: path.Join(f.local, name), rules: f.rules, above: f.above}
	var info fs.FileInfo
	if link {
		var err error
		if info, err = os.Stat(child.path); err != nil {
			l.Skip(child.path, err)
			return nil
		}
		kind = info.Mode().Type()
	}
	if l.leaveOut(&child, name, kind.IsDir()) || !kind.IsDir() && !kind.IsRegular() {
		return nil
	}
	if info == nil && (l.Follow || !kind.IsDir()) {
		var err error
		if info, err = e.Info(); err != nil { // it has gone meanwhile
			l.Skip(child.path, err)
			return nil
		}
	}
	switch {
	case kind.IsDir() && link && slices.ContainsFunc(f.above, func(up fs.FileInfo) bool { return os.SameFile(up, info) }):
		l.Skip(child.path, fmt.Errorf("%s: %w", child.path, ErrLoop))
	case kind.IsDir():
		return l.walk(child, info)
	case info.Size() > l.MaxBytes:
		l.Skip(child.path, fmt.Errorf("%s: %w", child.path, ErrTooLarge))
	default:
		l.add(child.real, File{child.path, info.Size(), false, info})
	}
	return nil
}

// leaveOut decides: a user's globs first, then the files of rules, then types;
// a hidden file is left out if none of them speaks for it.
func (l *lister) leaveOut(f *folder, name string, dir bool) bool {
	if v := l.Globs.judge(f.local, dir); v != silent {
		return v == ignore
	}
	included := false
	if f.rules != nil {
		v := f.rules.judge(f.real, dir, l.global, f.local)
		if v == ignore {
			return true
		}
		included = v == include
	}
	switch l.Types.judge(name, dir) {
	case ignore:
		return true
	case include:
		included = true
	}
	return !included && !l.Hidden && strings.HasPrefix(name, ".")
}

// add lists a file, by what tells it from others, unless it has been listed.
func (l *lister) add(key string, f File) {
	if !l.seen[key] {
		l.seen[key] = true
		l.files = append(l.files, f)
	}
}
