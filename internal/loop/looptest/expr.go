package looptest

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// value makes an expression of type d, at most depth operations deep.
func (g *generator) value(s *scope, d ir.DType, depth int) *loop.Expr {
	e := g.fresh(s, d, depth)
	if len(s.pool) < 40 {
		s.pool = append(s.pool, e)
	}
	return e
}

func (g *generator) fresh(s *scope, d ir.DType, depth int) *loop.Expr {
	for range 4 {
		switch g.rng.IntN(8) {
		case 0:
			return loop.Const(d, anyBits(g.rng, d))
		case 1:
			if e := ofType(g, s.pool, d, func(e *loop.Expr) ir.DType { return e.DType }); e != nil {
				return e
			}
		case 2:
			if l := ofType(g, s.read, d, func(l local) ir.DType { return l.DType }); l.Local != nil {
				return l.Ref()
			}
		case 3:
			if d == ir.I64 && len(s.vars) > 0 {
				return pick(g, s.vars).v.Ref()
			}
			return g.load(s, d, fillAny)
		default:
			if depth > 0 {
				if e := g.apply(s, d, depth-1); e != nil {
					return e
				}
			}
		}
	}
	return g.load(s, d, fillAny)
}

// ofType draws one of those whose type is d, the zero value if there is none.
func ofType[T any](g *generator, from []T, d ir.DType, typeOf func(T) ir.DType) (found T) {
	var fit []T
	for _, x := range from {
		if typeOf(x) == d {
			fit = append(fit, x)
		}
	}
	if len(fit) == 0 {
		return found
	}
	return pick(g, fit)
}

// apply makes an operation with a result of type d, nil if the drawn one has
// none.
func (g *generator) apply(s *scope, d ir.DType, depth int) *loop.Expr {
	op := pick(g, g.ops)
	from := d
	switch op {
	case ir.Cast:
		from = g.dtype()
	case ir.Bitcast:
		if from = g.dtype(); from.Size() != d.Size() || d == ir.Bool {
			return nil
		}
	case ir.Less, ir.Equal:
		if d != ir.Bool {
			return nil
		}
		from = g.dtype()
	}
	if g.c.Op != nil && !g.c.Op(op, from) {
		return nil
	}
	arity := 2
	switch op.Class() {
	case ir.ClassUnary:
		arity = 1
	case ir.ClassTernary:
		arity = 3
	}
	types := make([]ir.Type, arity)
	for i := range types {
		types[i].DType = from
	}
	if op == ir.Where {
		types[0].DType = ir.Bool
	}
	out, err := ir.Infer(op, &ir.Attr{DType: d}, types)
	if err != nil || out[0].DType != d {
		return nil
	}
	args := make([]*loop.Expr, arity)
	for i := range args {
		if op == ir.Bitcast {
			args[i] = g.load(s, from, fillAny) // the NaNs of memory are the same everywhere
		} else {
			args[i] = g.value(s, types[i].DType, depth)
		}
	}
	switch op {
	case ir.IDiv, ir.Mod: // an odd number is not zero
		args[1] = loop.Apply(ir.Or, from, args[1], loop.Const(from, 1))
	case ir.Shl, ir.Shr:
		if g.one(2) {
			args[1] = loop.Apply(ir.And, from, args[1], loop.Const(from, uint64(from.Size()*8-1)))
		}
	}
	return loop.Apply(op, d, args...)
}

// load reads a param, old or new, at an index within it.
func (g *generator) load(s *scope, d ir.DType, f fill) *loop.Expr {
	i := g.input(d, f)
	p := g.params[i]
	if g.one(6) {
		return g.gather(s, i)
	}
	index, hi := g.index(s)
	if g.one(5) && !g.c.Unguarded {
		// As Pad reads: the values before and behind the middle are zero.
		before := g.rng.IntN(hi + 2)
		size := 1 + g.rng.IntN(hi+1)
		p.len = max(p.len, size)
		index = loop.SubIndex(index, loop.Int(before))
		return loop.Load(i, d, index, loop.And(
			loop.Apply(ir.Less, ir.Bool, loop.Int(-1), index),
			loop.Apply(ir.Less, ir.Bool, index, loop.Int(size))))
	}
	p.len = max(p.len, hi+1)
	return loop.Load(i, d, index, nil)
}

