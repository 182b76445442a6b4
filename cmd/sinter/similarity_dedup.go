package main

import (
	"context"
	"crypto/sha256"

	"github.com/sinterml/sinter/cmd/sinter/internal/cosine"
)

// groupList is what --dedup prints.
type groupList struct {
	Texts  int     `json:"texts"`
	Unique int     `json:"unique"` // texts left where each group keeps one
	Groups [][]int `json:"groups"`
}

// dedup groups texts. Equal ones are embedded once.
func (a *app) dedup(ctx context.Context, s textSource, t *textEmbedder, threshold float64) error {
	readable := a.terminal && !a.settings.json
	set, err := a.readUnique(ctx, s, t, readable)
	if err != nil {
		return err
	}
	const steps = 1000
	progress := a.startProgress("comparing", steps)
	done := int64(0)
	groups, err := set.vectors.Groups(ctx, t.encoder.device, threshold, func(share float64) {
		now := shareOf(share, steps)
		progress.add(now - done)
		done = now
	})
	progress.end()
	if err != nil {
		return err
	}
	g := groupList{Texts: set.vectors.Len(), Unique: set.vectors.Len(), Groups: groups}
	for _, group := range groups {
		g.Unique -= len(group) - 1
	}
	if readable {
		return a.printGroups(g, set.labels)
	}
	out := newLines(a.stdout)
	if err := out.json.Encode(g); err != nil {
		return err
	}
	return out.Flush()
}

// textKey stands for a text: two have the same key only if they are equal, as
// far as anyone knows.
type textKey [16]byte

func keyOf(text string) (k textKey) {
	sum := sha256.Sum256([]byte(text))
	copy(k[:], sum[:])
	return k
}

// readUnique embeds texts, each once.
func (a *app) readUnique(ctx context.Context, s textSource, t *textEmbedder, labels bool) (*textSet, error) {
	set := &textSet{vectors: cosine.New(t.dim)}
	first := map[textKey]int{} // the number of the first text
	progress := a.startRate("embedding", "texts", true)
	defer progress.end()
	err := s.batches(ctx, func(start int, texts []string) error {
		var fresh []string
		var indices []int
		of := make([]int, len(texts))
		for i, text := range texts {
			key := keyOf(text)
			at, seen := first[key]
			if !seen {
				at = start + i
				first[key] = at
				fresh, indices = append(fresh, text), append(indices, at)
			}
			of[i] = at
			if labels {
				set.labels = append(set.labels, label(text))
			}
		}
		rows, err := t.embedAt(ctx, indices, fresh)
		if err != nil {
			return err
		}
		for i, at := range of {
			if at < start+i {
				err = set.vectors.AddCopy(at)
			} else {
				err = set.vectors.Add(rows[0].Embedding)
				rows = rows[1:]
			}
			if err != nil {
				return err
			}
		}
		progress.add(int64(len(texts)))
		return nil
	})
	set.texts = set.vectors.Len()
	return set, err
}
