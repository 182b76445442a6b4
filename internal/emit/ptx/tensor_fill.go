package ptx

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// operand is X or Y of a product on units for matrices.
type tensorOperand struct {
	e          *loop.Expr
	v          *loop.Var  // along rows or columns
	from, to   flat.Value // of them in the block
	turned     bool       // what lies side by side is along v, not k
	plain      bool
	param      int
	base       *loop.Expr // where it begins
	along, byK *loop.Expr // elements from one to the next
	size       flat.Value // rows or columns in all
}

// operandX is X of g, but for what depends on the block.
func (m matrices) operandX(g template.Gemm) *tensorOperand {
	g.X = m.x
	p, ok := g.PlainX()
	return &tensorOperand{e: m.x, v: g.Row, turned: g.TurnedX(), plain: ok, param: p.Param, base: p.Base, along: p.Row, byK: p.Col}
}

func (m matrices) operandY(g template.Gemm) *tensorOperand {
	g.Y = m.y
	p, ok := g.PlainY()
	return &tensorOperand{e: m.y, v: g.Col, turned: !ok || p.Col.IsInt(1), plain: ok, param: p.Param, base: p.Base, along: p.Col, byK: p.Row}
}

func (t *tensor) operandX() *tensorOperand {
	o := t.matrices.operandX(*t.block.Gemm)
	o.from, o.to, o.size = t.block.Row0, t.block.Row1, t.block.Value(loop.SizeOf(t.block.Gemm.Rows))
	return o
}

func (t *tensor) operandY() *tensorOperand {
	o := t.matrices.operandY(*t.block.Gemm)
	o.from, o.to, o.size = t.block.Col0, t.block.Col1, t.block.Value(loop.SizeOf(t.block.Gemm.Cols))
	return o
}

// deep tells whether memory holds the values of k side by side; ok is false where
// it holds nothing side by side that can be copied as it is.
func (o *tensorOperand) deep(size int) (deep, ok bool) {
	switch {
	case !o.plain:
		return false, false
	case o.byK.IsInt(1):
		return true, true
	}
	return false, o.along.IsInt(1) && size > 1 // ldmatrix turns pairs of bytes
}

// straight gives fills by copies of 16 bytes of those operands that can be copied,
// and the predicate that holds where memory allows it: where addresses, and sizes
// along memory, are multiples of that. It is empty where neither ever can, and where
// one cannot that units for matrices read.
func (t *tensor) straight() (x, y fill, whole string) {
	var fills [2]fill
	bits, computed := "", 0
	for i, o := range []*tensorOperand{t.operandX(), t.operandY()} {
		deep, ok := o.deep(t.size)
		if !ok {
			fills[i] = t.elements(o)
			computed++
			continue
		}
		f, multiple := t.copies(o, deep)
		if fills[i] = f; bits != "" {
			multiple = t.op(longs, "or.b64", bits, multiple)
		}
		bits = multiple
	}
	if bits == "" || computed > 0 && !t.fma {
		return x, y, ""
	}
	return fills[0], fills[1], t.op(predicates, "setp.eq.u64", t.op(longs, "and.b64", bits, "15"), "0")
}

// bytes is a number of elements as one of bytes.
func (t *tensor) bytes(n flat.Value) string {
	if t.size == 1 {
		return t.register(n)
	}
	return t.op(longs, "shl.b64", t.register(n), fmt.Sprint(log2(t.size)))
}

func (t *tensor) anyX() fill { return t.elements(t.operandX()) }
func (t *tensor) anyY() fill { return t.elements(t.operandY()) }

// elements fills with operands that are computed one by one: those that do not
// lie in memory as they are, or not where they can be copied from.
func (t *tensor) elements(o *tensorOperand) fill {
	perStage := stageBytes / t.size // values of k
	kind, of := map[int]string{1: "u8", 2: "u16", 4: "f32"}[t.size], flat.I32
	if t.size == 4 {
		of = flat.F32
	}
	low := func(x string, n int) string { return t.op(words, "and.b32", x, fmt.Sprint(n-1)) }
	high := func(x string, n int) string { return t.op(words, "shr.u32", x, fmt.Sprint(log2(n))) }
	begin := func(stage, at string) {
		t.inTurns(tensorWide*perStage/tensorItems, t.fillsAtOnce(), func(turn string) func() {
			e := t.op(words, "mad.lo.u32", turn, fmt.Sprint(tensorItems), t.item)
			r, k := high(e, perStage), low(e, perStage)
			if o.turned {
				r, k = low(e, tensorWide), high(e, tensorWide)
			}
			row := t.op(longs, "add.u64", t.op(longs, "cvt.u64.u32", r), t.register(o.from))
			kAt := t.op(words, "add.u32", at, k)
			inside := t.op(predicates, "setp.lt.s64", row, t.name(o.to))
			inside = t.op(predicates, "and.pred", inside, t.op(predicates, "setp.lt.u32", kAt, t.depth))
			v := t.copied(of, t.name(t.Const(of, 0)))
			t.If(t.value(flat.Bool, inside), func() {
				x := t.block.Element(o.e, o.v, t.value(flat.I64, row), t.value(flat.I64, t.op(longs, "cvt.u64.u32", kAt)))
				t.assign(of, v, t.name(x))
			})
			outer, inner, rowLen := r, k, deepRow
			if t.fma {
				outer, inner, rowLen = k, r, t.wideRow()
			}
			place := t.op(words, "mad.lo.u32", outer, fmt.Sprint(rowLen), t.op(words, "shl.b32", inner, fmt.Sprint(log2(t.size))))
			place = t.op(words, "add.u32", stage, place)
			return func() { t.line("st.shared.%s [%s], %s", kind, place, v) }
		})
	}
	return fill{deep: true, begin: begin}
}
