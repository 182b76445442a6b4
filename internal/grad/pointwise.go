package grad

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// none is the gradient of steps: 0 wherever there is one.
func none(*maker, *ir.Node, *ir.Node, *ir.Node) *ir.Node { return nil }

// abs has gradient 0 at 0.
func abs(m *maker, x, r, d *ir.Node) *ir.Node {
	zero := m.zeros(x)
	return m.where(m.op(ir.Less, x, zero), m.neg(d), m.where(m.op(ir.Equal, x, zero), zero, d))
}

func erf(m *maker, x, r, d *ir.Node) *ir.Node {
	slope := m.times(m.op(ir.Exp, m.neg(m.mul(x, x))), 2/math.Sqrt(math.Pi))
	return m.mul(d, slope)
}

// pow keeps 0 * Inf out where the base or the exponent is 0: x^0 does not
// depend on x, nor 0^y, for y >= 0, on y.
func pow(m *maker, x, y, r, d *ir.Node) (dx, dy *ir.Node) {
	zero, one := m.zeros(x), m.number(x, 1)
	// Branches not taken must not be infinite: their own gradients would be NaN.
	still := m.op(ir.Equal, y, zero)
	slope := m.mul(y, m.op(ir.Pow, m.where(still, one, x), m.op(ir.Sub, y, one)))
	dx = m.where(still, zero, m.mul(d, slope))
	flat := m.op(ir.And, m.op(ir.Equal, x, zero), m.op(ir.Xor, m.op(ir.Less, y, zero), m.fill(ir.Bool, 1, x.Shape)))
	base := m.where(flat, one, x)
	dy = m.where(flat, zero, m.mul(d, m.mul(r, m.op(ir.Log, base))))
	return dx, dy
}

// larger is the gradient of x in max(x, y): half of it where they are equal,
// all of it where one is NaN.
func (m *maker) larger(x, y, d *ir.Node) *ir.Node { return m.wins(m.op(ir.Less, x, y), x, y, d) }

func (m *maker) smaller(x, y, d *ir.Node) *ir.Node { return m.wins(m.op(ir.Less, y, x), x, y, d) }

func (m *maker) wins(loses, x, y, d *ir.Node) *ir.Node {
	return m.where(loses, m.zeros(d), m.where(m.op(ir.Equal, x, y), m.times(d, 0.5), d))
}

func fma(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	return []*ir.Node{m.mul(d[0], n.In[1]), m.mul(d[0], n.In[0]), d[0]}
}

func where(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	zero := m.zeros(d[0])
	return []*ir.Node{nil, m.where(n.In[0], d[0], zero), m.where(n.In[0], zero, d[0])}
}