// input finds or adds a param to read values from.
func (g *generator) input(d ir.DType, f fill) int {
	for i, p := range g.params {
		if p.dtype == d && p.use == loop.Read && p.fill == f && g.one(2) {
			return i
		}
	}
	return g.param(d, loop.Read, f, 1)
}

// gather reads param i where another says.
func (g *generator) gather(s *scope, i int) *loop.Expr {
	index, hi := g.index(s)
	d := pick(g, []ir.DType{ir.I32, ir.I64})
	from := g.param(d, loop.Read, fillIndices, hi+1)
	sz := pick(g, append(g.sizes, size{ir.N(7), 7}))
	g.params[from].limit = sz.value
	g.params[i].len = max(g.params[i].len, sz.value)
	at := loop.Load(from, d, index, nil)
	if d != ir.I64 {
		at = loop.Apply(ir.Cast, ir.I64, at)
	}
	g.slots++
	return loop.Load(i, g.params[i].dtype, loop.Index(at, sz.dim, g.slots-1), nil)
}

// index makes an index that is never negative, and its largest value.
func (g *generator) index(s *scope) (*loop.Expr, int) {
	offset := g.rng.IntN(4)
	e, hi := loop.Int(offset), offset
	for _, v := range s.vars {
		if v.v != s.vector && g.one(3) {
			continue
		}
		last := max(v.hi-1, v.lo)
		t, most := v.v.Ref(), last
		switch g.rng.IntN(8) {
		case 0: // backwards
			t, most = loop.SubIndex(loop.Int(last), t), last-v.lo
		case 1:
			c := 2 + g.rng.IntN(4)
			t, most = loop.MulIndex(t, loop.Int(c)), last*c
		case 2:
			if sz := pick(g, g.sizes); v.v != s.vector || g.one(3) {
				t, most = loop.MulIndex(t, loop.SizeOf(sz.dim)), last*sz.value
			}
		case 3:
			c := 1 + g.rng.IntN(5)
			t, most = loop.Apply(ir.IDiv, ir.I64, t, loop.Int(c)), last/c
		case 4:
			c := 1 + g.rng.IntN(5)
			t, most = loop.Apply(ir.Mod, ir.I64, t, loop.Int(c)), min(last, c-1)
		case 5: // the same for every lane
			t, most = loop.Int(0), 0
		}
		if hi+most < 5000 {
			e, hi = loop.AddIndex(e, t), hi+most
		}
	}
	return e, hi
}

// store writes to a param of its own, each iteration to another element.
// Sometimes it updates what was there, or reads back what it wrote.
func (g *generator) store(s *scope) []loop.Stmt {
	d := g.dtype()
	order := slices.Clone(s.vars)
	g.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	if !g.one(4) { // the lanes one after another
		slices.SortStableFunc(order, func(a, b variable) int {
			switch {
			case a.v == s.vector:
				return -1
			case b.v == s.vector:
				return 1
			}
			return 0
		})
	}
	step := 1
	if g.one(5) {
		step += g.rng.IntN(3)
	}
	index, last := loop.Int(0), 0
	stride, value := loop.Int(step), step
	for _, v := range order {
		index = loop.AddIndex(index, loop.MulIndex(v.v.Ref(), stride))
		last += max(v.hi-1, v.lo) * value
		stride, value = loop.MulIndex(stride, v.extent), value*v.hi
	}
	use := pick(g, []loop.Use{loop.Write, loop.Write, loop.Update})
	out := g.param(d, use, fillAny, last+1)
	st := &loop.Store{Param: out, Index: index}
	if use == loop.Update {
		before := loop.Load(out, d, index, nil)
		st.Value = loop.Apply(ir.Where, d, g.value(s, ir.Bool, 1), before, g.value(s, d, 2))
	} else {
		st.Value = g.value(s, d, 4)
	}
	if g.one(5) && !g.c.Unguarded {
		st.Valid = g.value(s, ir.Bool, 2)
	}
	stmts := []loop.Stmt{st}
	if use == loop.Write && st.Valid == nil && g.one(3) {
		// What this iteration wrote, it reads back.
		again := g.param(d, loop.Write, fillAny, last+1)
		stmts = append(stmts, &loop.Store{Param: again, Index: index, Value: loop.Load(out, d, index, nil)})
	}
	return stmts
}
