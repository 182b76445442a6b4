package loop

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// powRandom tries n pairs: of any bits, and of such whose power is a number.
func powRandom(t *testing.T, p *program, n int, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	var w worst
	for done := 0; done < n; done += blockSize {
		for i := range blockSize {
			x, y := r.Uint32(), r.Uint32()
			if i%4 != 0 {
				x &^= 1 << 31
				if i%4 == 2 { // near 1
					x = fb(1) - 1<<22 + x>>8
				}
				log := math.Log2(float64(fl(x)))
				y = fb(float32((r.Float64()*280 - 151) / log))
			}
			p.in[0][i], p.in[1][i] = x, y
		}
		p.run(blockSize)
		for i, got := range p.out {
			x, y := fl(p.in[0][i]), fl(p.in[1][i])
			w.see(x, y, fl(got), math.Pow(float64(x), float64(y)))
		}
	}
	if w.ulp > powULP {
		t.Errorf("more than %v: %v", powULP, w)
	}
}

func TestExpandPow(t *testing.T) {
	powRandom(t, compile(t, ir.Pow, ir.F32, 2), 400_000, 1)
}

// TestExpandPowSpecial tries all pairs of values that the standard names, with
// neighbours. Go's Pow follows the same table.
func TestExpandPowSpecial(t *testing.T) {
	var values []float32
	for _, v := range []float32{0, 0x1p-149, 0x1p-126, 0.5, 1, 2, 3, 4, 10, 100, 101, 1 << 23, 1<<23 + 1, 1<<24 - 1, 1 << 24, 1 << 25, 0x1p63, math.MaxFloat32} {
		values = append(values, v, -v, v+0.5, -v-0.5, math.Nextafter32(v, 0), -math.Nextafter32(v, 9e9), 1/v)
	}
	values = append(values, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()))
	p := compile(t, ir.Pow, ir.F32, 2)
	for _, x := range values {
		for i, y := range values {
			p.in[0][i], p.in[1][i] = fb(x), fb(y)
		}
		p.run(len(values))
		var w worst
		for i, y := range values {
			w.see(x, y, fl(p.out[i]), math.Pow(float64(x), float64(y)))
		}
		if w.ulp > powULP {
			t.Error(w)
		}
	}
}
