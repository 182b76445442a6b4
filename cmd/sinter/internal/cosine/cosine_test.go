package cosine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
)

func cpu(t testing.TB) *sinter.Device {
	t.Helper()
	d, err := sinter.OpenCPU(sinter.CPUOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func set(t testing.TB, vectors [][]float32) *Vectors {
	t.Helper()
	s := New(len(vectors[0]))
	for _, v := range vectors {
		if err := s.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// bruteForce groups by the definition: all pairs, one after the other.
func bruteForce(vectors [][]float32, threshold float32) [][]int {
	group := make([]int, len(vectors))
	for i := range group {
		group[i] = i
	}
	for i, v := range vectors {
		for j := range i {
			if group[i] == group[j] || !finite(v) || !finite(vectors[j]) || embed.Cosine(v, vectors[j]) < threshold {
				continue
			}
			from, to := max(group[i], group[j]), min(group[i], group[j])
			for k := range group {
				if group[k] == from {
					group[k] = to
				}
			}
		}
	}
	members := map[int][]int{}
	for i, g := range group {
		members[g] = append(members[g], i)
	}
	groups := [][]int{}
	for i := range vectors {
		if m := members[i]; len(m) > 1 {
			groups = append(groups, m)
		}
	}
	return groups
}

// clustered draws vectors around few centres, some of them far from unit
// length, and here and there zeros and what is not finite.
func clustered(r *rand.Rand, n, dim int) [][]float32 {
	centres := make([][]float32, n/20+1)
	for i := range centres {
		centres[i] = normal(r, nil, dim)
	}
	vectors := make([][]float32, n)
	for i := range vectors {
		v := normal(r, centres[r.IntN(len(centres))], dim)
		scale := float32(1)
		switch r.IntN(40) {
		case 0:
			scale = 0
		case 1:
			v[r.IntN(dim)] = nan
		case 2:
			v[r.IntN(dim)] = inf
		case 3:
			scale = 1e30
		case 4:
			scale = 1e-30
		}
		for k := range v {
			v[k] *= scale
		}
		vectors[i] = v
	}
	return vectors
}

// normal draws about a centre, at a distance of about a third of its length.
func normal(r *rand.Rand, centre []float32, dim int) []float32 {
	v := make([]float32, dim)
	for k := range v {
		v[k] = float32(r.NormFloat64())
		if centre != nil {
			v[k] = centre[k] + v[k]/3
		}
	}
	return v
}

func TestGroups(t *testing.T) {
	d, r := cpu(t), rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ n, dim int }{{1, 1}, {2, 1}, {40, 1}, {100, 3}, {511, 7}, {513, 16}, {1100, 33}} {
		vectors := clustered(r, c.n, c.dim)
		s := set(t, vectors)
		for _, threshold := range []float64{-1, -0.3, 0, 0.5, 0.8, 0.9, 0.95, 1} {
			got, err := s.Groups(t.Context(), d, threshold, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := bruteForce(vectors, float32(threshold)); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%d vectors of %d, threshold %v: %d groups, want %d\n%.300v, want\n%.300v", c.n, c.dim, threshold, len(got), len(want), fmt.Sprint(got), fmt.Sprint(want))
			}
		}
	}
}

// A pair at the threshold belongs together though its f32 product may be less,
// and one that misses it by one unit in the last place does not.
func TestThresholdExact(t *testing.T) {
	d, r := cpu(t), rand.New(rand.NewPCG(3, 4))
	for range 200 {
		a := normal(r, nil, 384)
		vectors := [][]float32{a, normal(r, a, 384)}
		c := embed.Cosine(a, vectors[1])
		s := set(t, vectors)
		for _, test := range []struct {
			threshold float32
			groups    int
		}{{c, 1}, {math.Nextafter32(c, 2), 0}, {math.Nextafter32(c, -2), 1}} {
			got, err := s.Groups(t.Context(), d, float64(test.threshold), nil)
			if err != nil || len(got) != test.groups {
				t.Fatalf("cosine %v, threshold %v: groups %v, %v", c, test.threshold, got, err)
			}
		}
	}
}

func TestGroupsByHand(t *testing.T) {
	d := cpu(t)
	s := set(t, [][]float32{{1, 0}, {0, 0}, {0, 3}, {nan, 1}, {2, 0}, {1, inf}, {1, 1}})
	for _, of := range []int{3, 1} { // copies, whatever they are
		if err := s.AddCopy(of); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		threshold float64
		want      string
	}{
		{1, "[[0 4] [1 8] [3 7]]"},
		{0.7, "[[0 2 4 6] [1 8] [3 7]]"}, // a chain
		{0, "[[0 1 2 4 6 8] [3 7]]"},
		{1.5, "[[1 8] [3 7]]"},
		{math.Inf(-1), "[[0 1 2 4 6 8] [3 7]]"},
	} {
		shares := []float64{}
		got, err := s.Groups(t.Context(), d, c.threshold, func(share float64) { shares = append(shares, share) })
		if fmt.Sprint(got) != c.want || err != nil || !slices.Equal(shares, []float64{1}) {
			t.Errorf("threshold %v: %v, want %s; %v; progress %v", c.threshold, got, c.want, err, shares)
		}
	}
	if _, err := s.Groups(t.Context(), d, math.NaN(), nil); err == nil {
		t.Error("no error for a threshold that is not a number")
	}
}

func TestMatrix(t *testing.T) {
	d, r := cpu(t), rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct{ n, dim int }{{1, 1}, {3, 2}, {600, 48}} {
		vectors := clustered(r, c.n, c.dim)
		rows := make([][]float32, 0, c.n)
		err := set(t, vectors).Matrix(t.Context(), d, func(i int, cosines []float32) error {
			if i != len(rows) {
				t.Fatalf("row %d after %d", i, len(rows))
			}
			rows = append(rows, slices.Clone(cosines))
			return nil
		})
		if err != nil || len(rows) != c.n {
			t.Fatal(len(rows), err)
		}
		for i := range vectors {
			for j := range vectors {
				want := float64(embed.Cosine(vectors[i], vectors[j]))
				if !finite(vectors[i]) || !finite(vectors[j]) {
					want = math.NaN()
				}
				got := float64(rows[i][j])
				if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-6 || i == j && want == 1 && got != 1 || !math.IsNaN(got) && rows[j][i] != rows[i][j] {
					t.Fatalf("cosine %d, %d is %v, want %v; on the other side %v", i, j, got, want, rows[j][i])
				}
			}
		}
	}
}

func finite(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) })
}

