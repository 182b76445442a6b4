package digits

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/train"
)

func load(t *testing.T) *Set {
	t.Helper()
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLoad compares with what the set's publisher says of it.
func TestLoad(t *testing.T) {
	s := load(t)
	var counts [Classes]int
	for _, l := range s.Labels {
		counts[l]++
	}
	if want := [Classes]int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}; counts != want {
		t.Errorf("%v images of each digit, want %v", counts, want)
	}
	if first := s.Images[0]; s.Labels[0] != 0 || first[2] != 5.0/16 || first[3] != 13.0/16 {
		t.Errorf("the first image is a %d: %v", s.Labels[0], first)
	}
}

func TestAddRefuses(t *testing.T) {
	line := slices.Repeat([]string{"1"}, pixels+1)
	for _, c := range []struct {
		name   string
		change func([]string) []string
	}{
		{"too few", func(l []string) []string { return l[1:] }},
		{"too much ink", func(l []string) []string { l[3] = "17"; return l }},
		{"no digit", func(l []string) []string { l[pixels] = "10"; return l }},
		{"no number", func(l []string) []string { l[0] = ""; return l }},
	} {
		if (&Set{}).add(c.change(slices.Clone(line))) == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
	if err := (&Set{}).add(line); err != nil {
		t.Error(err)
	}
}

func TestFolds(t *testing.T) {
	c := Contiguous(1797, 5)
	for i, part := range c.Of {
		if part != 5*i/1797 {
			t.Fatalf("row %d is in part %d", i, part)
		}
	}
	a, b := Shuffled(1797, 5, 1), Shuffled(1797, 5, 2)
	if slices.Equal(a.Of, b.Of) || !slices.Equal(a.Of, Shuffled(1797, 5, 1).Of) {
		t.Error("the parts do not follow the seed")
	}
	seen := make([]int, 1797)
	for part := range a.Count {
		rest, own := a.Split(part)
		if len(rest)+len(own) != 1797 || len(own) < 359 || len(own) > 360 {
			t.Errorf("part %d has %d rows, the others %d", part, len(own), len(rest))
		}
		for _, row := range own {
			seen[row]++
		}
	}
	if slices.Min(seen) != 1 || slices.Max(seen) != 1 {
		t.Error("a row is in no part, or in several")
	}
}

// TestNeighbours compares with scikit-learn's KNeighborsClassifier(1).
func TestNeighbours(t *testing.T) {
	s := load(t)
	if got := Neighbours(s, Contiguous(s.Len(), 5)); !(math.Abs(got-1734.0/1797) <= 1e-9) {
		t.Errorf("%.1f of 1797 rows are right, want 1734", got*1797)
	}
}

func TestDistortion(t *testing.T) {
	s := load(t)
	r := rand.New(rand.NewPCG(1, 2))
	m := &s.Images[7]
	if got := (Distortion{}).apply(m, r); got != *m {
		t.Error("no distortion changes the image")
	}
	if a, b := m.between(2.25, 3), 0.75*m[3*Side+2]+0.25*m[3*Side+3]; a != b {
		t.Errorf("between two pixels there is %v, want %v", a, b)
	}
	if a, b := m.between(-0.5, 4), 0.5*m[4*Side]; a != b {
		t.Errorf("at the edge there is %v, want %v", a, b)
	}
	for range 100 {
		d := Usual.Distortion.apply(m, r)
		if d == *m {
			t.Error("a distortion changes nothing")
		}
		for _, v := range d {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("a pixel of ink %v", v)
			}
		}
	}
}

// TestNet compares the net, whose channels come last, with the same layers in
// the order that they are documented in.
func TestNet(t *testing.T) {
	n, err := NewNet(3)
	if err != nil {
		t.Fatal(err)
	}
	s := load(t)
	images := slices.Concat(s.Images[0][:], s.Images[1][:], s.Images[2][:])
	x := sinter.Of(images, 3, 1, Side, Side)
	for i := range n.Blocks {
		b := &n.Blocks[i]
		x = b.Norm.Forward(b.Conv.Forward(x), nil).ReLU()
		if b.halve {
			x = sinter.MaxPool(x, sinter.PoolOptions{Kernel: []int{2}, Stride: []int{2}})
		}
	}
	want := n.Out.Forward(x.Permute(0, 2, 3, 1).Reshape(3, -1))
	far, err := sinter.Values[float32](t.Context(), n.Forward(sinter.Of(images, 3, pixels), nil).Sub(want).Abs().Max())
	if err != nil || !(far[0] < 1e-5) {
		t.Errorf("they differ by %v, %v", far, err)
	}
}

// TestTrain: a net learns in a few epochs, and the same on one thread as on two.
func TestTrain(t *testing.T) {
	s := load(t)
	rest, own := Contiguous(s.Len(), 5).Split(0)
	r := Usual
	r.Epochs = 2
	var weights [2][]float32
	for i := range weights {
		d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: 1 + i})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		n, err := r.Train(t.Context(), s, rest, 1, func(ctx context.Context, o train.Options) error {
			o.Compile.Device = d
			return runTraining(ctx, o)
		})
		if err != nil {
			t.Fatal(err)
		}
		if weights[i], err = sinter.Values[float32](t.Context(), n.Out.Weight.Tensor()); err != nil {
			t.Fatal(err)
		}
		found, err := Classify(t.Context(), n, s, own)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for j, row := range own {
			if int(found[j]) == s.Labels[row] {
				right++
			}
		}
		if right < len(own)*85/100 {
			t.Errorf("%d of %d rows are right", right, len(own))
		}
	}
	if !slices.Equal(weights[0], weights[1]) {
		t.Error("two threads give other weights than one")
	}
}

// TestEpochSkips: what is skipped changes nothing of what follows.
func TestEpochSkips(t *testing.T) {
	s := load(t)
	d := distorted{s, []int{1, 2, 3, 4, 5, 6, 7}, Recipe{Batch: 2, Distortion: Usual.Distortion}}
	read := func(skip int) (all [][]float32) {
		for b, err := range d.Epoch(5, 1, skip) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := sinter.Values[float32](t.Context(), b["images"])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		return all
	}
	all, rest := read(0), read(2)
	if len(all) != 3 || len(rest) != 1 || !slices.Equal(all[2], rest[0]) {
		t.Errorf("%d batches, and %d behind the second, which may differ", len(all), len(rest))
	}
}

func runTraining(ctx context.Context, o train.Options) error {
	_, err := train.Run(ctx, o)
	return err
}

// TestStudy is the mean of three seeds, with -tags long, or of one.
func TestStudy(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("takes half a minute: set SINTER_CI=1")
	}
	s := load(t)
	seeds := effort.Of[int64](1, 1, 1, 3)
	for name, want := range map[string]float64{"shuffled": 0.989, "contiguous": 0.975} {
		sum, start := 0.0, time.Now()
		for seed := int64(42); seed < 42+seeds; seed++ { // not those by which the recipe was chosen
			f := Contiguous(s.Len(), 5)
			if name == "shuffled" {
				f = Shuffled(s.Len(), 5, seed)
			}
			counts, err := Usual.Judge(t.Context(), s, f, seed, func(int) Runner { return runTraining })
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, seed %d: %.4f; nearest neighbours %.4f", name, seed, counts.Accuracy(), Neighbours(s, f))
			sum += counts.Accuracy() / float64(seeds)
		}
		t.Logf("%s: %.4f, %.1f s a run", name, sum, time.Since(start).Seconds()/float64(seeds))
		if sum < want {
			t.Errorf("%s: %.4f are right, want %v", name, sum, want)
		}
	}
}
