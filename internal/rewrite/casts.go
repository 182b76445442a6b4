package rewrite

import "github.com/sinterml/sinter/internal/ir"

var castRules = []rule{
	{"cast-same", []ir.Op{ir.Cast, ir.Bitcast}, "the type does not change", castSame},
	{"cast-cast", []ir.Op{ir.Cast}, "the type in between holds every value, and the way on is the same", castCast},
	{"bitcast-bitcast", []ir.Op{ir.Bitcast}, "bits stay", bitcastBitcast},
}

func castSame(r *rewriter, n *ir.Node) *ir.Node {
	if n.DType == n.In[0].DType {
		return n.In[0]
	}
	return nil
}

func castCast(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Cast {
		return nil
	}
	from, to := y.In[0].DType, n.DType
	if !holds(y.DType, from) {
		return nil
	}
	// An integer wraps on its way to an integer, but by way of a float it
	// saturates: the same only where it fits.
	if from.IsInt() && y.DType.IsFloat() && to.IsInt() && !holds(to, from) {
		return nil
	}
	return r.make(ir.Cast, ir.Attr{DType: to}, y.In[0])
}

// holds tells whether type d has every value of type e, NaN and both zeros of
// floats included.
func holds(d, e ir.DType) bool {
	switch {
	case d == e, e == ir.Bool:
		return true
	case d == ir.Bool:
		return false
	case e.IsFloat():
		return d.IsFloat() && digits(d) >= digits(e) && exponent(d) >= exponent(e)
	case d.IsFloat():
		return digits(d) >= digits(e) && exponent(d) >= digits(e)
	case e.IsUnsigned():
		return digits(d) >= digits(e)
	}
	return !d.IsUnsigned() && digits(d) >= digits(e)
}

// digits counts the binary digits that values of type d have: of a float's
// mantissa, of an integer's magnitude.
func digits(d ir.DType) int {
	switch d {
	case ir.F64:
		return 53
	case ir.F32:
		return 24
	case ir.F16:
		return 11
	case ir.BF16:
		return 8
	}
	if d.IsUnsigned() {
		return 8 * d.Size()
	}
	return 8*d.Size() - 1
}

// exponent is the largest power of two that a float type has.
func exponent(d ir.DType) int {
	switch d {
	case ir.F64:
		return 1023
	case ir.F16:
		return 15
	}
	return 127
}

func bitcastBitcast(r *rewriter, n *ir.Node) *ir.Node {
	if y := n.In[0]; y.Op == ir.Bitcast {
		return r.make(ir.Bitcast, ir.Attr{DType: n.DType}, y.In[0])
	}
	return nil
}
