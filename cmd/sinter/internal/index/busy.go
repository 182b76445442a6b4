package index

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sinterml/sinter/internal/filelock"
)

// busyPattern names the files by which processes say what they index. Each is
// locked for as long as its process works on that.
const busyPattern = "indexing-*"

// rootEnd stands between paths, as no path has it.
const rootEnd = "\x00"

// Announce tells other processes that this one indexes what is below some
// absolute paths, so that they need not, until done is called or the process
// ends. busy is what others had announced by then: of two that begin at once the
// second knows of the first.
func (x *Index) Announce(ctx context.Context, roots []string) (busy []string, done func(), err error) {
	release, err := x.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	if busy, err = x.Busy(); err != nil {
		return nil, nil, err
	}
	done, err = x.announce(roots)
	return busy, done, err
}

// announce writes the file that tells others.
func (x *Index) announce(roots []string) (done func(), err error) {
	f, err := os.CreateTemp(x.dir, busyPattern)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	// Others that look at it just now hold it for a moment.
	if err = waitFor(context.Background(), f, true, patience); err == nil {
		_, err = io.WriteString(f, strings.Join(roots, rootEnd))
	}
	done = func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	if err != nil {
		done()
		return nil, fmt.Errorf("index: %w", err)
	}
	return done, nil
}

// Busy lists what other processes announced.
func (x *Index) Busy() ([]string, error) {
	names, err := filepath.Glob(filepath.Join(globQuote(x.dir), busyPattern))
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	var roots []string
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil { // it is done
			continue
		}
		free := filelock.Try(f, false) == nil
		data, err := io.ReadAll(f)
		_ = filelock.Close(f)
		switch {
		case free: // what a process that was killed left behind, or one that begins
			if info, err := os.Stat(name); err == nil && x.now().Sub(info.ModTime()) > patience {
				_ = os.Remove(name)
			}
		case err == nil:
			roots = append(roots, strings.Split(string(data), rootEnd)...)
		}
	}
	return roots, nil
}

// globQuote makes a path that matches itself.
func globQuote(path string) string {
	if os.PathSeparator == '\\' { // where a pattern cannot quote
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Below reports whether a path is one of roots or below one.
func Below(path string, roots []string) bool {
	for _, r := range roots {
		if rel, err := filepath.Rel(r, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
