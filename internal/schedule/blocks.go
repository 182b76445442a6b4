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
// several nested loops has the inner ones for a block.
func (r *rowBuilder) inBlocks(row []loop.Stmt) []loop.Stmt {
	l := row[0].(*loop.Loop)
	size := serialBlock
	if l.Range == loop.Vector {
		size = vectorBlock
	}
	_, nested := l.Body[0].(*loop.Loop)
	if nested {
		size = 1
	}
	n, static := l.Hi.AsInt()
	parts := r.partialSums(l.Body)
	if len(parts) == 0 || static && n <= size {
		return row
	}
	var body []loop.Stmt
	for _, p := range parts {
		body = append(body, &loop.Set{Local: p.part, Value: identity(ir.ReduceSum, p.part.DType)})
	}
	inner := redirect(l.Body, parts)
	outer := &loop.Loop{Var: l.Var, Hi: l.Hi, Range: loop.Serial}
	if nested {
		body = append(body, inner...)
	} else {
		outer.Var = r.variable("block", ir.Dim{})
		lo := loop.MulIndex(outer.Var.Ref(), loop.Int(size))
		hi := loop.Apply(ir.Min, ir.I64, loop.AddIndex(lo, loop.Int(size)), l.Hi)
		outer.Hi = loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(l.Hi, loop.Int(size-1)), loop.Int(size))
		if static {
			outer.Hi = loop.Int((n + size - 1) / size)
		}
		body = append(body, &loop.Loop{Var: l.Var, Lo: lo, Hi: hi, Range: l.Range, Body: inner})
	}
	for _, p := range parts {
		body = append(body, &loop.Acc{Local: p.whole, Op: ir.Add, Value: p.part.Ref()})
	}
	outer.Body = body
	return []loop.Stmt{outer}
}

// partial is a sum and the local for the sum of one block.
type partial struct{ whole, part *loop.Local }

// partialSums makes a local for each float that body sums.
func (r *rowBuilder) partialSums(body []loop.Stmt) []partial {
	var parts []partial
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			parts = append(parts, r.partialSums(s.Body)...)
		case *loop.Acc:
			if s.Op == ir.Add && s.Local.DType.IsFloat() {
				parts = append(parts, partial{s.Local, r.newLocal("part", s.Local.DType)})
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
