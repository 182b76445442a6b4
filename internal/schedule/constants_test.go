package schedule

import (
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// scaled is a product with a weight that is divided by the maxima of its
// columns; KIND stands for the leaf's kind.
const scaled = `graph
leaf 0 input "x" f32[8 64]
leaf 1 KIND "w" f32[64 48]
%0 = input : f32[8 64]
%1 = KIND leaf=1 : f32[64 48]
%2 = reducemax %1 axes=[0] : f32[1 48]
%3 = expand %2 : f32[64 48]
%4 = div %1 %3 : f32[64 48]
%5 = matmul %0 %4 : f32[8 48]
return %5
`

func planOf(t *testing.T, text string, noOpt ...string) *Plan {
	t.Helper()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Build(g, Options{NoOpt: noOpt, Anchors: map[ir.Op]bool{ir.MatMul: true}})
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *Plan) constants() (n int) {
	for _, k := range p.Kernels {
		if k.Constant {
			n++
		}
	}
	return n
}

// Weights are the same in every run, and so is what is bound, unless it may be
// the data.
func TestConstantLeaves(t *testing.T) {
	for kind, want := range map[string]int{"weight": 1, "input": 0, "bound": 1, "variable": 0} {
		if p := planOf(t, strings.ReplaceAll(scaled, "KIND", kind)); p.constants() != want {
			t.Errorf("%d constant kernels of a %s, want %d\n%v", p.constants(), kind, want, p)
		}
	}
	noInput := strings.NewReplacer("KIND", "bound", "leaf 0 input", "leaf 0 bound", "%0 = input", "%0 = bound").Replace(scaled)
	if p := planOf(t, noInput); p.constants() != 0 {
		t.Errorf("%d constant kernels without inputs\n%v", p.constants(), p)
	}
}

func TestConstantKernels(t *testing.T) {
	for _, c := range []struct {
		name, nodes string
		want        int
	}{
		{"a dequantised weight that one product reads is packed, not kept", `leaf 1 weight "w" i8[64 48]
leaf 2 weight "scale" f32[1 48]
%0 = input : f32[8 64]
%1 = weight leaf=1 : i8[64 48]
%2 = cast %1 : f32[64 48]
%3 = weight leaf=2 : f32[1 48]
%4 = expand %3 : f32[64 48]
%5 = mul %2 %4 : f32[64 48]
%6 = exp %5 : f32[64 48]
%7 = matmul %0 %6 : f32[8 48]
return %7
`, 0},
		{"nor one that is the left operand: it is four times as large", `leaf 1 weight "w" i8[8 64]
%0 = input : f32[64 64]
%1 = weight leaf=1 : i8[8 64]
%2 = cast %1 : f32[8 64]
%3 = matmul %2 %0 : f32[8 64]
return %3
`, 0},
		{"one that is cheap is computed where it is read", `leaf 1 weight "w" f32[64]
%0 = input : f32[64]
%1 = weight leaf=1 : f32[64]
%2 = add %1 %1 : f32[64]
%3 = mul %0 %2 : f32[64]
return %3
`, 0},
		{"one that is dear is not", `leaf 1 weight "w" f32[64]
%0 = input : f32[64]
%1 = weight leaf=1 : f32[64]
%2 = exp %1 : f32[64]
%3 = mul %0 %2 : f32[64]
return %3
`, 1},
		{"before it is repeated", `leaf 1 weight "w" f32[1 64]
%0 = input : f32[64 64]
%1 = weight leaf=1 : f32[1 64]
%2 = exp %1 : f32[1 64]
%3 = expand %2 : f32[64 64]
%4 = exp %3 : f32[64 64]
%5 = mul %0 %4 : f32[64 64]
return %5
`, 1},
		{"nor are weights that are joined, but for the operand of a product", `leaf 1 weight "w" f32[64 8]
leaf 2 weight "v" f32[64 16]
leaf 3 weight "b" f32[1 8]
leaf 4 weight "c" f32[1 16]
%0 = input : f32[8 64]
%1 = weight leaf=1 : f32[64 8]
%2 = weight leaf=2 : f32[64 16]
%3 = concat %1 %2 axes=[1] : f32[64 24]
%4 = matmul %0 %3 : f32[8 24]
%5 = weight leaf=3 : f32[1 8]
%6 = weight leaf=4 : f32[1 16]
%7 = concat %5 %6 axes=[1] : f32[1 24]
%8 = expand %7 : f32[8 24]
%9 = add %4 %8 : f32[8 24]
return %9
`, 1},
		{"rows that are looked up are computed then", `leaf 1 weight "w" f32[64 4]
%0 = input : i32[8]
%1 = weight leaf=1 : f32[64 4]
%2 = exp %1 : f32[64 4]
%3 = reshape %0 : i32[8 1]
%4 = expand %3 : i32[8 4]
%5 = gather %2 %4 axes=[0] : f32[8 4]
return %5
`, 0},
		{"what is but an output is computed each time", `leaf 1 weight "w" f32[64]
%0 = input : f32[64]
%1 = weight leaf=1 : f32[64]
%2 = sum %1 axes=[0] : f32[1]
%3 = exp %0 : f32[64]
return %2 %3
`, 0},
		{"a new value of a variable is not kept, what leads to it is", `leaf 1 weight "w" f32[1 64]
leaf 2 variable "v" f32[64 64]
%0 = input : f32[64 64]
%1 = exp %0 : f32[64 64]
%2 = variable leaf=2 : f32[64 64]
%3 = weight leaf=1 : f32[1 64]
%4 = sum %3 axes=[1] : f32[1 1]
%5 = expand %4 : f32[64 64]
%6 = assign %2 %5 leaf=2 : f32[64 64]
return %1 %6
`, 1},
		{"nothing is kept without weights", `%0 = input : f32[64]
%1 = iota axes=[0] : f32[64]
%2 = sum %1 axes=[0] : f32[1]
%3 = expand %2 : f32[64]
%4 = mul %0 %3 : f32[64]
return %4
`, 0},
	} {
		input := "f32[64]"
		if _, after, ok := strings.Cut(c.nodes, "%0 = input : "); ok {
			input, _, _ = strings.Cut(after, "\n")
		}
		p := planOf(t, "graph\nleaf 0 input \"x\" "+input+"\n"+c.nodes)
		if p.constants() != c.want {
			t.Errorf("%s: %d constant kernels, want %d\n%v", c.name, p.constants(), c.want, p)
		}
	}
}

// A plan whose constant kernels read what changes is refused.
func TestCheckConstants(t *testing.T) {
	p := planOf(t, strings.ReplaceAll(scaled, "KIND", "weight"))
	p.Kernels[len(p.Kernels)-1].Constant = true
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "changes from run to run") {
		t.Errorf("a product with an input is called constant: %v", err)
	}
}

