// Package accepted remembers which texts a compiler that is no part of this
// project has accepted, so that tests give it those alone that are new. What a
// test remembers is a file of hashes in its testdata, which is committed.
package accepted

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
)

// size is how many bytes of a hash are kept: a text that has changed passes for
// one of ten thousand others once in 400,000 times.
const size = 4

type hash [size]byte

// again is how many known texts there are for one that is given to the compiler
// all the same, lest that is never tried.
const again = 64

// Table is what a test remembers.
type Table struct {
	mu        sync.Mutex
	keeps     bool // what is found out is written
	known     map[hash]bool
	seen      map[hash]bool // of this run
	news, old int
}

// For reads the table of a test, or of a part of one, from testdata/accepted. With
// the flag -update of its package, at level CI, the table is written at the end of
// the test if that has passed: what the test has asked for. At level Long nothing
// is known.
func For(t testing.TB) *Table {
	t.Helper()
	var update bool
	if f := flag.Lookup("update"); f != nil {
		update = f.Value.String() == "true"
	}
	return open(t, filepath.Join("testdata", "accepted", filepath.FromSlash(t.Name())), effort.Now(), update)
}

func open(t testing.TB, file string, level effort.Level, update bool) *Table {
	t.Helper()
	a := &Table{keeps: update && level == effort.CI, known: map[hash]bool{}, seen: map[hash]bool{}}
	if level != effort.Long {
		var err error
		if a.known, err = read(file); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		switch {
		case t.Failed():
		case a.keeps:
			if err := a.write(file); err != nil {
				t.Error(err)
			}
		case a.news > 0 && level == effort.CI:
			t.Logf("%d texts are new, %d known: SINTER_CI=1 go test -run '^%s$' -update keeps that they were accepted", a.news, a.old, t.Name())
		}
	})
	return a
}

func read(file string) (map[hash]bool, error) {
	known := map[hash]bool{}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	if len(data)%size != 0 {
		return nil, fmt.Errorf("%s: %d bytes, which are no hashes of %d: write it anew with -update", file, len(data), size)
	}
	for h := range slices.Chunk(data, size) {
		known[hash(h)] = true
	}
	return known, nil
}

func (a *Table) write(file string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var data []byte
	for h := range a.seen {
		data = append(data, h[:]...)
	}
	sorted := slices.SortedFunc(slices.Chunk(data, size), slices.Compare[[]byte])
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, slices.Concat(sorted...), 0o666)
}

// of is the hash of a text and of all else that its acceptance depends on, such as
// the compiler's version and options.
func of(parts []string) hash {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s", len(p), p)
	}
	return hash(h.Sum(nil))
}

// Has tells whether a text is known to be accepted, with all else that this
// depends on. Of those that are known one in 64 is said not to be.
func (a *Table) Has(parts ...string) bool {
	h := of(parts)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.known[h] {
		a.news++
		return false
	}
	a.old++
	a.seen[h] = true
	return h[0] >= 256/again
}

// Add notes that a text has been accepted.
func (a *Table) Add(parts ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[of(parts)] = true
}
