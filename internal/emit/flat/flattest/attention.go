package flattest

import (
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Attended are the sizes of an attention.
type Attended struct {
	Batch, Heads, KVHeads, Queries, Keys, Width int
}

// Attention makes a dense attention of type d, its operands [batch, heads, rows,
// width], with its arguments; the results are f32. The numbers of rows are
// symbols.
func Attention(rng *rand.Rand, d ir.DType, s Attended, attr ir.AttentionAttr) (*template.Attention, *loop.Args) {
	queries, keys := ir.Sym("q", 0, 4096), ir.Sym("k", 0, 4096)
	t := &template.Attention{Name: "attention", Attr: attr, DType: ir.F32, Heads: s.Heads, KVHeads: s.KVHeads, Width: s.Width, VWidth: s.Width,
		Batch: ir.N(s.Batch), QLen: queries, KLen: keys, Queries: queries.Mul(ir.N(s.Batch)), Keys: keys.Mul(ir.N(s.Batch)),
		Row: &loop.Var{Name: "row"}, Head: &loop.Var{Name: "head"}, Lane: &loop.Var{Name: "lane"},
		Seq: &loop.Var{Name: "seq"}, I: &loop.Var{Name: "i"}, J: &loop.Var{Name: "j"},
		Acc: &loop.Local{Name: "acc", DType: ir.F32}, LSE: &loop.Local{Name: "lse", DType: ir.F32}}
	// at is an element of a row among all of an array with so many heads.
	at := func(heads int, length ir.Dim) *loop.Expr {
		seq := loop.Apply(ir.IDiv, ir.I64, t.Row.Ref(), loop.SizeOf(length))
		head := loop.AddIndex(loop.MulIndex(seq, loop.Int(heads)), t.Head.Ref())
		return loop.AddIndex(loop.MulIndex(head, loop.SizeOf(length)), loop.Apply(ir.Mod, ir.I64, t.Row.Ref(), loop.SizeOf(length)))
	}
	lanes := func(row *loop.Expr) *loop.Expr {
		return loop.AddIndex(loop.MulIndex(row, loop.Int(s.Width)), t.Lane.Ref())
	}
	operand := func(param, heads int, length ir.Dim) *loop.Expr {
		x := loop.Load(param, d, lanes(at(heads, length)), nil)
		if d == ir.F32 {
			return x
		}
		return loop.Apply(ir.Cast, ir.F32, x)
	}
	t.Q, t.K, t.V = operand(0, s.Heads, queries), operand(1, s.KVHeads, keys), operand(2, s.KVHeads, keys)
	t.Epilogue = []loop.Stmt{&loop.Store{Param: 3, Index: lanes(at(s.Heads, queries)), Value: t.Acc.Ref()}}
	t.Sums = []loop.Stmt{&loop.Store{Param: 4, Index: at(s.Heads, queries), Value: t.LSE.Ref()}}
	a := &loop.Args{Sizes: ir.Env{"q": s.Queries, "k": s.Keys}}
	for i, rows := range []ir.Dim{t.Queries.Mul(ir.N(s.Heads)), t.Keys.Mul(ir.N(s.KVHeads)), t.Keys.Mul(ir.N(s.KVHeads)), t.Queries.Mul(ir.N(s.Heads)), t.Queries.Mul(ir.N(s.Heads))} {
		p := loop.Param{Name: [...]string{"q", "k", "v", "out", "lse"}[i], DType: d, Len: rows.Mul(ir.N(s.Width)), Use: loop.Read}
		if i > 2 {
			p.DType, p.Use = ir.F32, loop.Write
		}
		if i == 4 {
			p.Len = rows
		}
		t.Params = append(t.Params, p)
		n, _ := p.Len.Eval(a.Sizes) // both are bound
		b := make([]byte, n*p.DType.Size())
		for at := 0; p.Use == loop.Read && at < len(b); at += d.Size() {
			v, _ := ir.Bits(d, rng.NormFloat64()) // floats round
			for i := range d.Size() {
				b[at+i] = byte(v >> (8 * i))
			}
		}
		a.Buffers = append(a.Buffers, b)
	}
	return t, a
}
