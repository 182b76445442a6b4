package cpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// eachDouble calls f for products of f64 in all layouts of operands, constant and not:
// sizes around tiles, panels and blocks of k.
func eachDouble(f func(i int, c gemmCase)) {
	sizes := []gemmSize{{1, 1, 1, 1}, {1, 7, 9, 3}, {2, 13, 33, 40}, {1, 6, 8, 512}, {1, 65, 70, 515}, {3, 5, 17, 1030}, {1, 3, 4, 0}, {1, 1, 130, 70}, {1, 130, 1, 70}, {2, 49, 64, 1100}}
	i := 0
	for _, size := range sizes {
		for _, x := range []string{"plain", "transposed", "step"} {
			for _, y := range []string{"plain", "transposed"} {
				if i++; testing.Short() && i%4 > 0 || effort.Less() && size.k > 512 && (i+i/2)%2 > 0 {
					continue
				}
				f(i, gemmCase{dtype: "f64", size: size, syms: []string{"", "m", "bmnk"}[i%3], x: x, y: y, out: []string{"plain", "bias", "residual", "transposed"}[i/2%4], const_: i%3 == 1})
			}
		}
	}
}

// Each result is its sum by Go, of blocks of 512 products from zero, by every number of
// workers.
func TestGemmDoubles(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	devices := machines(t)
	eachDouble(func(i int, c gemmCase) {
		c.out = "plain"
		test := c.build(rng)
		test.special(c, i)
		want := test.doubles(c)
		for _, d := range devices {
			made := test.compile(t, d)
			if k, tiles := made.(*gemmKernel); tiles != (d.isa != Generic && d.isa != NEON) || tiles && k.finish != nil {
				t.Fatalf("%v %v: by tiles %v, finished by a part", c, d.isa, tiles)
			}
			for workers := 1; workers <= 3; workers++ {
				got := test.run(t, d, made, workers, i%2 == 0)
				for j, w := range want {
					g := math.Float64frombits(binary.LittleEndian.Uint64(got[2][8*j:]))
					if math.Float64bits(g) != math.Float64bits(w) && !(g != g && w != w) {
						t.Fatalf("%v %v, %d workers: result %d is %v, want %v", c, d.isa, workers, j, g, w)
					}
				}
			}
		}
	})
}

// What follows the sums is computed as the loops say.
func TestGemmDoublesFinished(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	devices := machines(t)
	eachDouble(func(i int, c gemmCase) {
		test := c.build(rng)
		want := test.reference(t)
		for _, d := range devices {
			test.check(t, fmt.Sprintf("%v %v", c, d.isa), test.run(t, d, test.compile(t, d), 1+i%3, i%2 == 0), want)
		}
	})
}

// special puts infinities, NaN and numbers near the ends of the range among the operands
// of half of the cases: in one row and one column, not to be in all results.
func (t *gemmTest) special(c gemmCase, i int) {
	if i/4%2 == 0 {
		return
	}
	for operand, data := range t.data[:2] {
		for j, v := range []float64{math.Inf(1), math.NaN(), math.MaxFloat64, -math.SmallestNonzeroFloat64, math.Copysign(0, -1)} {
			if at := j * (c.size.k + 1 + operand); 8*at < len(data) && j < c.size.k {
				binary.LittleEndian.PutUint64(data[8*at:], math.Float64bits(v))
			}
		}
	}
}

// doubles is the product of plain results in f64, of operands in f64 or f32, one batch
// behind the other.
func (t *gemmTest) doubles(c gemmCase) (all []float64) {
	s := c.size
	at := func(data []byte, i int) float64 {
		if c.dtype == "f64" {
			return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	x := func(b, i, k int) float64 {
		switch c.x {
		case "transposed":
			return at(t.data[0], (b*s.k+k)*s.rows+i)
		case "step":
			return at(t.data[0], (b*s.rows+i)*2*s.k+2*k)
		}
		return at(t.data[0], (b*s.rows+i)*s.k+k)
	}
	y := func(b, k, j int) float64 {
		if c.y == "transposed" {
			return at(t.data[1], (b*s.cols+j)*s.k+k)
		}
		return at(t.data[1], (b*s.k+k)*s.cols+j)
	}
	for r := range s.batch * s.rows * s.cols {
		b, i, j := r/s.cols/s.rows, r/s.cols%s.rows, r%s.cols
		total := 0.0
		for k0 := 0; k0 < s.k; k0 += template.SumBlock {
			sum := 0.0
			for k := k0; k < min(k0+template.SumBlock, s.k); k++ {
				sum = math.FMA(x(b, i, k), y(b, k, j), sum)
			}
			total += sum
		}
		all = append(all, total)
	}
	return all
}

// A product of f64 of which operands are widened from f32 multiplies what they become.
func TestGemmDoublesWidened(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 46))
	for _, c := range []gemmCase{
		{dtype: "f64", size: gemmSize{1, 9, 30, 70}, x: "plain", y: "scaled", out: "two", const_: true},
		{dtype: "f64", size: gemmSize{2, 9, 30, 530}, x: "relu", y: "turned", out: "bf16"},
		{dtype: "f64", size: gemmSize{1, 20, 30, 33}, x: "wide", y: "shared", out: "two"},
	} {
		test := c.build(rng)
		want := test.reference(t)
		for _, d := range machines(t) {
			test.check(t, fmt.Sprintf("%v %v", c, d.isa), test.run(t, d, test.compile(t, d), 2, false), want)
		}
	}
}

// A residual of f64 is fetched beside the sums, one of f32 is not.
func TestDoublesBeside(t *testing.T) {
	c := gemmCase{dtype: "f64", size: gemmSize{1, 9, 30, 70}, x: "plain", y: "plain", out: "residual"}
	test := c.build(rand.New(rand.NewPCG(47, 48)))
	if _, ok := test.g.Beside(); !ok {
		t.Error("no matrix beside sums of f64")
	}
	test.g.DType = ir.F32
	if _, ok := test.g.Beside(); ok {
		t.Error("a matrix of f64 beside sums of f32")
	}
}

// Few rows of f64 fetch what they multiply by where it lies anyhow, with AVX2, not what is
// packed in the order it is read.
func TestGemmDoublesFetch(t *testing.T) {
	for _, d := range machines(t) {
		if d.isa != AVX2 {
			continue
		}
		for _, g := range []template.Gemm{{}, {ConstY: true}, {SteadyY: true}} {
			k := &gemmKernel{work: &g, tiles: tileKind{isa: x86.AVX2, format: x86.GemmF64}}
			want := x86.GemmTile{Rows: 5, Vectors: 2}
			if g.ConstY || g.SteadyY {
				want.Rows = 6
			}
			if got := k.tile(d, k.tiles, gemmSize{1, 4, 2000, 2000}, false); got != want {
				t.Errorf("packed once %v: %v, want %v", g.ConstY || g.SteadyY, got, want)
			}
		}
	}
}
