// Package textfiles finds the text files below folders, those that ripgrep
// would search, and reads them.
//
// It follows ripgrep where that differs from git: rules of a parent's
// .gitignore hold up to the nearest repository, those of .ignore and .rgignore
// everywhere, braces in patterns mean either, and a pattern after ! that
// matches a hidden file makes it visible.
package textfiles

import (
	"errors"
	"io/fs"
)

// DefaultMaxBytes is the size above which files are left aside unless asked
// for: generated code, logs and data say little and fill an index.
const DefaultMaxBytes = 2 << 20

// Stdin is the path of standard input.
const Stdin = "-"

// Why files are left aside.
var (
	ErrBinary   = errors.New("not a text file")
	ErrTooLarge = errors.New("too large")
	ErrLoop     = errors.New("link to a folder it is in")
)

// File is a file that List found.
type File struct {
	Path string // as a user would type it; Stdin as it is
	Size int64  // 0 for Stdin
	// Named files were asked for by name: they are read whatever their size.
	Named bool
	// Info is what the system said of the file, links followed; nil for Stdin.
	Info fs.FileInfo
}

// Options say what List takes. The zero value is every file that no file of
// rules leaves out and that is neither hidden nor in a hidden folder.
type Options struct {
	Globs Globs
	Types Types
	// Hidden takes files and folders whose name begins with a dot.
	Hidden bool
	// NoIgnore reads no files of rules.
	NoIgnore bool
	// Excludes is a file of rules for all repositories: see GlobalExcludes.
	Excludes string
	// Follow follows links below roots.
	Follow bool
	// MaxBytes is the size of the largest file to take, 0 for DefaultMaxBytes.
	// Named files are taken whatever their size.
	MaxBytes int64
	// Skip, if set, is told of files that are too large, with ErrTooLarge, of
	// patterns that cannot be understood, with ErrPattern, and of what cannot
	// be read.
	Skip func(path string, err error)
}
