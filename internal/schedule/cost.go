package schedule

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Cost is what a kernel cannot do without at given sizes. What depends on
// values is not there: the products of an attention, whose bounds they are.
type Cost struct {
	// Products are the multiplications and additions of matrix products on
	// numbers of Format, Operations all others: a multiply-add is two.
	Products, Operations float64
	Format               string
	Read, Written        float64 // bytes
}

// Cost counts k at the sizes of env.
func (k *Kernel) Cost(env ir.Env) (c Cost, err error) {
	var loops *loop.Kernel
	var of loop.Cost
	switch work := k.Work.(type) {
	case *loop.Kernel:
		loops = loop.Expand(work)
		of, err = loop.CostOf(loops, env)
	case *template.Gemm:
		loops, c.Format = work.Loops(), work.Format().String()
		if of, err = loop.CostOf(loops, env); err == nil {
			c.Products, of.Operations, err = gemmOperations(work, env)
		}
	case *template.Attention:
		loops = work.Loops()
		of = traffic(loops)
	case *template.AttentionGrad:
		loops = work.Loops()
		of = traffic(loops)
	default:
		return c, nil
	}
	if err != nil {
		return Cost{}, err
	}
	c.Operations = of.Operations
	c.Read, c.Written, err = of.Bytes(loops, env)
	return c, err
}

// gemmOperations counts the products and the epilogue. What brings the operands
// into order is done once a value, not once a product.
func gemmOperations(g *template.Gemm, env ir.Env) (products, others float64, err error) {
	var n [4]int
	for i, d := range []ir.Dim{g.BatchSize, g.Rows, g.Cols, g.K} {
		if n[i], err = d.Eval(env); err != nil {
			return 0, 0, err
		}
	}
	bare := *g
	bare.X, bare.Y, bare.K = loop.Const(g.X.DType, 0), loop.Const(g.Y.DType, 0), ir.N(0)
	c, err := loop.CostOf(loop.Expand(bare.Loops()), env)
	return 2 * float64(n[0]) * float64(n[1]) * float64(n[2]) * float64(n[3]), c.Operations, err
}

// traffic is each param, read or written once; what is scratch stays in the
// caches.
func traffic(k *loop.Kernel) loop.Cost {
	c := loop.Cost{Reads: make([]float64, len(k.Params)), Writes: make([]float64, len(k.Params))}
	for i, p := range k.Params {
		switch p.Use {
		case loop.Read:
			c.Reads[i] = math.Inf(1) // as much as it holds
		case loop.Write:
			c.Writes[i] = math.Inf(1)
		}
	}
	return c
}
