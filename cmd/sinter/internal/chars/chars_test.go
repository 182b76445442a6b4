package chars_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/cmd/sinter/internal/chars"
	"github.com/sinterml/sinter/train"
)

func read(t *testing.T, text string) *chars.Text {
	t.Helper()
	r, err := chars.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRead(t *testing.T) {
	text := read(t, "né né né nb")
	if string(text.Vocabulary) != " bné" {
		t.Errorf("vocabulary %q", string(text.Vocabulary))
	}
	if got := text.String(text.Training) + "|" + text.String(text.Held); got != "né né né |nb" {
		t.Errorf("%q", got)
	}
	if _, err := chars.Read([]byte("ab\xffc")); err == nil || !strings.Contains(err.Error(), "byte 2 ") {
		t.Error(err)
	}
	if err := text.Check(2); err == nil || !strings.Contains(err.Error(), "at least 30") {
		t.Error(err)
	}
	if err := text.Check(1); err != nil {
		t.Error(err)
	}
}

// values are all batches of an epoch as numbers.
func values(t *testing.T, d train.Data, name string, epoch, skip, most int) (all [][]int64) {
	t.Helper()
	for b, err := range d.Epoch(7, epoch, skip) {
		if err != nil {
			t.Fatal(err)
		}
		v, err := sinter.Values[int64](t.Context(), b[name].Reshape(-1))
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, v); len(all) == most {
			break
		}
	}
	return all
}

// A batch is the same whether those before it are drawn or not; what comes next
// is the text, one further.
func TestWindows(t *testing.T) {
	ids := make([]int64, 100)
	for i := range ids {
		ids[i] = int64(i)
	}
	w := chars.Windows{IDs: ids, Batch: 3, Block: 4}
	all := values(t, w, "ids", 1, 0, 0)
	if len(all) != 100/12 {
		t.Fatalf("%d batches", len(all))
	}
	if late := values(t, w, "ids", 1, 5, 1); !slices.Equal(late[0], all[5]) {
		t.Errorf("%v and %v", late[0], all[5])
	}
	if other := values(t, w, "ids", 2, 5, 1); slices.Equal(other[0], all[5]) {
		t.Error("two epochs are alike")
	}
	next := values(t, w, "next", 1, 0, 0)
	for i, batch := range all {
		for j, id := range batch {
			if next[i][j] != id+1 || id != batch[j-j%4]+int64(j%4) {
				t.Fatalf("batch %d: %v, then %v", i, batch, next[i])
			}
		}
	}
}

// Blocks cover a text once, but for an end that is too short.
func TestBlocks(t *testing.T) {
	ids := make([]int64, 31)
	for i := range ids {
		ids[i] = int64(i)
	}
	all := values(t, chars.Blocks{IDs: ids, Batch: 3, Block: 4}, "held_next", 0, 0, 0)
	if got := slices.Concat(all...); len(all) != 3 || len(got) != 28 || got[0] != 1 || got[27] != 28 {
		t.Errorf("%v", all)
	}
}

// A net learns a line by heart, and writes it.
func TestTask(t *testing.T) {
	const line = "the quick brown fox. "
	text := read(t, strings.Repeat(line, 60))
	o := chars.Options{Layers: 1, Heads: 2, Width: 32, Block: 16, Batch: 8, Steps: 350, Seed: 3}
	task, err := chars.New(text, o)
	if err != nil {
		t.Fatal(err)
	}
	options := task.Train()
	options.Seed = 3
	r, err := train.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if loss, _ := r.Scores.Value("validation_loss"); !(loss < 0.4) || loss <= 0 {
		t.Errorf("validation loss %v, at luck %v", loss, chars.Luck(len(text.Vocabulary)))
	}
	s, err := chars.NewSampler(task.Net, o.Block, sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Temperature = 0.05
	// Both a beginning that is shorter than a block and one that is longer.
	for _, begin := range []int{5, 30} {
		start := text.Training[:begin]
		ids, err := s.Continue(t.Context(), start, 40, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := text.String(ids), strings.Repeat(line, 5)[begin:begin+40]; got != want {
			t.Errorf("%q goes on with %q", text.String(start), got)
		}
	}
	if _, err := s.Continue(t.Context(), nil, 1, 1); err == nil {
		t.Error("a sample from nothing")
	}
}

func TestRefuses(t *testing.T) {
	text := read(t, strings.Repeat("abc ", 100))
	for want, o := range map[string]chars.Options{
		"at least 1":      {Layers: 1, Heads: 1, Width: 8, Block: 4, Batch: 0, Steps: 1},
		"does not divide": {Layers: 1, Heads: 3, Width: 8, Block: 4, Batch: 1, Steps: 1},
		"too short":       {Layers: 1, Heads: 1, Width: 8, Block: 64, Batch: 1, Steps: 1},
	} {
		if _, err := chars.New(text, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	if luck := chars.Luck(1); luck != 0 || math.IsNaN(luck) {
		t.Error(luck)
	}
}
