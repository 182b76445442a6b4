package x86

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

const rounded = `kernel "rounded"
symbol N 0 1000
param x f32[N] read
param y TYPE[N] write
for vector i < size(N) {
	y[i] = cast.TYPE(round(x[i]))
}
`

// Numbers on both sides of every bound, and halves, which go to the even one.
func TestRoundToInteger(t *testing.T) {
	inf := float32(math.Inf(1))
	values := []float32{0, float32(math.Copysign(0, -1)), 0.49999997, 0.5, 0.50000006, 1.5, 2.5, -0.5, -0.6, -1e9, 127.4, 127.5, 128.5, 254.5, 255.5, 256, 65534.5, 65535.5,
		8388607.5, 2147483648, 4294967040, 4294967296, 1e20, inf, -inf, float32(math.NaN())}
	for _, d := range []ir.DType{ir.U8, ir.U16, ir.U32, ir.I8} {
		k := parse(t, strings.ReplaceAll(rounded, "TYPE", d.String()))
		eachISA(t, func(t *testing.T, isa ISA) {
			for _, n := range []int{1, 63, 80, 131} {
				x := make([]byte, 4*n)
				for i := range n {
					binary.LittleEndian.PutUint32(x[4*i:], math.Float32bits(values[i%len(values)]))
				}
				test := &looptest.Case{Kernel: k}
				test.Args.Sizes = ir.Env{"N": n}
				test.Args.Buffers = [][]byte{x, make([]byte, d.Size()*n)}
				if err := checkCase(test, isa); err != nil {
					t.Fatalf("%v, %d: %v", d, n, err)
				}
			}
		})
	}
}

const positions = `kernel "positions"
symbol N 0 1000
symbol first 0 4611686018427387904
param y TYPE[N] write
for vector i < size(N) {
	y[i] = cast.TYPE(INDEX)
}
`

// Indices that grow by the same from lane to lane, around what 32 bits hold.
func TestCastPositions(t *testing.T) {
	for _, d := range []ir.DType{ir.U32, ir.I32, ir.U8, ir.F32} {
		for _, index := range []string{"i", "7*i + size(first)", "size(first) - 5*i", "4294967297*i", "shr(i + size(first), 32)", "shr(7*i + size(first), 32)",
			"shr(size(first) - 9*i, 32)", "shr(70000000*i + size(first), 32)", "shr(size(first), 32)", "shr(i + size(first), 31)", "mod(i + size(first), 5)"} {
			k := parse(t, strings.NewReplacer("TYPE", d.String(), "INDEX", index).Replace(positions))
			eachISA(t, func(t *testing.T, isa ISA) {
				for _, first := range []int{0, 2, 1<<31 - 20, 1<<32 - 60, 1<<32 - 1, 5<<32 - 40, 1<<62 - 9} {
					for _, n := range []int{1, 8, 63, 131} {
						test := &looptest.Case{Kernel: k}
						test.Args.Sizes = ir.Env{"N": n, "first": first}
						test.Args.Buffers = [][]byte{make([]byte, d.Size()*n)}
						if err := checkCase(test, isa); err != nil {
							t.Fatalf("%v of %s from %d on, %d: %v", d, index, first, n, err)
						}
					}
				}
			})
		}
	}
}
