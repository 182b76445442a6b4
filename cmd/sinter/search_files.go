package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
)

// fileFlags choose the files to search. They mean what those of ripgrep do.
type fileFlags struct {
	globs, types, noTypes    []string
	hidden, noIgnore, follow bool
	maxSize                  string
	list, null               bool
}

func (f *fileFlags) register(set *pflag.FlagSet) {
	set.StringArrayVarP(&f.globs, "glob", "g", nil, "only files that match `GLOB`, even if ignored or hidden; after ! none that match (repeatable, the last match decides)")
	set.StringArrayVarP(&f.types, "type", "t", nil, "only files of a `TYPE`, such as go, py or md (repeatable)")
	set.StringArrayVarP(&f.noTypes, "type-not", "T", nil, "no files of a `TYPE` (repeatable)")
	set.BoolVar(&f.hidden, "hidden", false, "hidden files and folders too")
	set.BoolVar(&f.noIgnore, "no-ignore", false, "also what .gitignore and other files of rules name")
	set.BoolVar(&f.follow, "follow", false, "follow links")
	set.StringVar(&f.maxSize, "max-filesize", "2M", "no files larger than `SIZE`, in bytes or with K, M or G for KiB, MiB or GiB")
	set.BoolVar(&f.list, "files", false, "print the files that would be searched; all arguments are PATHs")
	set.BoolVarP(&f.null, "null", "0", false, "end paths with a zero byte, not a line feed (with --files and -l)")
}

// options are what the flags ask for.
func (f *fileFlags) options(env func(string) string) (o textfiles.Options, err error) {
	o = textfiles.Options{Hidden: f.hidden, NoIgnore: f.noIgnore, Follow: f.follow, Excludes: textfiles.GlobalExcludes(env)}
	if o.Globs, err = textfiles.ParseGlobs(f.globs); err != nil {
		return o, usagef("-g: %w", err)
	}
	if o.Types, err = textfiles.ParseTypes(f.types, f.noTypes); err != nil {
		return o, usagef("-t and -T: %w; or use -g '*.EXTENSION'", err)
	}
	if o.MaxBytes, err = parseSize(f.maxSize); err != nil {
		return o, usagef("--max-filesize: %w", err)
	}
	return o, nil
}

var sizeText = regexp.MustCompile(`^([0-9]+)([KMG]?)$`)

// parseSize reads a number of bytes, at least one.
func parseSize(text string) (int64, error) {
	m := sizeText.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is no size: give a number of bytes, or one with K, M or G behind it, such as 500K", text)
	}
	unit := map[string]int64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[m[2]]
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || n > (math.MaxInt64-1)/unit { // one is added where a file is read
		return 0, fmt.Errorf("%s is too large", text)
	}
	if n == 0 {
		return 0, fmt.Errorf("%s leaves out all text: use at least 1", text)
	}
	return n * unit, nil
}

// pathsOf are where to search: the current folder if nothing is said. An empty
// PATH, mostly a variable that is not set, is not taken for that.
func pathsOf(args []string) ([]string, error) {
	if len(args) == 0 {
		return []string{"."}, nil
	}
	if i := slices.Index(args, ""); i >= 0 {
		return nil, usagef("PATH %d is empty: give . for the current folder", i+1)
	}
	return args, nil
}

// skip counts a file that is left out, and tells of one that should not be.
func (a *app) skip(s *skipped, err error) {
	switch {
	case errors.Is(err, textfiles.ErrBinary):
		s.Binary++
	case errors.Is(err, textfiles.ErrTooLarge):
		s.TooLarge++
	case errors.Is(err, textfiles.ErrPattern), errors.Is(err, textfiles.ErrLoop):
		a.warn("%v", err)
	default:
		s.Unreadable++
		a.warn("%v", err)
	}
}

// listFiles prints the files that a search would read.
func (a *app) listFiles(ctx context.Context, args []string, f fileFlags) error {
	o, err := f.options(a.env)
	if err != nil {
		return err
	}
	if f.null && a.settings.json {
		return usagef("-0 and --json: give one")
	}
	var left skipped
	o.Skip = func(_ string, err error) { a.skip(&left, err) }
	paths, err := pathsOf(args)
	if err != nil {
		return err
	}
	files, err := textfiles.List(ctx, paths, o)
	if err != nil {
		return err
	}
	out := newLines(a.stdout)
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := file.Check(); err != nil {
			a.skip(&left, err)
			continue
		}
		if err := a.printPath(out, file.Path, f.null); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (a *app) printPath(out *lines, path string, null bool) error {
	var err error
	switch {
	case a.settings.json:
		err = out.json.Encode(struct {
			Path string `json:"path"`
		}{path})
	case null:
		_, err = out.WriteString(path + "\x00")
	case a.terminal:
		_, err = fmt.Fprintln(out, printable(path))
	default:
		_, err = fmt.Fprintln(out, path)
	}
	return err
}

// interruptible is a reader whose reads end with a context, even where nothing
// arrives.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	own := make([]byte, len(p)) // p is the caller's again once this returns
	go func() {
		n, err := i.r.Read(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, own[:r.n]), r.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}
