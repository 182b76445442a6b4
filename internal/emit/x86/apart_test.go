package x86

import (
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/emit/native/nativetest"
	"github.com/sinterml/sinter/internal/ir"
)

// TestLanesApart moves every dtype from and to lanes that lie apart, of several strides,
// up and down, in whole registers and a rest.
func TestLanesApart(t *testing.T) {
	const text = `kernel "apart"
symbol N 0 100
param x %[1]v[7*N+9] read
param y %[1]v[5*N+9] write
for global b < 1 {
	for vector i < size(N) {
		y[%[2]s] = x[%[3]s]
	}
}
`
	for _, d := range []ir.DType{ir.F32, ir.I32, ir.U32, ir.BF16, ir.F16, ir.I16, ir.U16, ir.I8, ir.U8, ir.Bool, ir.I64, ir.F64} {
		for _, at := range [][2]string{{"i", "i*2"}, {"i", "i*7 + 3"}, {"i*5 + 1", "i"}, {"i*2", "i*3"}, {"i", "size(7*N) - i*3"}, {"size(3*N) - i*2", "i"}, {"i", "size(N) - i"}, {"i*2", "size(3*N+5) - i"}} {
			k := parse(t, fmt.Sprintf(text, d, at[0], at[1]))
			eachISA(t, func(t *testing.T, isa ISA) {
				for _, n := range []int{1, 8, 16, 29, 70} {
					c, err := nativetest.CaseOf(k, ir.Env{"N": n}, uint64(n))
					if err != nil {
						t.Fatal(err)
					}
					if err := checkCase(c, isa); err != nil {
						t.Fatalf("%v, %s from %s, %d lanes: %v", d, at[0], at[1], n, err)
					}
				}
			})
		}
	}
}
