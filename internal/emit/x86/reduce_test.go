package x86

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

const odd = `kernel "odd"
symbol N 0 1000
param x f32[N] read
param b bool[N] read
param c bool[N] read
param total f32[1] write
param every bool[1] write
param any bool[1] write
s = f32(-0)
e = true
a = false
for vector i < size(N) {
	s add= x[i]
	e and= b[i]
	a or= c[i]
}
total[0] = s
every[0] = e
any[0] = a
`

// One element that is not as the others decides, in whichever lane it is: a sum
// of negative zeros is negative unless one of them is positive.
func TestOddOneOut(t *testing.T) {
	k := parse(t, odd)
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, n := range []int{1, 7, 16, 33, 67} {
			for at := -1; at < n; at++ {
				x, b, c := make([]byte, 4*n), make([]byte, n), make([]byte, n)
				for i := range n {
					binary.LittleEndian.PutUint32(x[4*i:], 1<<31)
					b[i] = 1
				}
				if at >= 0 {
					binary.LittleEndian.PutUint32(x[4*at:], 0)
					b[at], c[at] = 0, 1
				}
				test := &looptest.Case{Kernel: k}
				test.Args.Sizes = ir.Env{"N": n}
				test.Args.Buffers = [][]byte{x, b, c, make([]byte, 4), make([]byte, 1), make([]byte, 1)}
				if err := checkCase(test, isa); err != nil {
					t.Fatalf("%d of %d: %v", at, n, err)
				}
			}
		}
	})
}

const extremes = `kernel "extremes"
symbol N 0 1000
param x f32[N] read
param most f32[1] write
param least f32[1] write
param both f32[1] write
m = f32(-inf)
l = f32(inf)
b = f32(-inf)
for vector i < size(N) {
	m max= x[i]
	l min= x[i]
	b max= neg(x[i])
	b max= x[i]
}
most[0] = m
least[0] = l
both[0] = b
`

// A NaN comes through from every place, to all who look at the values it is
// among.
func TestExtremeOfNaN(t *testing.T) {
	k := parse(t, extremes)
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, n := range []int{1, 16, 64, 67, 131} {
			for at := -1; at < n; at++ {
				x := make([]byte, 4*n)
				for i := range n {
					v := float32(i)
					if i == at {
						v = float32(math.NaN())
					}
					binary.LittleEndian.PutUint32(x[4*i:], math.Float32bits(v))
				}
				test := &looptest.Case{Kernel: k}
				test.Args.Sizes = ir.Env{"N": n}
				test.Args.Buffers = [][]byte{x, make([]byte, 4), make([]byte, 4), make([]byte, 4)}
				if err := checkCase(test, isa); err != nil {
					t.Fatalf("%d of %d: %v", at, n, err)
				}
			}
		}
	})
}
