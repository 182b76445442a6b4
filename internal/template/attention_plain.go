package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// PlainRows is an operand that lies in memory as it is: the row at position i
// of a sequence, in a head, begins at
//
//	Param[Base + sequence*Seq + head*Head + i*Row]
//
// and its lanes lie side by side. Where the operand is ragged, Seq is 0 and i
// counts among all rows. The expressions depend on sizes alone.
type PlainRows struct {
	Param                int
	Base, Seq, Head, Row *loop.Expr
}

// PlainQ tells whether q is a PlainRows.
func (t *Attention) PlainQ() (PlainRows, bool) { return t.plainRows(t.Q, t.QLen) }

// PlainK and PlainV tell whether k or v is a PlainRows, its heads being key
// heads.
func (t *Attention) PlainK() (PlainRows, bool) { return t.plainRows(t.K, t.KLen) }

// PlainV: see PlainK.
func (t *Attention) PlainV() (PlainRows, bool) { return t.plainRows(t.V, t.KLen) }

func (t *Attention) plainRows(e *loop.Expr, length ir.Dim) (PlainRows, bool) {
	if e.Kind != loop.KindLoad || len(e.Args) != 1 {
		return PlainRows{}, false
	}
	p := PlainRows{Param: e.Param}
	index, position := e.Args[0], t.Row
	if !t.Attr.Ragged {
		index, position = t.within(index, length), t.I
	}
	rest := index
	for _, v := range []struct {
		of     *loop.Var
		stride **loop.Expr
	}{{t.Lane, nil}, {position, &p.Row}, {t.Head, &p.Head}, {t.Seq, &p.Seq}} {
		base, stride, ok := loop.Affine(rest, v.of)
		if !ok || varies(stride) {
			return p, false
		}
		rest = base
		switch {
		case v.stride != nil:
			*v.stride = stride
		case !stride.IsInt(1):
			return p, false
		}
	}
	p.Base = rest
	return p, !varies(rest)
}

// within rewrites an index of dense rows, row = Seq*length + I, so that no
// division is left where one only takes the row apart.
func (t *Attention) within(index *loop.Expr, length ir.Dim) *loop.Expr {
	st := &loop.Set{Value: index}
	apart := loop.Rewrite([]loop.Stmt{st}, t.apart(length))[0].(*loop.Set).Value
	row := loop.AddIndex(loop.MulIndex(t.Seq.Ref(), loop.SizeOf(length)), t.I.Ref())
	return loop.Substitute(apart, map[*loop.Var]*loop.Expr{t.Row: row})
}

// apart is Seq and I in the place of what takes a dense row apart.
func (t *Attention) apart(length ir.Dim) func(e *loop.Expr) *loop.Expr {
	isLength := func(e *loop.Expr) bool {
		n, ok := e.AsInt()
		return ok && length.IsConst(n) || e.Kind == loop.KindSize && e.Size.Equal(length)
	}
	return func(e *loop.Expr) *loop.Expr {
		if e.Kind != loop.KindApply || len(e.Args) != 2 || e.Args[0].Kind != loop.KindVar || e.Args[0].Var != t.Row || !isLength(e.Args[1]) {
			return e
		}
		switch e.Op {
		case ir.IDiv:
			return t.Seq.Ref()
		case ir.Mod:
			return t.I.Ref()
		}
		return e
	}
}
