package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/effort"
)

// Any sequence of commits, prunes, lost and damaged files and steps of the clock
// leaves an index that agrees with a map of what was committed: after damage it
// may have less.
func TestRandomOperations(t *testing.T) {
	for seed := range uint64(effort.Of(6, 6, 20, 200)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { randomOperations(t, seed) })
	}
}

func randomOperations(t *testing.T, seed uint64) {
	old := maxSegment
	maxSegment = 4096
	defer func() { maxSegment = old }()
	r := rand.New(rand.NewPCG(seed, 1))
	dir, root := memoryDir(t), t.TempDir()
	c := &clock{time.Now()}
	options := Options{now: c.now}
	a, b := openTest(t, dir, options), openTest(t, dir, options)
	files := map[string][]string{} // path -> texts
	var log []string
	mayLose := false
	check := func() {
		t.Helper()
		for path, texts := range files {
			if err := holds(b, path, texts); err != nil {
				if mayLose && !containsText(err, "another's") && !containsText(err, "off by") && !containsText(err, "has the terms") {
					delete(files, path)
					continue
				}
				t.Fatalf("%v\n%v", err, log)
			}
		}
	}
	for step := range 60 {
		x := []*Index{a, b}[r.IntN(2)]
		switch op := r.IntN(20); {
		case op < 10: // a file is written
			path := filepath.Join(root, fmt.Sprint(r.IntN(12)))
			var texts []string
			content := Content{Key: KeyOf("content", fmt.Sprint(seed, step))}
			batch := Batch{Roots: []string{root}}
			for i := range r.IntN(40) {
				text := fmt.Sprintf("text %d", r.IntN(200))
				k := KeyOf(text)
				content.Pieces = append(content.Pieces, Piece{Line: i + 1, End: i + 2, Skip: r.IntN(3), Size: len(text), Chunk: k})
				texts = append(texts, text)
				batch.Chunks = append(batch.Chunks, stubChunk(text))
				batch.Chunks[len(batch.Chunks)-1].Replace = mayLose
			}
			batch.Contents = []Content{content}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			batch.Files = []FileAt{{path, File{Stat: Stat{Size: 1, MTime: 5}, Read: 1 << 60, Content: content.Key}}}
			commit(t, x, batch)
			files[path] = texts
			log = append(log, fmt.Sprintf("file %s of %d", filepath.Base(path), len(texts)))
		case op < 12: // files go
			for path := range files {
				if r.IntN(3) == 0 {
					_ = os.Remove(path)
					delete(files, path)
				}
			}
			log = append(log, "remove")
		case op < 15:
			keep := []time.Duration{0, DefaultKeep, time.Hour}[r.IntN(3)]
			_ = a.touch()
			if _, err := Prune(context.Background(), dir, PruneOptions{Keep: keep, now: c.now}); err != nil {
				t.Fatalf("%v\n%v", err, log)
			}
			log = append(log, fmt.Sprint("prune ", keep))
		case op < 17:
			c.at = c.at.Add(time.Duration(r.IntN(40)-5) * 24 * time.Hour)
			_ = os.Chtimes(a.path(spaceName), c.at, c.at)
			log = append(log, "time")
		case op < 18:
			a = openTest(t, dir, options)
			log = append(log, "reopen")
		case op < 19: // index.db is lost
			if err := os.Remove(x.path(dbName)); err == nil {
				clear(files)
			}
			log = append(log, "db lost")
		default: // a segment is damaged
			numbers, _ := segmentNumbers(x.dir)
			if len(numbers) == 0 || seed%2 == 0 {
				continue
			}
			slices.Sort(numbers)
			name := x.segmentPath(numbers[r.IntN(len(numbers))])
			data, err := os.ReadFile(name)
			if err != nil || len(data) == 0 {
				continue
			}
			switch r.IntN(3) {
			case 0:
				data[r.IntN(len(data))] ^= 1 << r.IntN(8)
			case 1:
				data = data[:r.IntN(len(data))]
			default:
				_ = os.Remove(name)
				data = nil
			}
			if data != nil {
				if err := os.WriteFile(name, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			mayLose = true
			log = append(log, "damage")
		}
		check()
	}
}
