package generic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func naive(dst []float32, ldc int, a []float32, lda int, b []float32, ldb int, transposed bool, m, n, k int, accumulate bool) {
	for i := range m {
		for j := range n {
			var total, sum float32
			if accumulate {
				total = dst[i*ldc+j]
			}
			for l := range k {
				at := l*ldb + j
				if transposed {
					at = j*ldb + l
				}
				sum += float32(a[i*lda+l] * b[at])
				if l%depthBlock == depthBlock-1 || l == k-1 {
					total, sum = total+sum, 0
				}
			}
			dst[i*ldc+j] = total
		}
	}
}

func randomFloats(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func TestGemm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{0, 3, 3}, {3, 0, 3}, {3, 3, 0}, {1, 1, 1}, {4, 2, 4}, {5, 7, 9}, {3, 65, 513}, {17, 66, 1030}, {1, 130, 31}, {33, 5, 3}} {
		for variant := range 4 {
			m, n, k := s[0], s[1], s[2]
			transposed, accumulate := variant&1 != 0, variant&2 != 0
			rows, cols := k, n
			if transposed {
				rows, cols = n, k
			}
			lda, ldb, ldc := k+1, cols+2, n+3
			a, b, c := randomFloats(rng, m*lda), randomFloats(rng, rows*ldb), randomFloats(rng, m*ldc)
			want := slices.Clone(c)
			naive(want, ldc, a, lda, b, ldb, transposed, m, n, k, accumulate)
			p, err := PackB(nil, b, ldb, k, n, transposed)
			if err != nil {
				t.Fatal(err)
			}
			if err := Gemm(c, ldc, a, lda, p, m, accumulate); err != nil {
				t.Fatal(err)
			}
			for i := range c { // the gaps between rows are among them
				if math.Float32bits(c[i]) != math.Float32bits(want[i]) {
					t.Fatalf("%v variant %d: element %d is %v, not %v", s, variant, i, c[i], want[i])
				}
			}
		}
	}
}

// Workers that split the columns get the same bits as one alone.
func TestGemmColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const m, n, k = 3, 21, 40
	a, b := randomFloats(rng, m*k), randomFloats(rng, k*n)
	p, err := PackB(nil, b, n, k, n, false)
	if err != nil {
		t.Fatal(err)
	}
	whole, parts := make([]float32, m*n), make([]float32, m*n)
	if err := Gemm(whole, n, a, k, p, m, false); err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]int{{0, 6}, {6, 20}, {20, 21}} {
		q, err := p.Columns(r[0], r[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := Gemm(parts[r[0]:], n, a, k, q, m, false); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(whole, parts) {
		t.Errorf("got %v, want %v", parts, whole)
	}
	for _, r := range [][2]int{{1, 6}, {-2, 4}, {4, 2}, {0, 22}} {
		if _, err := p.Columns(r[0], r[1]); err == nil {
			t.Errorf("columns %v were not refused", r)
		}
	}
}

func TestGemmRefuses(t *testing.T) {
	v := make([]float32, 12)
	if _, err := PackB(nil, v, 2, 4, 3, false); err == nil {
		t.Error("rows longer than their distance were packed")
	}
	if _, err := PackB(nil, v, 3, 5, 3, false); err == nil {
		t.Error("a matrix that is too short was packed")
	}
	p, err := PackB(make([]float32, 16), v, 3, 4, 3, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := Gemm(v, 3, v, 4, p, 4, false); err == nil {
		t.Error("a product with too few rows was computed")
	}
	if err := Gemm(v[:8], 3, v, 4, p, 3, false); err == nil {
		t.Error("a product was put into too few elements")
	}
}

func BenchmarkGemm(b *testing.B) {
	const n = 384
	rng := rand.New(rand.NewPCG(5, 6))
	x, y, dst := randomFloats(rng, n*n), randomFloats(rng, n*n), make([]float32, n*n)
	p, err := PackB(nil, y, n, n, n, false)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := Gemm(dst, n, x, n, p, n, false); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(2*n*n*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