// Where nobody packs weights they are rounded once for products of many rows; not
// where that takes more memory than it is worth, of what is no weight, or where the
// order of a product's sums is that of the weight.
func TestRoundedOnce(t *testing.T) {
	const text = `graph
symbol n 1 ROWS
leaf 0 input "x" f32[n 64]
leaf 1 KIND "w" FROM[48 64]
%0 = input : f32[n 64]
%1 = KIND leaf=1 : FROM[48 64]
%2 = cast %1 : SHORT[48 64]
%3 = cast %2 : f32[48 64]
%4 = permute %3 axes=[1 0] : f32[64 48]
%5 = matmul %0 %4 : f32[n 48]
return %5
`
	for _, c := range []struct {
		kind, from, short, rows string
		packed                  bool
		kept                    ir.DType // 0: nothing
	}{
		{"weight", "f32", "bf16", "64", false, ir.BF16},
		{"weight", "f32", "f16", "64", false, ir.F16},
		{"weight", "f32", "i8", "17", false, ir.I8},
		{"weight", "f32", "bf16", "16", false, 0},
		{"weight", "f32", "bf16", "64", true, 0},
		{"variable", "f32", "bf16", "64", false, 0},
		{"weight", "i8", "f64", "64", false, 0}, // 8 bytes for each
	} {
		g, err := ir.Parse(strings.NewReplacer("KIND", c.kind, "FROM", c.from, "SHORT", c.short, "ROWS", c.rows).Replace(text))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Build(g, Options{Anchors: map[ir.Op]bool{ir.MatMul: true}, Unpacked: !c.packed})
		if err == nil {
			err = p.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		kept := ir.DType(0)
		for _, b := range p.Buffers {
			if b.Kind == ConstantBuffer {
				kept = b.DType
			}
		}
		if kept != c.kept {
			t.Errorf("%+v: %v is kept\n%v", c, kept, p)
		}
	}
}

// TestComputedOnce: products that copy what lies in memory have a weight that is
// computed, of bytes and their scales, computed once; not where its bytes become
// f64 or i32, which products do not copy, where rows are few, or where the target
// has products that compute it. No kernel of its own computes a weight in each run.
func TestComputedOnce(t *testing.T) {
	const text = `graph
symbol n 1 ROWS
leaf 0 input "x" FLOAT[n 64]
leaf 1 KIND "w" i8[48 64]
leaf 2 weight "s" FLOAT[48 1]
%0 = input : FLOAT[n 64]
%1 = KIND leaf=1 : i8[48 64]
%2 = cast %1 : FLOAT[48 64]
%3 = weight leaf=2 : FLOAT[48 1]
%4 = expand %3 : FLOAT[48 64]
%5 = mul %2 %4 : FLOAT[48 64]
%6 = permute %5 axes=[1 0] : FLOAT[64 48]
%7 = matmul %0 %6 : FLOAT[n 48]
return %7
`
	for _, c := range []struct {
		kind, float, rows string
		half, kept        bool
	}{{"weight", "f32", "64", true, true}, {"weight", "f32", "16", true, false}, {"weight", "f32", "64", false, false}, {"variable", "f32", "64", true, false}, {"weight", "f64", "64", true, false}, {"weight", "i32", "64", true, false}} {
		g, err := ir.Parse(strings.NewReplacer("KIND", c.kind, "FLOAT", c.float, "ROWS", c.rows).Replace(text))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Build(g, Options{Anchors: map[ir.Op]bool{ir.MatMul: true}, Unpacked: true, Half: c.half})
		if err == nil {
			err = p.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.ContainsFunc(p.Buffers, func(b Buffer) bool { return b.Kind == ConstantBuffer })
		temps := slices.ContainsFunc(p.Buffers, func(b Buffer) bool { return b.Kind == TempBuffer })
		if kept != c.kept || temps && c.kind == "weight" {
			t.Errorf("%+v: kept: %v, temps: %v\n%v", c, kept, temps, p)
		}
	}
}
