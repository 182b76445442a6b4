package loop

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/accurate"
	"github.com/sinterml/sinter/internal/ir"
)

// pow64Random tries n pairs: of any bits, near 1, and of such whose power is a
// number.
func pow64Random(t *testing.T, n int, seed uint64) {
	t.Helper()
	p := compile64(t, ir.Pow, 2)
	r := rand.New(rand.NewPCG(seed, 0))
	var w worst64
	for done := 0; done < n; done += blockSize {
		for i := range blockSize {
			x, y := math.Float64frombits(r.Uint64()>>1), math.Float64frombits(r.Uint64())
			if i%4 != 0 {
				switch i % 4 {
				case 2:
					x = 1 + (r.Float64()-0.5)*math.Ldexp(1, -r.IntN(52))
				case 3:
					x = 0.5 + r.Float64()
				}
				y = (r.Float64()*2140 - 1090) / accurate.Log2(x)
			}
			p.in[0][i], p.in[1][i] = math.Float64bits(x), math.Float64bits(y)
		}
		p.run(blockSize)
		for i, got := range p.out {
			x, y := math.Float64frombits(p.in[0][i]), math.Float64frombits(p.in[1][i])
			if domain(ir.Log, x) && domain(ir.Pow, y) && x != 1 {
				w.see(x, y, math.Float64frombits(got), powRef(x, y))
			}
		}
	}
	t.Log(w)
	if !(w.ulp <= pow64ULP) {
		t.Errorf("more than %v: %v", pow64ULP, w)
	}
}

func TestExpand64Pow(t *testing.T) { pow64Random(t, 60_000, 1) }

// TestExpand64PowSpecial tries all pairs of values that the standard names, with
// neighbours. Go's Pow follows the same table.
func TestExpand64PowSpecial(t *testing.T) {
	var values []float64
	for _, v := range []float64{0, 0x1p-1074, 0x1p-1022, 0.5, 1, 2, 3, 4, 10, 100, 101, 1 << 52, 1<<52 + 1, 1<<53 - 1, 1 << 53, 1 << 54, 0x1p80, 0x1p300, math.MaxFloat64} {
		values = append(values, v, -v, v+0.5, -v-0.5, math.Nextafter(v, 0), -math.Nextafter(v, math.Inf(1)), 1/v)
	}
	values = append(values, math.Inf(1), math.Inf(-1), math.NaN())
	p := compile64(t, ir.Pow, 2)
	for _, x := range values {
		for i, y := range values {
			p.in[0][i], p.in[1][i] = math.Float64bits(x), math.Float64bits(y)
		}
		p.run(len(values))
		for i, y := range values {
			got, want := math.Float64frombits(p.out[i]), accurate.Pow(x, y)
			same := math.Float64bits(got) == math.Float64bits(want) || got != got && want != want
			if want != 0 && !math.IsInf(want, 0) && want == want {
				a := powRef(math.Abs(x), y)
				if want < 0 {
					a.x = a.x.neg()
				}
				same = same || ulps64(got, a) <= pow64ULP
			}
			if !same {
				t.Errorf("%v to %v is %v, not %v", x, y, got, want)
			}
		}
	}
}