func TestErrors(t *testing.T) {
	d := cpu(t)
	s := New(2)
	if got, err := s.Groups(t.Context(), d, 0, nil); len(got) != 0 || err != nil {
		t.Error(got, err)
	}
	if err := s.Add([]float32{1}); err == nil {
		t.Error("no error for a vector of another length")
	}
	if err := s.AddCopy(0); err == nil {
		t.Error("no error for a copy of nothing")
	}
	s = set(t, [][]float32{{1, 2}, {2, 1}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Groups(ctx, d, 0, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.Matrix(ctx, d, func(int, []float32) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	stop := errors.New("stop")
	if err := s.Matrix(t.Context(), d, func(int, []float32) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// BenchmarkGroups groups 100,000 vectors of 384 numbers in clusters of about
// twenty; half a cluster's pairs reach the threshold.
func BenchmarkGroups(b *testing.B) {
	d, r := cpu(b), rand.New(rand.NewPCG(7, 8))
	const n, dim = 100_000, 384
	centres := make([][]float32, n/20)
	for i := range centres {
		centres[i] = normal(r, nil, dim)
	}
	s := New(dim)
	for range n {
		if err := s.Add(normal(r, centres[r.IntN(len(centres))], dim)); err != nil {
			b.Fatal(err)
		}
	}
	for _, threshold := range []float64{0.9, 0.5, 0, -1} {
		b.Run(fmt.Sprint(threshold), func(b *testing.B) {
			for b.Loop() {
				groups, err := s.Groups(b.Context(), d, threshold, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(groups)), "groups")
			}
		})
	}
}
