package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86"
)

// Where the instruction for bf16 is slow, or there is none, weights are widened in registers,
// and what is no weight when it is packed.
func TestWideProducts(t *testing.T) {
	all := withSlow(t)
	for _, d := range all {
		if d.isa != AVX2 && (d.isa != AVX512 || d.has.AVX512BF16 && !d.widens) {
			continue
		}
		for _, c := range []struct {
			x      string
			weight bool
			want   x86.GemmFormat
		}{{"plain", true, x86.GemmWide}, {"relu", true, x86.GemmWide}, {"plain", false, x86.GemmF32}, {"transposed", true, x86.GemmF32}} {
			test := gemmCase{size: gemmSize{1, 5, 40, 33}, x: c.x, y: "plain", out: "plain", const_: c.weight, dtype: "bf16"}.build(rand.New(rand.NewPCG(1, 2)))
			if k := test.compile(t, d).(*gemmKernel); k.tiles.format != c.want {
				t.Errorf("X %s, a weight %v: %v, want %v", c.x, c.weight, k.tiles.format, c.want)
			}
		}
	}
}

// wideAndShort are the device that widens and one that does not.
func wideAndShort(t *testing.T) (wide, short *Device) {
	all := withSlow(t)
	return all[slices.IndexFunc(all, func(d *Device) bool { return d.isa == AVX512 })], all[len(all)-1]
}

// They give the bits of the instruction.
func TestWideProductBits(t *testing.T) {
	host := cpuid.Host()
	if !host.SlowBF16() {
		t.Skip("no instruction for bf16 that is slow")
	}
	wide, short := wideAndShort(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		size := gemmSize{1 + rng.IntN(2), 1 + rng.IntN(40), 1 + rng.IntN(140), 1 + rng.IntN(90)}
		if rng.IntN(3) == 0 {
			size.k += 1000 * rng.IntN(3)
		}
		c := gemmCase{size: size, x: []string{"plain", "wide", "relu", "step"}[rng.IntN(4)], y: []string{"plain", "transposed", "shared"}[rng.IntN(3)], out: "bias", const_: true, dtype: "bf16"}
		test := c.build(rng)
		want := test.run(t, short, test.compile(t, short), 1, false)
		for _, workers := range []int{1, 3} {
			test.check(t, fmt.Sprintf("%v %d workers", c, workers), test.run(t, wide, test.compile(t, wide), workers, rng.IntN(2) == 0), want)
		}
		if t.Failed() {
			return
		}
	}
}
