package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// clock is a time that tests set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// pruneTree is an index of real files, as Prune looks whether they are there.
type pruneTree struct {
	t     *testing.T
	dir   string
	root  string
	clock clock
	index *Index
	texts map[string][]string
}

func newPruneTree(t *testing.T, files, passages int) *pruneTree {
	p := &pruneTree{t: t, dir: memoryDir(t), root: t.TempDir(), clock: clock{time.Now()}, texts: map[string][]string{}}
	p.index = openTest(t, p.dir, Options{now: p.clock.now})
	for i := range files {
		path := filepath.Join(p.root, fmt.Sprint(i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		texts, b := stubFile(path, passages)
		p.texts[path] = texts
		commit(t, p.index, b)
	}
	return p
}

func (p *pruneTree) remove(from, to int) {
	for i := from; i < to; i++ {
		path := filepath.Join(p.root, fmt.Sprint(i))
		if err := os.Remove(path); err != nil {
			p.t.Fatal(err)
		}
		delete(p.texts, path)
	}
}

// prune also checks that all that is left is whole, and what was forgotten.
func (p *pruneTree) prune(o PruneOptions, files, chunks int) Pruned {
	p.t.Helper()
	o.now = p.clock.now
	o.Warn = func(m string) { p.t.Error(m) }
	got, err := Prune(context.Background(), p.dir, o)
	if err != nil {
		p.t.Fatal(err)
	}
	if got.Files != files || got.Chunks != chunks {
		p.t.Errorf("forgot %+v, want %d files and %d chunks", got, files, chunks)
	}
	if o.All {
		return got
	}
	for path, texts := range p.texts {
		checkFileIn(p.t, p.index, path, texts)
	}
	return got
}

// What files that are gone held stays for a while, then makes room.
func TestPrune(t *testing.T) {
	p := newPruneTree(t, 40, 50)
	p.remove(0, 30)
	p.prune(PruneOptions{Keep: DefaultKeep}, 30, 0)
	_, b := stubFile("/elsewhere", 1)
	b.Contents[0] = Content{Key: KeyOf("content", filepath.Join(p.root, "3"))}
	err := p.index.Read(context.Background(), func(r *Reader) error {
		if pieces, ok := r.Content(b.Contents[0].Key); !ok || len(pieces) != 50 {
			t.Error("what a branch may bring back is gone")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	size := segmentBytes(t, p.index)
	p.clock.at = p.clock.at.Add(DefaultKeep + time.Hour)
	if err := p.index.touch(); err != nil {
		t.Fatal(err)
	}
	got := p.prune(PruneOptions{Keep: DefaultKeep}, 0, 30*50)
	if now := segmentBytes(t, p.index); now > size/3 || got.Bytes < size/2 {
		t.Errorf("%d bytes became %d, %d less in all", size, now, got.Bytes)
	}
	p.prune(PruneOptions{Keep: DefaultKeep}, 0, 0)
}

func TestPruneNow(t *testing.T) {
	p := newPruneTree(t, 12, 30)
	p.remove(0, 6)
	p.prune(PruneOptions{}, 6, 6*30)
	texts, b := stubFile(filepath.Join(p.root, "0"), 30)
	commit(t, p.index, b)
	checkFileIn(t, p.index, filepath.Join(p.root, "0"), texts)
}

// Many small commits, of a file now and then, become few blocks.
func TestPruneJoins(t *testing.T) {
	p := newPruneTree(t, 60, 2)
	p.prune(PruneOptions{Keep: DefaultKeep}, 0, 0)
	err := p.index.Read(context.Background(), func(r *Reader) error {
		places, err := r.tx.places()
		if len(places) != 1 || places[0].count != 120 {
			t.Errorf("%+v", places)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A space that nobody used for a while goes as a whole, and with All every one.
func TestPruneSpaces(t *testing.T) {
	p := newPruneTree(t, 2, 2)
	other := testSpace
	other.DType = "int8"
	if _, err := Open(p.dir, Space{DType: "int8", Dim: 8, ID: KeyOf("x")}, Options{now: p.clock.now}); err != nil {
		t.Fatal(err)
	}
	p.clock.at = p.clock.at.Add(2 * DefaultKeep)
	if err := p.index.touch(); err != nil {
		t.Fatal(err)
	}
	if got := p.prune(PruneOptions{Keep: DefaultKeep}, 0, 0); got.Spaces != 1 {
		t.Errorf("%+v", got)
	}
	if got := p.prune(PruneOptions{All: true}, 2, 4); got.Spaces != 1 {
		t.Errorf("%+v", got)
	}
	if entries, err := os.ReadDir(p.dir); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
}

// Wherever a disk fails while segments are moved, nothing is lost, and the next
// Prune succeeds.
func TestPruneFails(t *testing.T) {
	for after := 0; ; after++ {
		p := newPruneTree(t, 10, 20)
		p.remove(0, 7)
		d := newFaultDisk(after, syscall.ENOSPC)
		_, err := Prune(context.Background(), p.dir, PruneOptions{disk: d, now: p.clock.now})
		if d.failed != errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("operation %d: %v", after, err)
		}
		for path, texts := range p.texts {
			checkFileIn(t, p.index, path, texts)
		}
		if _, err := Prune(context.Background(), p.dir, PruneOptions{now: p.clock.now}); err != nil {
			t.Fatalf("operation %d: %v", after, err)
		}
		for path, texts := range p.texts {
			checkFileIn(t, p.index, path, texts)
		}
		if !d.failed {
			t.Logf("%d operations", after)
			return
		}
	}
}

// A damaged record is dropped when its segment is moved, and its file is split
// again by the next search.
func TestPruneDamaged(t *testing.T) {
	p := newPruneTree(t, 8, 10)
	name := p.index.segmentPath(1)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	l := layoutOf(10, testDim, 0)
	data[l.vectors+5] ^= 1 // of the first file
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(p.root, "0")
	delete(p.texts, first)
	p.remove(4, 8)
	p.prune(PruneOptions{}, 4, 40)
	if err := holds(p.index, first, nil); !containsText(err, "content") {
		t.Error(err)
	}
}
