package ptx

import (
	"fmt"
	"math/bits"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// perThread is how many copies of 16 bytes of an operand a thread does in a stage.
const perThread = 2

// copying is how they are done, the i-th in element i.
type copying struct {
	*tensor
	deep    bool              // along k, not along rows or columns
	step    string            // bytes from stage to stage
	address [perThread]string // registers, which go from stage to stage
	near    [perThread]string // where in a stage it belongs
	valid   [perThread]string // predicates: it is of rows and columns that there are
	k       string            // in front of the first copy, in a stage
	apart   int               // values of k from copy to copy
}

// copies fills by copies. multiple has the bits of all that has to be a multiple
// of 16 bytes for that.
func (t *tensor) copies(o *tensorOperand, deep bool) (f fill, multiple string) {
	c := &copying{tensor: t, deep: deep}
	multiple = c.places(o)
	f.deep = deep
	if t.target.SM >= 80 && !c.turns() {
		f.begin = c.begin
	} else {
		f.begin, f.end = c.hold()
	}
	return f, multiple
}

// turns tells whether shared memory has the other order than memory.
func (c *copying) turns() bool { return c.deep && c.fma }

// origin is where an operand begins and how far its rows lie apart, in bytes, by
// k if deep; multiple as in copies.
func (t *tensor) origin(o *tensorOperand, deep bool) (begin, stride, multiple string) {
	base := t.memory[t.block.Memory(o.param).ID].base
	begin = t.op(longs, "add.u64", base, t.bytes(t.block.Value(o.base)))
	apart, length := o.along, t.block.Depth // rows or columns from each other, and how long each is
	if !deep {
		apart, length = o.byK, o.size
	}
	stride = t.bytes(t.block.Value(apart))
	return begin, stride, t.op(longs, "or.b64", t.op(longs, "or.b64", begin, stride), t.bytes(length))
}

// places finds where copies begin and end, and multiple as in copies.
func (c *copying) places(o *tensorOperand) (multiple string) {
	t := c.tensor
	begin, stride, multiple := t.origin(o, c.deep)
	perRow := stageBytes / 16 // copies
	rowLen := deepRow
	c.step = fmt.Sprint(stageBytes)
	if !c.deep {
		perRow, rowLen = t.size*tensorWide/16, t.wideRow()
		c.step = t.op(longs, "mul.lo.u64", stride, fmt.Sprint(stageBytes/t.size))
	}
	row := t.op(words, "shr.u32", t.item, fmt.Sprint(log2(perRow)))
	place := t.op(words, "and.b32", t.item, fmt.Sprint(perRow-1))
	elements := t.op(words, "shl.b32", place, fmt.Sprint(log2(16/t.size))) // in front of the copy
	from := t.register(o.from)
	between := tensorItems / perRow // rows from copy to copy
	for i := range perThread {
		r := t.op(words, "add.u32", row, fmt.Sprint(i*between))
		c.near[i] = t.op(words, "mad.lo.u32", r, fmt.Sprint(rowLen), t.op(words, "shl.b32", place, "4"))
		if c.turns() {
			c.near[i] = t.op(words, "mad.lo.u32", elements, fmt.Sprint(t.wideRow()), t.op(words, "shl.b32", r, "2"))
		}
		outer, inner := t.op(longs, "cvt.u64.u32", r), t.op(longs, "cvt.u64.u32", elements)
		if c.deep {
			outer = t.op(longs, "add.u64", outer, from)
			c.valid[i] = t.op(predicates, "setp.lt.s64", outer, t.name(o.to))
		} else {
			inner = t.op(longs, "add.u64", inner, from)
			c.valid[i] = t.op(predicates, "setp.lt.s64", inner, t.name(o.to))
		}
		far := t.op(longs, "add.u64", begin, t.bytes(t.value(flat.I64, inner)))
		c.address[i] = t.op(longs, "mad.lo.u64", outer, stride, far)
	}
	c.k = elements
	if !c.deep {
		c.k, c.apart = row, between
	}
	return multiple
}

// within is a predicate that a copy is of what there is; at is the stage's first
// k.
func (c *copying) within(i int, at string) string {
	k := c.op(words, "add.u32", at, c.k)
	if !c.deep {
		k = c.op(words, "add.u32", k, fmt.Sprint(i*c.apart))
	}
	return c.op(predicates, "and.pred", c.valid[i], c.op(predicates, "setp.lt.u32", k, c.depth))
}

// begin starts copies that end by themselves.
func (c *copying) begin(stage, at string) {
	for i := range perThread {
		n := c.op(words, "selp.b32", "16", "0", c.within(i, at)) // the others become 0
		c.line("cp.async.cg.shared.global [%s], [%s], 16, %s", c.op(words, "add.u32", stage, c.near[i]), c.address[i], n)
		c.line("add.u64 %s, %s, %s", c.address[i], c.address[i], c.step)
	}
}

// hold copies by way of registers.
func (c *copying) hold() (begin func(stage, at string), end func(stage string)) {
	var held [perThread][4]string
	for i := range held {
		for j := range held[i] {
			held[i][j] = c.reg(words)
		}
	}
	begin = func(_, at string) {
		for i, h := range held {
			p := c.within(i, at)
			for _, r := range h {
				c.line("mov.b32 %s, 0", r)
			}
			c.line("@%s ld.global.nc.v4.b32 {%s, %s, %s, %s}, [%s]", p, h[0], h[1], h[2], h[3], c.address[i])
			c.line("add.u64 %s, %s, %s", c.address[i], c.address[i], c.step)
		}
	}
	end = func(stage string) {
		for i, h := range held {
			at := c.op(words, "add.u32", stage, c.near[i])
			if !c.turns() {
				c.line("st.shared.v4.b32 [%s], {%s, %s, %s, %s}", at, h[0], h[1], h[2], h[3])
				continue
			}
			for j, r := range h {
				c.line("st.shared.b32 [%s+%d], %s", at, j*c.wideRow(), r)
			}
		}
	}
	return begin, end
}

func log2(n int) int { return bits.Len(uint(n)) - 1 }
