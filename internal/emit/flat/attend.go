package flat

import (
	"math/bits"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Attender is a Builder for a machine that has instructions for matrices, which
// writes tiles of attention itself.
type Attender interface {
	Builder
	// Attend computes rows of a tile that are of one sequence, in code that all
	// work-items of a group run alike, and has Finish take each result.
	Attend(r *QueryRows)
}

// QueryRows are rows of a tile that are of one sequence, as TileLoops counts them,
// but from the first query of the sequence on.
type QueryRows struct {
	*entry.Attended
	From, To      Value // from one to below the other, at most as many as the tile has
	Seq, KVHead   Value
	QLen, KLen    Value // of the sequence
	first, behind Value // ragged: its first query and key among all
	w             *writer
}

// attendedSizes are those that the parts of an attention name.
func attendedSizes(a *entry.Attended) []ir.Dim {
	all := []ir.Dim{a.Batch, a.Queries}
	if !a.Attr.Ragged {
		all = append(all, a.QLen, a.KLen)
	}
	visit := func(e *loop.Expr) {
		if e != nil && e.Kind == loop.KindSize {
			all = append(all, e.Size)
		}
	}
	for _, plain := range []func() (template.PlainRows, bool){a.Bare().PlainQ, a.Bare().PlainK, a.Bare().PlainV} {
		if p, ok := plain(); ok {
			for _, e := range []*loop.Expr{p.Base, p.Seq, p.Head, p.Row} {
				e.Walk(visit)
			}
		}
	}
	return all
}

// attend writes the loop over the tiles of a worker.
func (w *writer) attend(b Attender) {
	a, rows := w.k.Attended, w.k.Tile.Rows
	group, heads := w.int(uint64(a.Heads/a.KVHeads)), w.int(uint64(a.KVHeads))
	length := a.Queries
	if !a.Attr.Ragged {
		length = a.QLen
	}
	all := w.mul(w.size(length), group)
	blocks := w.high(w.add(all, w.int(uint64(rows-1))), rows)
	from, to := w.share()
	w.For(from, to, 1, false, func(task Value) {
		r := &QueryRows{Attended: a, w: w}
		if !a.Attr.Ragged {
			each := w.mul(blocks, heads)
			r.Seq = w.Op(DivU, I64, task, each)
			task = w.Op(Sub, I64, task, w.mul(r.Seq, each))
		}
		r.KVHead = w.Op(DivU, I64, task, blocks)
		block := w.Op(Sub, I64, task, w.mul(r.KVHead, blocks))
		if a.Attr.Causal { // those that see most come first
			block = w.Op(Sub, I64, w.Op(Sub, I64, blocks, w.int(1)), block)
		}
		first := w.mul(block, w.int(uint64(rows)))
		last := w.least(w.add(first, w.int(uint64(rows))), all)
		if a.Attr.Ragged {
			w.sequences(b, r, first, last, group)
			return
		}
		r.From, r.To = first, last
		r.QLen, r.KLen = w.size(a.QLen), w.size(a.KLen)
		b.Attend(r)
	})
}

// sequences goes through those that have rows of a tile.
func (w *writer) sequences(b Attender, r *QueryRows, first, last, group Value) {
	offset := func(param int, at Value) Value {
		return w.Op(ExtendS, I64, w.Load(w.params[param], at, Value{}))
	}
	// Offsets ascend. To look at all of them would take longer than the tile where
	// texts are short and many.
	row := func(seq Value) Value { return w.mul(offset(r.QOffsets, seq), group) }
	found := w.search(r.Batch,
		func(seq Value) Value { return w.not(w.Op(Less, Bool, first, row(seq))) },
		func(seq Value) Value { return w.Op(Less, Bool, row(seq), last) })
	behind := w.least(w.add(found[1], w.int(1)), w.size(r.Batch))
	w.For(found[0], behind, 1, false, func(seq Value) {
		next := w.add(seq, w.int(1))
		q0, q1 := offset(r.QOffsets, seq), offset(r.QOffsets, next)
		k0, k1 := offset(r.KOffsets, seq), offset(r.KOffsets, next)
		before := w.mul(q0, group)
		from := w.pick(w.Op(Less, Bool, first, before), before, first)
		to := w.least(last, w.mul(q1, group))
		w.If(w.Op(Less, Bool, from, to), func() {
			part := *r
			part.Seq, part.first, part.behind = seq, q0, k0
			part.QLen, part.KLen = w.Op(Sub, I64, q1, q0), w.Op(Sub, I64, k1, k0)
			part.From, part.To = w.Op(Sub, I64, from, before), w.Op(Sub, I64, to, before)
			b.Attend(&part)
		})
	})
}

// search counts the numbers from 1 to n, below 1<<31, that fulfil each condition: the
// first so many do.
func (w *writer) search(n ir.Dim, conditions ...func(x Value) Value) (found []Value) {
	_, most := n.Bounds()
	steps, all := min(bits.Len64(uint64(most)), 31), w.size(n)
	var count []Var
	for i := range conditions {
		count = append(count, w.Var(I64))
		w.Set(count[i], w.int(0))
	}
	w.For(w.int(0), w.int(uint64(steps)), 1, false, func(i Value) {
		step := w.Op(ShrU, I64, w.int(1<<steps>>1), i)
		w.If(w.not(w.Op(Less, Bool, all, step)), func() {
			for c, fulfils := range conditions {
				x := w.add(w.Get(count[c]), step)
				within := w.not(w.Op(Less, Bool, all, x))
				more := w.Op(And, Bool, within, fulfils(w.least(x, all)))
				w.Set(count[c], w.pick(more, x, w.Get(count[c])))
			}
		})
	})
	for _, c := range count {
		found = append(found, w.Get(c))
	}
	return found
}

// Query is the query of row f, Head its head.
func (r *QueryRows) Query(f Value) Value {
	if r.Heads == r.KVHeads {
		return f
	}
	return r.w.Op(DivU, I64, f, r.w.int(uint64(r.Heads/r.KVHeads)))
}

// Head is the head of row f.
func (r *QueryRows) Head(f Value) Value {
	if r.Heads == r.KVHeads {
		return r.KVHead
	}
	group := r.w.int(uint64(r.Heads / r.KVHeads))
	return r.w.add(r.w.mul(r.KVHead, group), r.w.Op(RemU, I64, f, group))
}

// Memory is that of a param.
func (r *QueryRows) Memory(param int) Memory { return r.w.params[param] }

// Value computes an expression of sizes.
func (r *QueryRows) Value(e *loop.Expr) Value {
	r.w.values = map[*loop.Expr]Value{}
	return r.w.value(e)
}

// Rows is the position of the sequence's first query or key as PlainRows counts.
func (r *QueryRows) Rows(keys bool) Value {
	switch {
	case !r.Attr.Ragged:
		return r.w.int(0)
	case keys:
		return r.behind
	}
	return r.first
}

// place names a row of the sequence, of keys or of queries.
func (r *QueryRows) place(keys bool, i, head Value) {
	w := r.w
	row := w.add(r.Rows(keys), i)
	if !r.Attr.Ragged {
		length := r.QLen
		if keys {
			length = r.KLen
		}
		row = w.add(w.mul(r.Seq, length), i)
	}
	w.vars[r.Row], w.vars[r.Attention.Seq], w.vars[r.I], w.vars[r.Attention.Head] = row, r.Seq, i, head
}

// Element is an operand, e, at a position of the sequence.
func (r *QueryRows) Element(e *loop.Expr, keys bool, i, head, lane Value) Value {
	r.place(keys, i, head)
	r.w.vars[r.Lane] = lane
	return r.Value(e)
}

// Scored is e, Score or Log, of a number.
func (r *QueryRows) Scored(e *loop.Expr, dot Value) Value {
	r.w.once[r.Dot] = dot
	return r.Value(e)
}

// Masked is the mask for a query and a key, in f32.
func (r *QueryRows) Masked(i, head, key Value) Value {
	r.place(false, i, head)
	r.w.vars[r.J] = key
	return r.w.cast(r.Value(r.Mask), r.Mask.DType, ir.F32)
}

// Finish runs the epilogue for a result in f32, at a row and lane. Not all
// work-items need to run that.
func (r *QueryRows) Finish(f, lane, result Value) {
	r.w.vars[r.Lane] = lane
	r.finish(f, r.Acc, result, r.Epilogue)
}

// FinishSum does so with a logsumexp.
func (r *QueryRows) FinishSum(f, sum Value) { r.finish(f, r.LSE, sum, r.Sums) }

func (r *QueryRows) finish(f Value, to *loop.Local, x Value, body []loop.Stmt) {
	w := r.w
	r.place(false, r.Query(f), r.Head(f))
	w.once[to] = w.cast(x, ir.F32, to.DType)
	w.epilogue(body)
}
