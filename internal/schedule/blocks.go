package schedule

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// How many terms are added in one chain. Longer sums run in blocks whose sums
// are added, so that the error grows with the number of blocks and the length
// of one, not with their product. A Vector loop has a chain for each lane.
const (
	serialBlock = 512
	vectorBlock = 16 * serialBlock
)

// inBlocks cuts a loop over a row into blocks where it sums floats. One of
// several nested loops has the inner ones for a block. A loop is known to run
// at most so many times; 0 is not known.
func (b *builder) inBlocks(row []loop.Stmt, most int) []loop.Stmt {
	size := serialBlock
	if row[0].(*loop.Loop).Range == loop.Vector {
		size = vectorBlock
	}
	return b.inBlocksOf(size, row, most)
}

// inBlocksOf is inBlocks with blocks of so many terms.
func (b *builder) inBlocksOf(size int, row []loop.Stmt, most int) []loop.Stmt {
	l := row[0].(*loop.Loop)
	_, nested := l.Body[0].(*loop.Loop)
	if nested {
		size = 1
	}
	parts := b.partialSums(l.Body)
	if len(parts) == 0 || most > 0 && most <= size {
		return row
	}
	var body []loop.Stmt
	for _, p := range parts {
		body = append(body, &loop.Set{Local: p.part, Value: identity(ir.ReduceSum, p.part.DType)})
	}
	inner := redirect(l.Body, parts)
	outer := &loop.Loop{Var: l.Var, Lo: l.Lo, Hi: l.Hi, Range: loop.Serial}
	if nested {
		body = append(body, inner...)
	} else {
		var span loop.Loop
		outer, span = b.blocksOf(l, size)
		span.Body = inner
		body = append(body, &span)
	}
	for _, p := range parts {
		body = append(body, &loop.Acc{Local: p.whole, Op: ir.Add, Value: p.part.Ref()})
	}
	outer.Body = body
	return []loop.Stmt{outer}
}

// blocksOf makes a loop over the blocks of l, of so many iterations, and the
// loop over one block; neither has a body.
func (b *builder) blocksOf(l *loop.Loop, size int) (outer *loop.Loop, span loop.Loop) {
	v := b.variable("block", ir.Dim{})
	lo, n := loop.MulIndex(v.Ref(), loop.Int(size)), l.Hi
	if l.Lo != nil {
		lo, n = loop.AddIndex(l.Lo, lo), loop.SubIndex(l.Hi, l.Lo)
	}
	hi := loop.Apply(ir.Min, ir.I64, loop.AddIndex(lo, loop.Int(size)), l.Hi)
	return &loop.Loop{Var: v, Hi: ceilDiv(n, loop.Int(size)), Range: loop.Serial}, loop.Loop{Var: l.Var, Lo: lo, Hi: hi, Range: l.Range}
}

// ceilDiv is a/b rounded up, for a >= 0 and b > 0.
func ceilDiv(a, b *loop.Expr) *loop.Expr {
	return divIndex(loop.SubIndex(loop.AddIndex(a, b), loop.Int(1)), b)
}

func divIndex(a, b *loop.Expr) *loop.Expr {
	x, ok1 := a.AsInt()
	y, ok2 := b.AsInt()
	if ok1 && ok2 {
		return loop.Int(x / y)
	}
	return loop.Apply(ir.IDiv, ir.I64, a, b)
}

// partial is a sum and the local for the sum of one block.
type partial struct{ whole, part *loop.Local }

// partialSums makes a local for each float that body sums.
func (b *builder) partialSums(body []loop.Stmt) []partial {
	var parts []partial
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			parts = append(parts, b.partialSums(s.Body)...)
		case *loop.Acc:
			if s.Op == ir.Add && s.Local.DType.IsFloat() {
				parts = append(parts, partial{s.Local, b.newLocal("part", s.Local.DType)})
			}
		}
	}
	return parts
}

// redirect returns body with the sums going to the parts.
func redirect(body []loop.Stmt, parts []partial) []loop.Stmt {
	out := make([]loop.Stmt, len(body))
	for i, s := range body {
		out[i] = s
		switch s := s.(type) {
		case *loop.Loop:
			out[i] = &loop.Loop{Var: s.Var, Lo: s.Lo, Hi: s.Hi, Range: s.Range, Body: redirect(s.Body, parts)}
		case *loop.Acc:
			for _, p := range parts {
				if p.whole == s.Local && s.Op == ir.Add {
					out[i] = &loop.Acc{Local: p.part, Op: s.Op, Value: s.Value}
				}
			}
		}
	}
	return out
}
