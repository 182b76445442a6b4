package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// gradientLoops is the meaning of an AttentionGrad as an ordinary kernel. Behind
// the params are w and ds of a query row, and dk and dv of a key head.
type gradientLoops struct {
	*attentionLoops
	t              *AttentionGrad
	w, ds, dk, dv  int
	kvHead, keyRow *loop.Var
}

// Loops is the meaning of t as an ordinary kernel: one iteration a sequence.
func (t *AttentionGrad) Loops() *loop.Kernel {
	n := len(t.Params)
	c := &gradientLoops{attentionLoops: &attentionLoops{Attention: &t.Attention, ct: t.DType.Compute()}, t: t, w: n, ds: n + 1, dk: n + 2, dv: n + 3,
		kvHead: &loop.Var{Name: "kvhead"}, keyRow: &loop.Var{Name: "keyrow"}}
	params := append([]loop.Param(nil), t.Params...)
	keys := c.keysAtMost()
	for _, p := range []struct {
		name string
		len  ir.Dim
	}{{"weights", keys}, {"slopes", keys}, {"dk", keys.Mul(ir.N(t.Width))}, {"dv", keys.Mul(ir.N(t.VWidth))}} {
		params = append(params, loop.Param{Name: p.name, DType: c.ct, Len: p.len, Use: loop.Scratch})
	}
	body := append(c.clear(), c.queries(), c.stores())
	heads := &loop.Loop{Var: c.kvHead, Hi: loop.Int(t.KVHeads), Range: loop.Serial, Body: body}
	seqs := &loop.Loop{Var: t.Seq, Hi: loop.SizeOf(t.Batch), Range: loop.Global, Body: []loop.Stmt{heads}}
	return loop.Share(&loop.Kernel{Name: t.Name, Params: params, Slots: t.Slots, Body: []loop.Stmt{seqs}})
}

// keyCount is the keys of the sequence.
func (c *gradientLoops) keyCount() *loop.Expr {
	return loop.SubIndex(c.last(c.KOffsets, c.KLen), c.first(c.KOffsets, c.KLen))
}

// clear makes the sums for keys 0.
func (c *gradientLoops) clear() []loop.Stmt {
	var all []loop.Stmt
	for _, s := range []struct{ param, width int }{{c.dk, c.Width}, {c.dv, c.VWidth}} {
		v := &loop.Var{Name: "x"}
		st := &loop.Store{Param: s.param, Index: v.Ref(), Value: c.number(0)}
		all = append(all, &loop.Loop{Var: v, Hi: loop.MulIndex(c.keyCount(), loop.Int(s.width)), Range: loop.Vector, Body: []loop.Stmt{st}})
	}
	return all
}

// queries goes over the query rows of the heads that share a key head.
func (c *gradientLoops) queries() loop.Stmt {
	t, group := c.t, c.Heads/c.KVHeads
	row := &loop.Loop{Var: t.Row, Lo: c.first(t.QOffsets, t.QLen), Hi: c.last(t.QOffsets, t.QLen), Range: loop.Serial, Body: c.row()}
	first := loop.MulIndex(c.kvHead.Ref(), loop.Int(group))
	return &loop.Loop{Var: t.Head, Lo: first, Hi: loop.AddIndex(first, loop.Int(group)), Range: loop.Serial, Body: []loop.Stmt{row}}
}

