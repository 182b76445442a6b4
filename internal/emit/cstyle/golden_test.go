package cstyle_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

var update = flag.Bool("update", false, "write the golden files")

// softmax is a kernel with reductions, memory between passes, and an index that
// data tells.
const softmax = `kernel "softmax"
slots 1
symbol n 1 4096
param x f32[48*n] read
param at i32[n] read
param kept f32[48] scratch
param y bf16[48*n] write
for global r < size(n) {
	row = index(cast.i64(at[r]), n, 0)
	top = f32(-inf)
	for vector c < 48 {
		top max= x[row*48 + c]
	}
	total = f32(0)
	for vector d < 48 {
		kept[d] = exp(x[row*48 + d] - top)
		total add= exp(x[row*48 + d] - top)
	}
	for vector e < 48 {
		y[r*48 + e] = cast.bf16(kept[e]/total)
	}
}
`

// integers is a kernel of one work-item an iteration.
const integers = `kernel "integers"
param x i32[9] read
param y i32[9] update
param z u8[9] read
for global i < 9 {
	y[i ? i < 7] = mod(max(x[i], shl(y[i], x[8 - i])), i32(7)) + cast.i32(z[i ? 2 < i])
}
`

func product() *template.Gemm {
	n := ir.Sym("n", 0, 4096)
	g := &template.Gemm{Name: "product", DType: ir.F32, BatchSize: ir.N(1), Rows: n, Cols: ir.N(100), K: ir.N(600),
		Batch: &loop.Var{Name: "b"}, Row: &loop.Var{Name: "m"}, Col: &loop.Var{Name: "n"}, Inner: &loop.Var{Name: "k"}, Acc: &loop.Local{Name: "acc", DType: ir.F32}}
	at := func(row, col *loop.Var, width int) *loop.Expr {
		return loop.AddIndex(loop.MulIndex(row.Ref(), loop.Int(width)), col.Ref())
	}
	param := func(name string, d ir.DType, size ir.Dim, use loop.Use) loop.Param {
		return loop.Param{Name: name, DType: d, Len: size, Use: use}
	}
	g.Params = []loop.Param{param("x", ir.F32, n.Mul(ir.N(600)), loop.Read), param("y", ir.I8, ir.N(60000), loop.Read), param("out", ir.F32, n.Mul(ir.N(100)), loop.Write)}
	g.X, g.Y = loop.Load(0, ir.F32, at(g.Row, g.Inner, 600), nil), loop.Apply(ir.Cast, ir.F32, loop.Load(1, ir.I8, at(g.Col, g.Inner, 600), nil))
	g.Epilogue = []loop.Stmt{&loop.Store{Param: 2, Index: at(g.Row, g.Col, 100), Value: loop.Apply(ir.Tanh, ir.F32, g.Acc.Ref())}}
	return g
}

// attention is causal, by tiles, of heads of 64 in bf16.
func attention() *entry.Kernel {
	s := flattest.Attended{Batch: 1, Heads: 4, KVHeads: 2, Queries: 1, Keys: 1, Width: 64}
	a, _ := flattest.Attention(rand.New(rand.NewPCG(1, 0)), ir.BF16, s, ir.AttentionAttr{Scale: 0.125, Causal: true})
	return entry.Shape{Items: 256, Near: 16 << 10, Shared: 64 << 10}.Attention("", a)
}

func parse(t *testing.T, text string, g loop.Grouping) *loop.Kernel {
	t.Helper()
	k, err := loop.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return loop.Expand(loop.Grouped(k, g))
}

// goldens are kernels of all kinds. Those in the shape for GPUs exist in all
// languages.
func goldens(t *testing.T) map[string]*entry.Kernel {
	groups, strips := loop.Grouping{Width: 32, Items: true}, loop.Grouping{Width: 16}
	all := map[string]*entry.Kernel{
		"softmax_gpu": {Work: parse(t, softmax, groups), Items: 32, Near: []bool{false, false, true, false, true}},
		"softmax_cpu": {Work: parse(t, softmax, strips), Items: 1, Near: []bool{false, false, true, false, false}},
		"integers":    {Work: parse(t, integers, strips), Items: 1, Near: make([]bool, 3)},
		"product_cpu": cstyle.GemmForProcessor("", product(), entry.Tile{}),
		"product_gpu": cstyle.GemmForGroups("", product(), entry.Tile{}),
		"attention":   attention(),
	}
	for name, k := range all {
		k.Entry = name
	}
	return all
}

// TestGolden shows what they become; -update writes the files anew.
func TestGolden(t *testing.T) {
	for _, s := range []struct {
		*cstyle.Style
		suffix string
	}{{cstyle.OpenCL, ".cl"}, {cstyle.HIP, ".hip"}, {cstyle.Metal, ".metal"}} {
		for name, k := range goldens(t) {
			if s.Style != cstyle.OpenCL && strings.HasSuffix(name, "_cpu") {
				continue
			}
			style := s.Style
			if strings.HasSuffix(name, "_cpu") {
				style = cstyle.OpenCLForProcessor
			}
			t.Run(name+s.suffix, func(t *testing.T) { golden(t, style, k, filepath.Join("testdata", name+s.suffix)) })
		}
	}
}

func golden(t *testing.T, s *cstyle.Style, k *entry.Kernel, file string) {
	p, err := s.Write([]*entry.Kernel{k})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(p.Source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if p.Source != string(want) {
		t.Errorf("the source has changed; if that is meant, run the test with -update\n%s", p.Source)
	}
}

// Scratch memory near by must have a constant size, and every operation a text.
func TestRefuses(t *testing.T) {
	for text, near := range map[string][]bool{
		"kernel \"k\"\nsymbol n 0 9\nparam s f32[n] scratch\nfor global i < size(n) {\n\ts[0] = f32(1)\n}\n":   {true},
		"kernel \"k\"\nparam x f32[4] read\nparam y f32[4] write\nfor global i < 4 {\n\ty[i] = exp(x[i])\n}\n": {false, false},
	} {
		k, err := loop.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cstyle.OpenCL.Write([]*entry.Kernel{{Entry: "k", Work: k, Items: 1, Near: near}}); err == nil {
			t.Errorf("no error for\n%s", text)
		}
	}
}
