package schedule

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// Parts of a product's columns, each with an operation of its own, are one kernel
// with what reads them together, and others where they cannot be.
func TestMerge(t *testing.T) {
	const gates = `graph
	leaf 0 input "a" f32[8 24]
	leaf 1 input "w" f32[24 24]
	%a = input leaf=0 : f32[8 24]
	%w = input leaf=1 : f32[24 24]
	%p = matmul %a %w : f32[8 24]
	%i = slice %p starts=[0 0] steps=[1 1] : f32[8 8]
	%j = slice %p starts=[0 8] steps=[1 1] : f32[8 8]
	%k = slice %p starts=[0 16] steps=[1 1] : f32[8 8]
	%x = tanh %i : f32[8 8]
	%y = exp %j : f32[8 8]
	%z = erf %k : f32[8 8]
	`
	for _, c := range []struct {
		name, text string
		kernels    int
	}{
		{"all of them", "%s = mul %x %y : f32[8 8]\n\t%t = add %s %z : f32[8 8]\n\treturn %t %s %x %y %z\n", 2},
		{"two", "%s = mul %x %y : f32[8 8]\n\treturn %s %x %y %z\n", 3},
		{"a product between", `%b = matmul %x %x : f32[8 8]
	%f = flip %b axes=[0] : f32[8 8]
	%v = exp %f : f32[8 8]
	%s = mul %v %x : f32[8 8]
	return %s %x %b %v
`, 4},
		{"another place", "%f = flip %x axes=[0] : f32[8 8]\n\t%g = exp %f : f32[8 8]\n\t%s = mul %g %y : f32[8 8]\n\t%t = add %s %x : f32[8 8]\n\treturn %t %s %x %y %g\n", 3},
	} {
		g, err := ir.Parse(gates + c.text)
		if err != nil {
			t.Fatal(c.name, err)
		}
		p, err := Build(g, Options{Anchors: map[ir.Op]bool{ir.MatMul: true}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v\n%v", c.name, err, p)
		}
		if len(p.Kernels) != c.kernels {
			t.Errorf("%s: %d kernels, not %d\n%v", c.name, len(p.Kernels), c.kernels, p)
		}
	}
}
