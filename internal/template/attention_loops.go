package template

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Loops is the meaning of t as an ordinary kernel: one iteration a sequence,
// the scores of one query row at a time in a scratch param behind the others.
func (t *Attention) Loops() *loop.Kernel {
	c := &attentionLoops{Attention: t, ct: t.DType.Compute(), scratch: len(t.Params)}
	params := append(append([]loop.Param(nil), t.Params...),
		loop.Param{Name: "scores", DType: c.ct, Len: c.keysAtMost(), Use: loop.Scratch})
	head := &loop.Loop{Var: t.Head, Hi: loop.Int(t.Heads), Range: loop.Serial, Body: c.row()}
	rows := &loop.Loop{Var: t.Row, Lo: c.first(t.QOffsets, t.QLen), Hi: c.last(t.QOffsets, t.QLen), Range: loop.Serial, Body: []loop.Stmt{head}}
	seqs := &loop.Loop{Var: t.Seq, Hi: loop.SizeOf(t.Batch), Range: loop.Global, Body: []loop.Stmt{rows}}
	return loop.Share(&loop.Kernel{Name: t.Name, Params: params, Slots: t.Slots, Body: []loop.Stmt{seqs}})
}

type attentionLoops struct {
	*Attention
	ct      ir.DType // accumulated in
	scratch int      // the param with the scores
}

// keysAtMost bounds the keys of one sequence.
func (c *attentionLoops) keysAtMost() ir.Dim {
	if c.Attr.Ragged {
		return c.Keys
	}
	return c.KLen
}

// first is the first row of the sequence, last the one behind its last.
func (c *attentionLoops) first(offsets int, length ir.Dim) *loop.Expr {
	return c.boundary(offsets, length, c.Seq.Ref())
}

func (c *attentionLoops) last(offsets int, length ir.Dim) *loop.Expr {
	return c.boundary(offsets, length, loop.AddIndex(c.Seq.Ref(), loop.Int(1)))
}

func (c *attentionLoops) boundary(offsets int, length ir.Dim, seq *loop.Expr) *loop.Expr {
	if !c.Attr.Ragged {
		return loop.MulIndex(seq, loop.SizeOf(length))
	}
	return loop.Apply(ir.Cast, ir.I64, loop.Load(offsets, ir.I32, seq, nil))
}

func (c *attentionLoops) op(o ir.Op, args ...*loop.Expr) *loop.Expr {
	return loop.Apply(o, c.ct, args...)
}

func (c *attentionLoops) number(v float64) *loop.Expr {
	bits, _ := ir.Bits(c.ct, v) // floats take any value
	return loop.Const(c.ct, bits)
}

func (c *attentionLoops) widen(e *loop.Expr) *loop.Expr {
	if e.DType == c.ct {
		return e
	}
	return c.op(ir.Cast, e)
}

// row computes one query row of one head.
func (c *attentionLoops) row() []loop.Stmt {
	k0 := c.first(c.KOffsets, c.KLen)
	kLen := loop.SubIndex(c.last(c.KOffsets, c.KLen), k0)
	i := loop.SubIndex(c.Row.Ref(), c.first(c.QOffsets, c.QLen))
	qLen := loop.SubIndex(c.last(c.QOffsets, c.QLen), c.first(c.QOffsets, c.QLen))
	from, to := c.seen(i, qLen, kLen)
	key := func(v *loop.Var) *loop.Expr { return loop.AddIndex(k0, v.Ref()) }
	over := func(name string, r loop.Range, body func(v *loop.Var) []loop.Stmt) *loop.Loop {
		v := &loop.Var{Name: name}
		return &loop.Loop{Var: v, Lo: from, Hi: to, Range: r, Body: body(v)}
	}
	score := func(j *loop.Var) *loop.Expr { return loop.Load(c.scratch, c.ct, j.Ref(), nil) }

	top, safe, total := &loop.Local{Name: "top", DType: c.ct}, &loop.Local{Name: "safe", DType: c.ct}, &loop.Local{Name: "total", DType: c.ct}
	none := loop.Apply(ir.Equal, ir.Bool, top.Ref(), c.number(math.Inf(-1)))
	body := []loop.Stmt{
		&loop.Set{Local: top, Value: c.number(math.Inf(-1))},
		over("j", loop.Serial, func(j *loop.Var) []loop.Stmt { return c.score(j, key(j), top) }),
		&loop.Set{Local: safe, Value: c.op(ir.Where, none, c.number(0), top.Ref())},
		&loop.Set{Local: total, Value: c.number(0)},
		over("p", loop.Vector, func(j *loop.Var) []loop.Stmt {
			p := &loop.Local{Name: "p", DType: c.ct} // kept: the store changes what it is made from
			return []loop.Stmt{
				&loop.Set{Local: p, Value: c.rounded(c.op(ir.Exp, c.op(ir.Sub, score(j), safe.Ref())))},
				&loop.Store{Param: c.scratch, Index: j.Ref(), Value: p.Ref()},
				&loop.Acc{Local: total, Op: ir.Add, Value: p.Ref()},
			}
		}),
	}
	sum := &loop.Local{Name: "sum", DType: c.ct}
	values := over("s", loop.Serial, func(j *loop.Var) []loop.Stmt {
		v := c.widen(c.at(c.V, key(j)))
		return []loop.Stmt{&loop.Set{Local: sum, Value: c.op(ir.FMA, score(j), v, sum.Ref())}}
	})
	result := c.op(ir.Where, none, c.number(0), c.op(ir.Div, sum.Ref(), total.Ref()))
	lane := []loop.Stmt{&loop.Set{Local: sum, Value: c.number(0)}, values, &loop.Set{Local: c.Acc, Value: c.narrow(result, c.Acc.DType)}}
	body = append(body, &loop.Loop{Var: c.Lane, Hi: loop.Int(c.VWidth), Range: loop.Vector, Body: append(lane, c.Epilogue...)})
	if c.Sums != nil {
		lse := c.op(ir.Where, none, top.Ref(), c.op(ir.Add, top.Ref(), c.op(ir.Log, total.Ref())))
		body = append(append(body, &loop.Set{Local: c.LSE, Value: c.narrow(lse, c.LSE.DType)}), c.Sums...)
	}
	return body
}

