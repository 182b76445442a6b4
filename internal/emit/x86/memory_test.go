package x86

import (
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/emit/native/nativetest"
	"github.com/sinterml/sinter/internal/ir"
)

const rewritten = `kernel "rewritten"
symbol N 0 100
param x f32[N] read
param y f32[N] write
param z f32[N] write
for global b < 1 {
	for RANGE i < size(N) {
		y[i] = x[i]
		a = y[i]
		y[i] = a + f32(1)
		z[i] = y[i]*a
	}
}
`

// A load behind a store reads what was stored, though the same load stands in
// front of it.
func TestLoadsSeeStores(t *testing.T) {
	for _, lanes := range []string{"vector", "serial"} {
		k := parse(t, strings.ReplaceAll(rewritten, "RANGE", lanes))
		eachISA(t, func(t *testing.T, isa ISA) {
			for _, n := range []int{1, 16, 70} {
				c, err := nativetest.CaseOf(k, ir.Env{"N": n}, uint64(n))
				if err != nil {
					t.Fatal(err)
				}
				if err := checkCase(c, isa); err != nil {
					t.Fatalf("%s, %d: %v", lanes, n, err)
				}
			}
		})
	}
}
