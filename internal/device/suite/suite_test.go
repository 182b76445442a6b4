package suite

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// Every operation has cases, and every dtype that its first operand may have
// is among them, in the short suite too.
func TestEveryOperationHasCases(t *testing.T) {
	t.Run("all", func(t *testing.T) { coverage(t, Cases()) })
	t.Run("short", func(t *testing.T) { coverage(t, Short()) })
	t.Run("few of constant sizes", func(t *testing.T) { coverage(t, FewStatic(Cases())) })
}

// TestFewStatic leaves each operation, and each dtype, cases of constant sizes.
func TestFewStatic(t *testing.T) {
	words := func(cases []*Case) (constant int, all map[string]bool) {
		all = map[string]bool{}
		for _, c := range cases {
			if name, ok := strings.CutSuffix(c.Name, " static"); ok {
				constant++
				for word := range strings.FieldsSeq(name) {
					all[word] = true
				}
			}
		}
		return constant, all
	}
	few := FewStatic(Cases())
	some, kept := words(few)
	total, want := words(Cases())
	if some != (total+2)/3 || len(Cases())-len(few) != total-some {
		t.Errorf("%d of %d cases are of constant sizes, and there are %d in all", some, total, len(few))
	}
	for word := range want {
		if !kept[word] {
			t.Errorf("no case of constant sizes is left of %s", word)
		}
	}
}

// TestFewElementwise leaves each operation and each dtype cases, and all that are more
// than an expression for each element.
func TestFewElementwise(t *testing.T) {
	words := func(cases []*Case) map[string]bool {
		all := map[string]bool{}
		for _, c := range cases {
			if !c.elementwise() {
				continue
			}
			for word := range strings.FieldsSeq(c.Name) {
				all[word] = true
			}
		}
		return all
	}
	from := FewStatic(Cases()) // as drivers get them
	more := slices.DeleteFunc(slices.Clone(from), (*Case).elementwise)
	few := FewElementwise(from)
	if want := len(more) + (len(from)-len(more)+2)/3; len(few) != want || len(more) == len(from) {
		t.Errorf("%d of %d cases are left, %d are more than elementwise", len(few), len(from), len(more))
	}
	kept := words(few)
	for word := range words(from) {
		if !kept[word] && word != "gelu" && word != "large" { // of which there is one
			t.Errorf("no case is left of %s", word)
		}
	}
	for _, name := range []string{"softmax", "matmul f32", "reduce long f32", "sort f32", "rand", "scatter add f32 by i32"} {
		if !slices.ContainsFunc(few, func(c *Case) bool { return c.Name == name }) {
			t.Errorf("%s is left out", name)
		}
	}
}

// TestFewWords leaves each operation, each dtype and each form cases.
func TestFewWords(t *testing.T) {
	words := func(cases []*Case) map[string]bool {
		all := map[string]bool{}
		for _, c := range cases {
			for w := range strings.FieldsSeq(c.Name) {
				all[w] = true
			}
		}
		return all
	}
	from := FewElementwise(FewStatic(Cases())) // as a second shape gets them
	few := FewWords(from)
	if len(few) < len(from)/3 || len(few) > len(from)*3/4 {
		t.Errorf("%d of %d cases are left", len(few), len(from))
	}
	kept := words(few)
	for w := range words(from) {
		if !kept[w] {
			t.Errorf("no case is left of %s", w)
		}
	}
	t.Logf("%d of %d cases", len(few), len(from))
}

func coverage(t *testing.T, cases []*Case) {
	seen := map[ir.Op]map[ir.DType]bool{}
	names := map[string]bool{}
	for _, c := range cases {
		if names[c.Name] {
			t.Errorf("two cases are named %q", c.Name)
		}
		names[c.Name] = true
		g, _, err := c.Graph()
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for _, n := range g.Nodes {
			d := n.DType
			if len(n.In) > 0 {
				d = n.In[0].DType
			}
			if n.Op == ir.Where {
				d = n.DType
			}
			if seen[n.Op] == nil {
				seen[n.Op] = map[ir.DType]bool{}
			}
			seen[n.Op][d] = true
		}
	}
	for _, op := range ir.Ops() {
		if len(seen[op]) == 0 {
			t.Errorf("%v has no case", op)
		}
		if !op.Pointwise() && op.Class() != ir.ClassReduce && op.Class() != ir.ClassMovement {
			continue
		}
		for _, d := range ir.DTypes() {
			if takesFirst(op, d) && !seen[op][d] {
				t.Errorf("%v has no case on %v", op, d)
			}
		}
	}
}

// takesFirst tells whether op accepts operands of type d.
func takesFirst(op ir.Op, d ir.DType) bool {
	x := ir.Type{DType: d, Shape: ir.Static(2, 2)}
	attrs := map[ir.Op]ir.Attr{
		ir.Cast: {DType: ir.F32}, ir.Bitcast: {DType: d}, ir.Reshape: {Shape: ir.Static(4)}, ir.Permute: {Axes: []int{1, 0}},
		ir.Expand: {Shape: ir.Static(2, 2)}, ir.Pad: {Before: ir.Static(0, 0), After: ir.Static(0, 0)},
		ir.Slice:  {Starts: ir.Static(0, 0), Steps: []int{1, 1}, Shape: ir.Static(1, 1)},
		ir.Window: {Axes: []int{0}, Size: 1, Stride: 1, Dilation: 1},
	}
	a, ok := attrs[op]
	if !ok {
		a = ir.Attr{Axes: []int{0}}
	}
	in := slices.Repeat([]ir.Type{x}, map[ir.Class]int{ir.ClassBinary: 2, ir.ClassTernary: 3}[op.Class()])
	if len(in) == 0 {
		in = []ir.Type{x}
	}
	if op == ir.Where {
		in[0].DType = ir.Bool
	}
	return fits(op, a, in...)
}

// The cases themselves may be wrong.
func TestErrorsOfCases(t *testing.T) {
	for name, c := range map[string]*Case{
		"does not fit": {Name: "x", Build: func(b *Builder) []*ir.Node { return []*ir.Node{b.Add(ir.Neg, ir.Attr{}, b.Input(ir.Bool, Ordinary))} }},
		"fails unasked": {Name: "x", Build: func(b *Builder) []*ir.Node {
			return []*ir.Node{b.Add(ir.IDiv, ir.Attr{}, b.Input(ir.I32, Given(1)), b.Input(ir.I32, Given(0)))}
		}},
		"does not fail": {Name: "x", Fails: anyError, Build: func(b *Builder) []*ir.Node { return []*ir.Node{b.Input(ir.I32, Given(1))} }},
	} {
		if _, _, err := c.Prepare(); err == nil {
			t.Errorf("a case that %s is prepared", name)
		}
	}
	if err := wantIndex(device.IndexError{})(errors.New("no index")); err == nil {
		t.Error("any error is an index error")
	}
}
