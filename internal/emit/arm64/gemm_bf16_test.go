package arm64

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// leastNormal is the least f32 that is not subnormal.
const leastNormal = 0x1p-126

// flush is x, or 0 where that is subnormal.
func flush(x float64) float64 {
	if math.Abs(x) < leastNormal {
		return math.Copysign(0, x)
	}
	return x
}

// oddSum is x + y as BFMMLA adds: flushed, and rounded to odd, which means to the
// one of two neighbours whose last bit is set.
func oddSum(x, y float64) float64 {
	x, y = flush(x), flush(y)
	sum := x + y
	if math.IsNaN(sum) || math.IsInf(sum, 0) || sum == 0 {
		return sum
	}
	// The rest of a sum that float64 rounds.
	part := sum - x
	rest := (x - (sum - part)) + (y - part)
	f := float32(sum)
	if float64(f) == sum && rest == 0 {
		return flush(sum)
	}
	if math.Abs(sum) >= 0x1p128 {
		return math.Inf(int(math.Copysign(1, sum)))
	}
	if away := math.Abs(float64(f)) - math.Abs(sum); away > 0 || away == 0 && math.Signbit(rest) != math.Signbit(sum) {
		f = math.Nextafter32(f, 0) // towards 0, and then to odd
	}
	return flush(float64(math.Float32frombits(math.Float32bits(f) | 1)))
}

// bf16 are the two numbers of a lane.
func bf16(lane uint32) [2]float64 {
	return [2]float64{float64(math.Float32frombits(lane << 16)), float64(math.Float32frombits(lane &^ 0xFFFF))}
}

// oddProduct is c plus the products of a lane, as Arm's manual defines BFMMLA.
func oddProduct(c float64, a, b uint32) float64 {
	x, y := bf16(a), bf16(b)
	var products [2]float64
	for i := range products {
		products[i] = flush(flush(x[i]) * flush(y[i]))
		if math.Abs(products[i]) >= 0x1p128 {
			products[i] = math.Inf(int(math.Copysign(1, products[i])))
		}
	}
	return oddSum(c, oddSum(products[0], products[1]))
}

// nearestProduct is the same as VDPBF16PS does it: each product is added at once,
// rounded to the nearest.
func nearestProduct(c float64, a, b uint32) float64 {
	x, y := bf16(a), bf16(b)
	for _, i := range []int{1, 0} {
		product := flush(x[i]) * flush(y[i])
		sum := flush(c) + product
		part := sum - c
		if rest := (c - (sum - part)) + (product - part); rest != 0 && float64(float32(sum)) != sum { // sticky
			if math.Signbit(rest) == math.Signbit(sum) {
				sum = math.Nextafter(sum, math.Inf(int(math.Copysign(1, sum))))
			} else {
				sum = math.Nextafter(sum, 0)
			}
		}
		c = flush(float64(float32(sum)))
	}
	return c
}

// draws are ways to draw numbers of bf16: of the i-th k, of A or B.
var draws = map[string]func(rng *rand.Rand, i int, x bool) float32{
	"normal":   func(rng *rand.Rand, _ int, _ bool) float32 { return float32(rng.NormFloat64()) },
	"positive": func(rng *rand.Rand, _ int, _ bool) float32 { return 0.5 + rng.Float32() },
	"wide": func(rng *rand.Rand, _ int, _ bool) float32 {
		return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(40)-20))
	},
	// A sum of 1 to which little more than its last place is added each time: what
	// costs most.
	"ulp": func(_ *rand.Rand, i int, x bool) float32 {
		switch {
		case i == 0:
			return 1
		case i%2 == 1:
			return 0
		case x:
			return 0x1p-12 * (1 + 0x1p-7)
		}
		return 0x1p-11
	},
	// The same for one that rounds to the nearest after each product: half of it.
	"half": func(_ *rand.Rand, i int, x bool) float32 {
		switch {
		case i == 0:
			return 1
		case x:
			return 0x1p-12 * (1 + 0x1p-7)
		}
		return 0x1p-12
	},
	"tiny": func(rng *rand.Rand, _ int, _ bool) float32 {
		return float32(math.Ldexp(rng.NormFloat64(), -56-rng.IntN(14)))
	},
}

