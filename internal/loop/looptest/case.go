// Package looptest makes random kernels with data, for comparing emitters
// with loop.Interpret.
package looptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Case is a kernel and all that a launch of it needs.
type Case struct {
	Kernel *loop.Kernel
	Args   loop.Args
}

// Copy gives arguments of their own memory for another run of the same case.
func (c *Case) Copy() *loop.Args {
	a := c.Args
	a.Buffers = make([][]byte, len(c.Args.Buffers))
	for i, b := range c.Args.Buffers {
		a.Buffers[i] = slices.Clone(b)
	}
	a.Status = slices.Clone(c.Args.Status)
	return &a
}

// Same tells where the results of two runs differ, bit for bit except that
// all NaNs are alike: which NaN an operation gives is the machine's choice.
// Scratch is not compared.
func (c *Case) Same(got, want *loop.Args) error {
	for i, p := range c.Kernel.Params {
		if p.Use == loop.Scratch {
			continue
		}
		n := p.DType.Size()
		for j := 0; j+n <= len(want.Buffers[i]); j += n {
			g, w := bits(got.Buffers[i][j:j+n]), bits(want.Buffers[i][j:j+n])
			if g != w && !(isNaN(p.DType, g) && isNaN(p.DType, w)) {
				return fmt.Errorf("param %s[%d] is %v (%#x), not %v (%#x)", p.Name, j/n, ir.Float(p.DType, g), g, ir.Float(p.DType, w), w)
			}
		}
	}
	for i := range want.Status {
		if (got.Status[i] != 0) != (want.Status[i] != 0) {
			return fmt.Errorf("status word %d is %d, not %d", i, got.Status[i], want.Status[i])
		}
	}
	return nil
}

func isNaN(d ir.DType, b uint64) bool { return d.IsFloat() && math.IsNaN(ir.Float(d, b)) }

func bits(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

func putBits(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}

// fill says what a buffer holds before the kernel runs.
type fill uint8

const (
	fillAny     fill = iota // values of all kinds, special ones among them
	fillSmall               // whole numbers from -4 to 4, whose sums are exact
	fillIndices             // indices below limit; a few outside if asked
)

func (g *generator) buffer(p *param) []byte {
	size := p.dtype.Size()
	b := make([]byte, p.len*size)
	for i := 0; i < len(b); i += size {
		var v uint64
		switch p.fill {
		case fillAny:
			v = anyBits(g.rng, p.dtype)
		case fillSmall:
			v, _ = ir.Bits(p.dtype, float64(g.rng.IntN(9)-4)) // in the range of every float type
		case fillIndices:
			v = uint64(g.rng.IntN(p.limit))
			if g.c.WildIndices && g.rng.IntN(20) == 0 {
				v = uint64(g.rng.IntN(2000) - 1000)
			}
		}
		putBits(b[i:i+size], v)
	}
	return b
}

var specials = []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-45, -1e-40, 3e38, 65504, 1e-7, 2147483648, -2147483648, 9.3e18, 1.8446744073709552e19, 255.5, 0.5, 1.5, -0.5}

// anyBits draws a value of type d: mostly plain, sometimes special.
func anyBits(rng *rand.Rand, d ir.DType) uint64 {
	mask := ^uint64(0) >> (64 - 8*d.Size())
	switch {
	case d == ir.Bool:
		return rng.Uint64() & 1
	case d.IsFloat():
		f := math.Round(rng.NormFloat64()*64) / 16
		switch rng.IntN(6) {
		case 0:
			f = specials[rng.IntN(len(specials))]
		case 1:
			f = rng.NormFloat64()
		}
		b, _ := ir.Bits(d, f) // floats round
		return b
	}
	switch rng.IntN(6) {
	case 0:
		return rng.Uint64() & mask
	case 1:
		return 1 << (8*d.Size() - 1) // the most negative, where signed
	case 2:
		return mask
	}
	return uint64(rng.IntN(40)-20) & mask
}
