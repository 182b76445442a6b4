package schedule

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// Reasons of plans that a person would ask for.
func TestWhy(t *testing.T) {
	anchors := map[ir.Op]bool{ir.MatMul: true}
	for _, test := range []struct {
		name, graph string
		off         []string
		want        string // "kept; apart" of the edge between the last two kernels
	}{
		{name: "a product reads memory", graph: `
leaf 0 input "x" f32[64 32]
leaf 1 input "y" f32[32 16]
%0 = input : f32[64 32]
%1 = exp %0 : f32[64 32]
%2 = input leaf=1 : f32[32 16]
%3 = matmul %1 %2 : f32[64 16]
return %3
`, want: keptFor{KeptOperand, ir.MatMul}.String() + "; " + ApartAnchor.String()},
		{name: "a reduction behind a product", graph: `
leaf 0 input "x" f32[64 32]
leaf 1 input "y" f32[32 16]
%0 = input : f32[64 32]
%1 = input leaf=1 : f32[32 16]
%2 = matmul %0 %1 : f32[64 16]
%3 = exp %2 : f32[64 16]
%4 = sum %3 axes=[1] : f32[64 1]
return %4
`, want: keptTexts[KeptTail] + "; " + ApartBehind.String()},
		{name: "epilogue off", off: []string{"epilogue"}, graph: `
leaf 0 input "x" f32[64 32]
leaf 1 input "y" f32[32 16]
%0 = input : f32[64 32]
%1 = input leaf=1 : f32[32 16]
%2 = matmul %0 %1 : f32[64 16]
%3 = exp %2 : f32[64 16]
return %3
`, want: keptTexts[KeptAnchor] + "; " + ApartEpilogue.String()},
		{name: "fuse off", off: []string{"fuse"}, graph: `
leaf 0 input "x" f32[64]
%0 = input : f32[64]
%1 = exp %0 : f32[64]
%2 = neg %1 : f32[64]
return %2
`, want: keptTexts[KeptApart] + "; " + ApartFuse.String()},
		{name: "other rows", graph: `
leaf 0 input "x" f32[64 32]
%0 = input : f32[64 32]
%1 = sum %0 axes=[1] : f32[64 1]
%2 = sum %1 axes=[0] : f32[1 1]
return %2
`, want: keptTexts[KeptReduction] + "; " + ApartLoops.String()},
		{name: "rows off", off: []string{"rows"}, graph: `
leaf 0 input "x" f32[64 32]
%0 = input : f32[64 32]
%1 = sum %0 axes=[1] : f32[64 1]
%2 = expand %1 : f32[64 32]
%3 = div %0 %2 : f32[64 32]
return %3
`, want: keptTexts[KeptReduction] + "; " + ApartRows.String()},
		{name: "parts", graph: `
leaf 0 input "x" f32[8000000]
%0 = input : f32[8000000]
%1 = sum %0 axes=[0] : f32[1]
return %1
`, want: keptTexts[KeptReduction] + "; " + ApartCombine.String()},
		{name: "an output twice", graph: `
leaf 0 input "x" f32[64]
%0 = input : f32[64]
%1 = exp %0 : f32[64]
return %1 %1
`, want: keptTexts[KeptOutput] + "; " + ApartCopy.String()},
	} {
		g, err := ir.Parse("graph\n" + strings.TrimPrefix(test.graph, "\n"))
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		p, err := Build(g, Options{Anchors: anchors, NoOpt: test.off, Explain: true})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if len(p.Edges) == 0 {
			t.Errorf("%s: one kernel:\n%v", test.name, p)
			continue
		}
		e := p.Edges[len(p.Edges)-1]
		if got := e.Kept + "; " + e.Apart; got != test.want {
			t.Errorf("%s: %q, want %q\n%v", test.name, got, test.want, p)
		}
		line := fmt.Sprintf("of k%d: %s; %s", e.From, e.Kept, e.Apart)
		if text := p.Partition(); !strings.Contains(text, line) {
			t.Errorf("%s: the partition does not say %q:\n%s", test.name, line, text)
		}
	}
}

// Zeros around overlapping windows are written once; windows that lie apart read
// each element once, where it is.
func TestPaddedWindows(t *testing.T) {
	for _, test := range []struct{ stride, windows, kernels int }{{1, 16, 2}, {3, 6, 1}} {
		g, err := ir.Parse(fmt.Sprintf(`graph
leaf 0 input "x" f32[8 16]
%%0 = input : f32[8 16]
%%1 = pad %%0 before=[0 1] after=[0 1] : f32[8 18]
%%2 = window %%1 axes=[1] size=3 stride=%[1]d dilation=1 : f32[8 %[2]d 3]
%%3 = sum %%2 axes=[2] : f32[8 %[2]d 1]
return %%3
`, test.stride, test.windows))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Build(g, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Kernels) != test.kernels {
			t.Errorf("stride %d: want %d kernels\n%v", test.stride, test.kernels, p)
		}
	}
}