// lanesOf draws k lanes.
func lanesOf(rng *rand.Rand, draw func(*rand.Rand, int, bool) float32, k int, x bool) []uint32 {
	lanes := make([]uint32, k)
	for i := range lanes {
		for j := range 2 {
			lanes[i] |= math.Float32bits(draw(rng, 2*i+j, x)) >> 16 << (16 * j)
		}
	}
	return lanes
}

// Sums as BFMMLA adds them stay within the bound that the referee has for sums in
// f32 that are rounded to the nearest after each product, and that VDPBF16PS needs:
// it is off by up to a unit of the last place, not half, but half as often. What it
// takes for 0 costs up to 2^-126 a rounding, of which products have two each.
func TestBF16SumsWithinBounds(t *testing.T) {
	for name, draw := range draws {
		rng := rand.New(rand.NewPCG(7, 8))
		var worst [2]float64
		for range 300 {
			k := 1 + rng.IntN(512) // lanes, template.SumBlock at most
			a, b := lanesOf(rng, draw, k, true), lanesOf(rng, draw, k, false)
			var odd, nearest, exact, rest, size float64
			for i := range k {
				odd, nearest = oddProduct(odd, a[i], b[i]), nearestProduct(nearest, a[i], b[i])
				x, y := bf16(a[i]), bf16(b[i])
				for j := range 2 {
					product := x[j] * y[j]
					sum := exact + product
					part := sum - exact
					rest += (exact - (sum - part)) + (product - part)
					exact, size = sum, size+math.Abs(product)
				}
			}
			n := float64(2 * k)
			bound := (n + 3) * 0x1p-24 * size
			for i, got := range []float64{odd, nearest} {
				allowed := bound
				if name == "tiny" {
					allowed += []float64{2, 1}[i] * n * leastNormal
				}
				off := math.Abs(got-exact-rest) / allowed
				if worst[i] = max(worst[i], off); !(off <= 1) {
					t.Errorf("%s, %d lanes: %g for %g is off by %.2f of the bound", name, k, got, exact, off)
				}
			}
		}
		t.Logf("%s: at most %.4f of the bound, to the nearest %.4f", name, worst[0], worst[1])
	}
}

// special is what is not finite, 0, subnormal, or large enough to overflow.
func special(rng *rand.Rand, i int, x bool) float32 {
	values := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0, 0x1p-130, 0x1.8p-126, 0x1p127, -0x1p127}
	if rng.IntN(12) == 0 {
		return values[rng.IntN(len(values))]
	}
	return draws["wide"](rng, i, x)
}

// Tiles give the bits of that model: of any numbers, NaN and infinities too, which
// show in their rows and columns alone, and not through what fills up a step.
func TestBF16Tiles(t *testing.T) {
	eachFormat(t, func(t *testing.T, code *gemmCode) {
		if code.format != GemmBF16 {
			return
		}
		rng := rand.New(rand.NewPCG(9, 10))
		check := func(name string, draw func(*rand.Rand, int, bool) float32) {
			for rows := 1; rows <= code.format.Rows(); rows++ {
				for _, k := range []int{1, 2, 7, 40} {
					p := newProduct(rng, code.format, rows, k, 1)
					for r := range rows {
						copy(p.a[r*p.lda:], lanesOf(rng, draw, k, true))
					}
					for j := range p.cols {
						for i, lane := range lanesOf(rng, draw, k, false) {
							p.b[i*p.ldb+j] = lane
						}
					}
					p.run(t, code, 0)
					if err := p.checkOdd(); err != nil {
						t.Fatalf("%s, %d rows, k %d: %v", name, rows, k, err)
					}
				}
			}
		}
		for name, draw := range draws {
			check(name, draw)
		}
		check("special", special)
	})
}

func (p *product) checkOdd() error {
	for r := range p.rows {
		for j := range p.cols {
			want := 0.0
			for k := range p.k {
				want = oddProduct(want, p.a[r*p.lda+k], p.b[k*p.ldb+j])
			}
			if p.k%2 == 1 {
				want = oddProduct(want, 0, 0) // makes 0 of -0
			}
			got := math.Float32frombits(p.c[r*p.ldc+j])
			if same := math.Float32bits(got) == math.Float32bits(float32(want)); !same && !(math.IsNaN(want) && math.IsNaN(float64(got))) {
				return fmt.Errorf("row %d, column %d: %g, want %g", r, j, got, want)
			}
		}
	}
	return nil
}