// seen is the range of keys that query i sees, by position in the sequence. It
// ends below its start where there are none.
func (c *attentionLoops) seen(i, qLen, kLen *loop.Expr) (from, to *loop.Expr) {
	index := func(o ir.Op, a, b *loop.Expr) *loop.Expr { return loop.Apply(o, ir.I64, a, b) }
	own := loop.SubIndex(loop.AddIndex(i, kLen), qLen) // the query's position among the keys
	from, to = loop.Int(0), kLen
	if c.Attr.Causal {
		to = loop.AddIndex(own, loop.Int(1))
	}
	if w := c.Attr.Window; w > 0 {
		from = index(ir.Max, loop.Int(0), loop.AddIndex(own, loop.Int(1-w)))
		to = index(ir.Min, to, loop.AddIndex(own, loop.Int(w)))
	}
	return from, to
}

// rounded is a weight as the products take it.
func (c *attentionLoops) rounded(e *loop.Expr) *loop.Expr {
	if c.Format() == BF16 {
		return c.widen(c.narrow(e, ir.BF16))
	}
	return e
}

func (c *attentionLoops) narrow(e *loop.Expr, d ir.DType) *loop.Expr {
	if e.DType == d {
		return e
	}
	return loop.Apply(ir.Cast, d, e)
}

// at reads k or v at a row, in the head that serves the query head.
func (c *attentionLoops) at(e, row *loop.Expr) *loop.Expr {
	head := c.Head.Ref()
	if group := c.Heads / c.KVHeads; group > 1 {
		head = loop.Apply(ir.IDiv, ir.I64, head, loop.Int(group))
	}
	return loop.Substitute(e, map[*loop.Var]*loop.Expr{c.Row: row, c.Head: head})
}

// score puts the score of key j into scratch and the largest so far into top.
func (c *attentionLoops) score(j *loop.Var, key *loop.Expr, top *loop.Local) []loop.Stmt {
	dot := &loop.Local{Name: "dot", DType: c.ct}
	s := &loop.Local{Name: "score", DType: c.ct}
	product := c.op(ir.Mul, c.widen(c.Q), c.widen(c.at(c.K, key)))
	v := c.scaled(dot.Ref())
	if c.Mask != nil {
		i := loop.SubIndex(c.Row.Ref(), c.first(c.QOffsets, c.QLen))
		v = c.op(ir.Add, v, c.widen(loop.Substitute(c.Mask, map[*loop.Var]*loop.Expr{c.I: i, c.J: j.Ref()})))
	}
	return []loop.Stmt{
		&loop.Set{Local: dot, Value: c.number(0)},
		&loop.Loop{Var: c.Lane, Hi: loop.Int(c.Width), Range: loop.Vector, Body: []loop.Stmt{&loop.Acc{Local: dot, Op: ir.Add, Value: product}}},
		&loop.Set{Local: s, Value: v},
		&loop.Store{Param: c.scratch, Index: j.Ref(), Value: s.Ref()},
		&loop.Set{Local: top, Value: c.op(ir.Max, top.Ref(), s.Ref())},
	}
}

// scaled is the score of a product of q and k, without the mask.
func (c *attentionLoops) scaled(product *loop.Expr) *loop.Expr {
	v := c.op(ir.Mul, product, c.number(c.Attr.Scale))
	if capped := c.Attr.SoftCap; capped != 0 {
		v = c.op(ir.Mul, c.number(capped), c.op(ir.Tanh, c.op(ir.Div, v, c.number(capped))))
	}
	return v
}