// row computes one query row of one head.
func (c *gradientLoops) row() []loop.Stmt {
	t := c.t
	k0 := c.first(t.KOffsets, t.KLen)
	i := loop.SubIndex(t.Row.Ref(), c.first(t.QOffsets, t.QLen))
	qLen := loop.SubIndex(c.last(t.QOffsets, t.QLen), c.first(t.QOffsets, t.QLen))
	from, to := c.seen(i, qLen, c.keyCount())
	over := func(name string, body func(j *loop.Expr) []loop.Stmt) *loop.Loop {
		v := &loop.Var{Name: name}
		return &loop.Loop{Var: v, Lo: from, Hi: to, Range: loop.Serial, Body: body(v.Ref())}
	}
	lanes := func(width int, body ...loop.Stmt) *loop.Loop {
		return &loop.Loop{Var: t.Lane, Hi: loop.Int(width), Range: loop.Vector, Body: body}
	}
	at := func(param int, i *loop.Expr) *loop.Expr { return loop.Load(param, c.ct, i, nil) }

	p, body := t.newPair(c.attentionLoops, nil)
	body = append(body, over("j", func(j *loop.Expr) []loop.Stmt {
		dot := func(name string, width int, x, y *loop.Expr) (*loop.Local, []loop.Stmt) {
			l := &loop.Local{Name: name, DType: c.ct}
			acc := &loop.Acc{Local: l, Op: ir.Add, Value: c.op(ir.Mul, c.widen(x), c.widen(c.at(y, loop.AddIndex(k0, j))))}
			return l, []loop.Stmt{&loop.Set{Local: l, Value: c.number(0)}, lanes(width, acc)}
		}
		product, first := dot("product", t.Width, t.Q, t.K)
		asked, second := dot("asked", t.VWidth, t.DOut, t.V)
		var mask *loop.Expr
		if t.Mask != nil {
			mask = c.widen(loop.Substitute(t.Mask, map[*loop.Var]*loop.Expr{t.I: i, t.J: j}))
		}
		w, ds := p.weigh(product.Ref(), asked.Ref(), mask)
		return append(append(first, second...), &loop.Store{Param: c.w, Index: j, Value: w}, &loop.Store{Param: c.ds, Index: j, Value: ds})
	}))
	if q := &t.Grads[0]; q.Wanted() {
		sum := &loop.Local{Name: "sum", DType: c.ct}
		products := over("s", func(j *loop.Expr) []loop.Stmt {
			k := c.widen(c.at(t.K, loop.AddIndex(k0, j)))
			return []loop.Stmt{&loop.Set{Local: sum, Value: c.op(ir.FMA, at(c.ds, j), k, sum.Ref())}}
		})
		result := []loop.Stmt{&loop.Set{Local: sum, Value: c.number(0)}, products, &loop.Set{Local: q.Acc, Value: c.narrow(t.alone(sum.Ref()), q.Acc.DType)}}
		body = append(body, lanes(t.Width, append(result, q.Store...)...))
	}
	return append(body, over("a", func(j *loop.Expr) []loop.Stmt {
		add := func(param, width, factor int, x *loop.Expr) loop.Stmt {
			index := loop.AddIndex(loop.MulIndex(j, loop.Int(width)), t.Lane.Ref())
			return lanes(width, &loop.Store{Param: param, Index: index, Value: c.op(ir.FMA, at(factor, j), t.alone(c.widen(x)), at(param, index))})
		}
		return []loop.Stmt{add(c.dk, t.Width, c.ds, t.Q), add(c.dv, t.VWidth, c.w, t.DOut)}
	}))
}

// stores hands the sums for keys over.
func (c *gradientLoops) stores() loop.Stmt {
	t := c.t
	k0 := c.first(t.KOffsets, t.KLen)
	keyed := map[*loop.Var]*loop.Expr{t.Row: c.keyRow.Ref(), t.Head: c.kvHead.Ref()}
	var body []loop.Stmt
	for i, s := range []struct{ param, width int }{{c.dk, t.Width}, {c.dv, t.VWidth}} {
		g := &t.Grads[1+i]
		if !g.Wanted() {
			continue
		}
		index := loop.AddIndex(loop.MulIndex(loop.SubIndex(c.keyRow.Ref(), k0), loop.Int(s.width)), t.Lane.Ref())
		sum := &loop.Set{Local: g.Acc, Value: c.narrow(loop.Load(s.param, c.ct, index, nil), g.Acc.DType)}
		body = append(body, &loop.Loop{Var: t.Lane, Hi: loop.Int(s.width), Range: loop.Vector, Body: append([]loop.Stmt{sum}, replaced(g.Store, keyed)...)})
	}
	return &loop.Loop{Var: c.keyRow, Lo: k0, Hi: c.last(t.KOffsets, t.KLen), Range: loop.Serial, Body: body}
}

// replaced is a body with expressions in the place of variables.
func replaced(body []loop.Stmt, by map[*loop.Var]*loop.Expr) []loop.Stmt {
	return loop.Rewrite(body, func(e *loop.Expr) *loop.Expr {
		if to := by[e.Var]; e.Kind == loop.KindVar && to != nil {
			return to
		}
		return e
	})
}
