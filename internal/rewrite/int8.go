package rewrite

import (
	"math"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// maxInt8K is the longest sum of u8 times i8 that an i32 holds.
const maxInt8K = math.MaxInt32 / (255 * 128)

// minScale is the least step of a quantised row or column. It is a normal
// number, so that steps lose no digits and have an inverse; a row of zeros
// needs no case of its own.
const minScale = 0x1p-126

// computeInt8 makes products of integers out of products of data with weights:
// weights as i8 with a scale for each column, data as u8 with a scale and a
// zero point for each row, found when the row is there. With x = s*(q - zero)
// and w = t*v,
//
//	sum of x*w = (sum of q*v - zero * sum of v) * t * s
//
// where all but the two scales is exact in i32. A NaN or an infinity in a row,
// or in a column of weights, makes its results NaN.
func computeInt8(s *setting, g *ir.Graph) (*ir.Graph, error) {
	g, err := multiplyConvs(s, g, "int8", maxInt8K)
	if err != nil {
		return nil, err
	}
	g, err = shortenGELUs(s, g, chooseProducts(g, suitsInt8))
	if err != nil {
		return nil, err
	}
	g, err = replaceChosen(s, g, "int8", chooseProducts(g, suitsInt8), func(r *rewriter, n *ir.Node) *ir.Node {
		x, w := r.quantiseRows(n.In[0]), r.quantiseColumns(n.In[1])
		sums := r.op(ir.MatMul, r.cast(ir.I32, x.q), r.cast(ir.I32, w.q))
		shift := r.op(ir.Mul, r.expand(x.zero, n.Shape), r.expand(w.sum, n.Shape))
		exact := r.cast(ir.F32, r.op(ir.Sub, sums, shift))
		// The order matters: what a row of data overflows by, small weights
		// may bring back.
		return r.op(ir.Mul, r.op(ir.Mul, exact, r.expand(w.scale, n.Shape)), r.expand(x.scale, n.Shape))
	})
	if err != nil {
		return nil, err
	}
	return roundAttentions(s, g, "int8")
}

func suitsInt8(n *ir.Node) bool {
	k, _ := lastDim(n.In[0]).Const()
	return k <= maxInt8K
}

// int8Rows is data [..., M, K] as scale * (q - zero).
type int8Rows struct {
	q           *ir.Node // u8
	scale, zero *ir.Node // f32 and i32 [..., M, 1]
}

// quantiseRows spreads 0 to 255 over each row's range, which is widened to have
// 0 in it: 0 is represented exactly, so that padding and ReLU lose nothing. The
// steps are at most half a step wrong, at the ends a little more:
//
//	|x - scale*(q - zero)| <= scale * (1/2 + 2^-13)
func (r *rewriter) quantiseRows(x *ir.Node) int8Rows {
	v := viewRows(x)
	x = v.base
	row := ir.Type{DType: ir.F32, Shape: narrowed(x.Shape, v.axes...)}
	over := ir.Attr{Axes: v.axes}
	zero := r.number(row, 0)
	low := r.op(ir.Min, r.make(ir.ReduceMin, over, x), zero)
	high := r.op(ir.Max, r.make(ir.ReduceMax, over, x), zero)
	half := r.number(row, 0.5) // the range itself may overflow
	width := r.op(ir.Sub, r.op(ir.Mul, high, half), r.op(ir.Mul, low, half))
	scale := r.op(ir.Max, r.op(ir.Mul, width, r.number(row, 2.0/255)), r.number(row, minScale))
	inverse := r.op(ir.Recip, scale)
	point := r.op(ir.Round, r.op(ir.Neg, r.op(ir.Mul, low, inverse)))
	// Rounded once, in the pass itself: which integer comes out is not to hang
	// on whether the pass fma is on. The cast saturates; it makes NaN 0, but
	// then the scale is NaN too.
	steps := r.op(ir.FMA, x, r.expand(inverse, x.Shape), r.expand(point, x.Shape))
	q := r.cast(ir.U8, r.op(ir.Round, steps))
	return int8Rows{q: r.moved(v, q), scale: r.moved(v, scale), zero: r.moved(v, r.cast(ir.I32, point))}
}

// int8Columns is weights [..., K, N] as scale * q.
type int8Columns struct {
	q          *ir.Node // i8
	scale, sum *ir.Node // f32, and i32 the sum of q over K, [..., 1, N]
}

// quantiseColumns takes weights that are stored as bytes as they are; of others
// it makes the largest of a column 127.
func (r *rewriter) quantiseColumns(y *ir.Node) int8Columns {
	axes := []int{len(y.Shape) - 2}
	q, scale := r.quantiseAlong(y, axes)
	sum := r.make(ir.ReduceSum, ir.Attr{Axes: axes}, r.cast(ir.I32, q))
	return int8Columns{q, scale, sum}
}

// quantiseAlong makes y as i8 times a factor that stays the same along axes, as
// K is several in the weights of a convolution. It looks through what weights are
// put together by, so that those stored as bytes are found wherever they are, and
// each matrix is quantised as it would be alone.
func (r *rewriter) quantiseAlong(y *ir.Node, axes []int) (q, scale *ir.Node) {
	switch shape := narrowed(y.Shape, axes...); {
	case y.Op == ir.Permute:
		var from []int
		for _, a := range axes {
			from = append(from, y.Attr.Axes[a])
		}
		q, scale = r.quantiseAlong(y.In[0], from)
		return r.make(ir.Permute, y.Attr, q), r.make(ir.Permute, y.Attr, scale)
	case y.Op == ir.Reshape && regroupAxes(y.In[0].Shape, y.Shape, axes) != nil:
		q, scale = r.quantiseAlong(y.In[0], regroupAxes(y.In[0].Shape, y.Shape, axes))
		return r.reshape(q, y.Shape), r.reshape(scale, shape)
	case y.Op == ir.Expand && !slices.ContainsFunc(axes, func(a int) bool { return !y.In[0].Shape[a].Equal(y.Shape[a]) }):
		q, scale = r.quantiseAlong(y.In[0], axes)
		return r.expand(q, y.Shape), r.expand(scale, shape)
	case y.Op == ir.Concat && !slices.Contains(axes, y.Attr.Axis()):
		var qs, scales []*ir.Node
		for _, x := range y.In {
			q, scale = r.quantiseAlong(x, axes)
			qs, scales = append(qs, q), append(scales, scale)
		}
		return r.make(ir.Concat, y.Attr, qs...), r.make(ir.Concat, y.Attr, scales...)
	case isBytes(y):
		return y.In[0], r.number(ir.Type{DType: ir.F32, Shape: shape}, 1)
	case y.Op == ir.Mul:
		for i, x := range y.In {
			if scale = r.along(y.In[1-i], axes); isBytes(x) && scale != nil {
				return x.In[0], scale
			}
		}
	}
	column := ir.Type{DType: ir.F32, Shape: narrowed(y.Shape, axes...)}
	top := r.make(ir.ReduceMax, ir.Attr{Axes: slices.Sorted(slices.Values(axes))}, r.op(ir.Abs, y))
	scale = r.op(ir.Max, r.op(ir.Mul, top, r.number(column, 1.0/127)), r.number(column, minScale))
	return r.cast(ir.I8, r.op(ir.Round, r.op(ir.Div, y, r.expand(scale, y.Shape)))), scale
}

func isBytes(x *ir.Node) bool { return x.Op == ir.Cast && x.In[0].DType == ir.I8 }

// along gives one element along axes of what is the same there; nil if x is not
// known to be.
func (r *rewriter) along(x *ir.Node, axes []int) *ir.Node {
	row := narrowed(x.Shape, axes...)
	if bits, ok := splatOf(x); ok {
		return r.splat(x.DType, row, bits)
	}
	if x.Op == ir.Expand && x.In[0].Shape.Equal(narrowed(x.In[0].Shape, axes...)) {
		return r.expand(x.In[0], row)
	}
	return nil
}
