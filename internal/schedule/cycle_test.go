package schedule

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// A product's kernel that keeps a value on the way to its end leads to nodes
// from both: no other kernel may stand between them.
func TestKeptValuesMakeNoCycle(t *testing.T) {
	for name, text := range map[string]string{
		"joined": `graph
	leaf 0 input "a" f32[8 8]
	leaf 1 input "b" f32[8 8]
	%0 = input leaf=0 : f32[8 8]
	%1 = input leaf=1 : f32[8 8]
	%2 = matmul %0 %0 : f32[8 8]
	%3 = mul %2 %0 : f32[8 8]
	%4 = tanh %3 : f32[8 8]
	%5 = sub %4 %1 : f32[8 8]
	%6 = exp %1 : f32[8 8]
	%7 = matmul %6 %0 : f32[8 8]
	%8 = add %3 %7 : f32[8 8]
	return %5 %8
`,
		"products": `graph
	leaf 0 input "a" f32[8 8]
	leaf 1 input "b" f32[8 8]
	%0 = input leaf=0 : f32[8 8]
	%1 = input leaf=1 : f32[8 8]
	%2 = matmul %0 %1 : f32[8 8]
	%3 = mul %2 %0 : f32[8 8]
	%4 = matmul %1 %0 : f32[8 8]
	%5 = mul %4 %1 : f32[8 8]
	%6 = add %3 %5 : f32[8 8]
	%7 = sub %3 %5 : f32[8 8]
	return %6 %7
`,
	} {
		g, err := ir.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Build(g, Options{Anchors: map[ir.Op]bool{ir.MatMul: true}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v\n%v", name, err, p)
		}
	}
}
