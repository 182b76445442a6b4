package temporal

import (
	"math"

	"github.com/sinterml/sinter"
)

// weights are a net's by name: Variables that are trained, or what a file has.
type weights func(name string) sinter.Tensor

func (w weights) linear(x sinter.Tensor, name string) sinter.Tensor {
	return sinter.Linear(x, w(name+".weight"), w(name+".bias"))
}

func (w weights) norm(x sinter.Tensor, name string) sinter.Tensor {
	return sinter.LayerNorm(x, w(name+".weight"), w(name+".bias"), 1e-5)
}

// forward maps scaled features [n, Features] to outputs.
func forward(s Sizes, w weights, x sinter.Tensor) sinter.Tensor {
	if s.Net == MLPName {
		return w.out(s, w.linear(x, "hidden").ReLU())
	}
	parts := x.Split(1, Window, Features-Window)
	if len(parts) < 2 { // an error
		return parts[0]
	}
	count := Window / s.Patch
	patches := w.linear(parts[0].Reshape(-1, s.Patch), "patches").Reshape(-1, count, s.Width).Add(w("position.weight"))
	token := w.linear(parts[1], "context")
	token = token.Add(w.attend(s, token, patches))
	inner := w.linear(w.norm(token, "block.norm2"), "block.linear1").GELU()
	token = token.Add(w.linear(inner, "block.linear2"))
	return w.out(s, w.norm(token, "norm"))
}

// out is the last layer. With a single output it is a sum along each row: a
// product of matrices would compute columns that are not there.
func (w weights) out(s Sizes, x sinter.Tensor) sinter.Tensor {
	if s.Outputs > 1 {
		return w.linear(x, "out")
	}
	return x.Mul(w("out.weight")).SumKeep(1).Add(w("out.bias"))
}

// attend is attention of one token [n, Width] to patches [n, count, Width]. With
// a single query a row, its two products are sums of products of elements:
// kernels that go over all rows at once, where a product of matrices would be
// one of its own for each row and head.
func (w weights) attend(s Sizes, token, patches sinter.Tensor) sinter.Tensor {
	count, head := Window/s.Patch, s.Width/s.Heads
	weight, bias := w("block.self_attn.in_proj_weight"), w("block.self_attn.in_proj_bias")
	project := func(x sinter.Tensor, from, parts int) sinter.Tensor {
		at, rows := sinter.N(from*s.Width), sinter.N(parts*s.Width)
		return sinter.Linear(w.norm(x, "block.norm1"), weight.Narrow(0, at, rows), bias.Narrow(0, at, rows))
	}
	query := project(token, 0, 1).Reshape(-1, 1, s.Heads, head)
	both := project(patches.Reshape(-1, s.Width), 1, 2).Reshape(-1, count, 2*s.Heads, head).Split(2, s.Heads, s.Heads)
	if len(both) < 2 { // an error
		return both[0]
	}
	scores := query.Mul(both[0]).Sum(3).Mul(sinter.Scalar(1 / math.Sqrt(float64(head))))
	seen := scores.Softmax(1).Unsqueeze(3).Mul(both[1]).Sum(1)
	return w.linear(seen.Reshape(-1, s.Width), "block.self_attn.out_proj")
}
