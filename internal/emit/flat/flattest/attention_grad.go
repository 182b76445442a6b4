package flattest

import (
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// AttentionGrad makes the gradient of the attention that Attention makes, its
// operands being those of that, then the result's gradient, the logsumexp and
// delta.
func AttentionGrad(rng *rand.Rand, d ir.DType, s Attended, attr ir.AttentionAttr) (*template.AttentionGrad, *loop.Args) {
	a, args := Attention(rng, d, s, attr)
	t := &template.AttentionGrad{Attention: *a}
	result, lse := t.Epilogue[0].(*loop.Store).Index, t.Sums[0].(*loop.Store).Index
	t.Acc, t.LSE, t.Epilogue, t.Sums = nil, nil, nil, nil
	operands := t.Params[:3]
	t.Params, args.Buffers = nil, args.Buffers[:3]
	for i, p := range operands {
		t.Params = append(t.Params, p)
		t.Grads[i].Acc = &loop.Local{Name: [...]string{"dq", "dk", "dv"}[i], DType: ir.F32}
		at := [...]*loop.Expr{t.Q, t.K, t.V}[i]
		if at.Kind == loop.KindApply {
			at = at.Args[0]
		}
		t.Grads[i].Store = []loop.Stmt{&loop.Store{Param: 6 + i, Index: at.Args[0], Value: t.Grads[i].Acc.Ref()}}
	}
	rows := t.Queries.Mul(ir.N(s.Heads))
	t.DOut, t.Logsumexp, t.Delta = loop.Load(3, ir.F32, result, nil), loop.Load(4, ir.F32, lse, nil), loop.Load(5, ir.F32, lse, nil)
	for i, name := range []string{"dout", "lse", "delta", "dq", "dk", "dv"} {
		p := loop.Param{Name: name, DType: ir.F32, Len: rows, Use: loop.Read}
		switch {
		case i == 0:
			p.Len = rows.Mul(ir.N(s.Width))
		case i >= 3:
			p.Len, p.Use = operands[i-3].Len, loop.Write
		}
		t.Params = append(t.Params, p)
		n, _ := p.Len.Eval(args.Sizes) // both are bound
		b := make([]byte, 4*n)
		for at := 0; p.Use == loop.Read && at < len(b); at += 4 {
			v, _ := ir.Bits(ir.F32, rng.NormFloat64()) // floats round
			for i := range 4 {
				b[at+i] = byte(v >> (8 * i))
			}
		}
		args.Buffers = append(args.Buffers, b)
	}
	return t, args
}
