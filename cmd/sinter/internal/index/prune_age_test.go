package index

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// contentIn reports whether the passages of a content are kept.
func contentIn(t *testing.T, x *Index, k Key) (ok bool) {
	t.Helper()
	err := x.Read(context.Background(), func(r *Reader) error {
		_, ok = r.Content(k)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// A content that two files had is kept from when the last of them went, however
// long ago the first did.
func TestPruneTwoFilesOfOneContent(t *testing.T) {
	p := newPruneTree(t, 2, 3)
	first, second := filepath.Join(p.root, "0"), filepath.Join(p.root, "1")
	_, b := stubFile(second, 3)
	b.Files[0].Path = first // a copy of the second
	commit(t, p.index, b)
	_, b = stubFile(first, 3) // which is changed back
	commit(t, p.index, b)
	p.clock.at = p.clock.at.Add(2 * DefaultKeep)
	if err := p.index.touch(); err != nil {
		t.Fatal(err)
	}
	p.remove(1, 2)
	p.prune(PruneOptions{Keep: DefaultKeep}, 1, 0)
	if !contentIn(t, p.index, KeyOf("content", second)) {
		t.Error("what a file had until now is forgotten at once")
	}
	p.clock.at = p.clock.at.Add(DefaultKeep + time.Hour)
	if err := p.index.touch(); err != nil {
		t.Fatal(err)
	}
	p.prune(PruneOptions{Keep: DefaultKeep}, 0, 3)
}

// A file is gone too if a folder above it is a file now.
func TestPruneFolderBecomesFile(t *testing.T) {
	p := newPruneTree(t, 1, 2)
	folder := filepath.Join(p.root, "folder")
	_, b := stubFile(filepath.Join(folder, "file"), 2)
	b.Roots = []string{folder, filepath.Join(folder, "below")}
	commit(t, p.index, b)
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.prune(PruneOptions{}, 1, 2)
	all, err := List(t.Context(), p.dir)
	if err != nil || len(all) != 1 || len(all[0].Roots) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// Moving a record does not make it younger: what nothing needs goes in time, and
// Status tells the age of the oldest vector.
func TestPruneKeepsAge(t *testing.T) {
	p := newPruneTree(t, 6, 3)
	loose := stubChunk("of no file")
	commit(t, p.index, Batch{Chunks: []Chunk{loose}})
	made := p.clock.at
	for day := 20; day <= 40; day += 20 {
		p.clock.at = made.Add(time.Duration(day) * 24 * time.Hour)
		if err := p.index.touch(); err != nil {
			t.Fatal(err)
		}
		chunks := 0
		if day > 30 {
			chunks = 1
		}
		p.prune(PruneOptions{Keep: DefaultKeep}, 0, chunks)
		all, err := List(t.Context(), p.dir)
		if err != nil || len(all) != 1 || all[0].Made.Unix() != made.Unix() {
			t.Errorf("day %d: %+v, %v; want made %v", day, all, err, made)
		}
	}
}

// A space whose space.json is missing or damaged is not taken for one that nobody
// uses: a search may just be making it, and the next mends it.
func TestPruneSpaceWithoutName(t *testing.T) {
	for _, damage := range []func(name string) error{
		os.Remove,
		func(name string) error { return os.WriteFile(name, nil, 0o600) },
	} {
		for _, keep := range []time.Duration{DefaultKeep, 0} {
			p := newPruneTree(t, 2, 2)
			other := filepath.Join(p.dir, "00000000000000000000000000000000")
			if err := os.Mkdir(other, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := damage(p.index.path(spaceName)); err != nil {
				t.Fatal(err)
			}
			told := 0
			got, err := Prune(t.Context(), p.dir, PruneOptions{Keep: keep, now: p.clock.now, Warn: func(string) { told++ }})
			if err != nil || got.Spaces != 0 {
				t.Errorf("%+v, %v", got, err)
			}
			if told == 0 {
				t.Error("nothing was said")
			}
			p.index = openTest(t, p.dir, Options{now: p.clock.now})
			for path, texts := range p.texts {
				checkFileIn(t, p.index, path, texts)
			}
			if _, err := os.Stat(other); err != nil {
				t.Errorf("a space that is being made: %v", err)
			}
			p.clock.at = p.clock.at.Add(2 * DefaultKeep)
			if err := damage(p.index.path(spaceName)); err != nil {
				t.Fatal(err)
			}
			if got, err := Prune(t.Context(), p.dir, PruneOptions{Keep: DefaultKeep, now: p.clock.now}); err != nil || got.Spaces != 2 {
				t.Errorf("after a while: %+v, %v", got, err)
			}
		}
	}
}
