package schedule

import (
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// TestEpilogueOfOtherElements: what needs elements of a product besides its own, which
// may not have been computed yet, is a kernel of its own.
func TestEpilogueOfOtherElements(t *testing.T) {
	for name, other := range map[string]string{
		"rows in reverse": "%f = flip %p axes=[0] : f32[64 32]",
		"shifted columns": "%s = slice %p starts=[0 0] steps=[1 1] : f32[64 30]\n%f = pad %s before=[0 2] after=[0 0] value=0x0 : f32[64 32]",
	} {
		g, err := ir.Parse(fmt.Sprintf(`graph
leaf 0 input "x" f32[64 16]
leaf 1 input "w" f32[16 32]
%%x = input leaf=0 : f32[64 16]
%%w = input leaf=1 : f32[16 32]
%%p = matmul %%x %%w : f32[64 32]
%s
%%y = add %%p %%f : f32[64 32]
%%r = sum %%y axes=[1] : f32[64 1]
return %%y %%r
`, other))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Build(g, Options{Anchors: map[ir.Op]bool{ir.MatMul: true}})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(p.Kernels); n != 3 {
			t.Errorf("%s: %d kernels, not a product, a sum of it and others, and one of rows:\n%v", name, n, p)
		}
	}
}
