package sinter

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// AttentionOptions describe an attention. The zero Tensor is none.
type AttentionOptions struct {
	// With offsets (I32 [B+1], a leaf) sequences lie one after another:
	// sequence i is rows offsets[i] up to offsets[i+1].
	QOffsets, KOffsets Tensor // KOffsets: as QOffsets
	// Mask is added to the scores: broadcast to [B, heads, queries, keys], by
	// position in the sequence.
	Mask   Tensor
	Causal bool    // query i sees keys j <= i + keys - queries
	Scale  float64 // factor on the scores; 0: 1/sqrt(width)
	// Window hides keys that are this far or farther from the query's own place, j =
	// i + keys - queries: of w, a query sees w keys if Causal, else up to 2w-1; 0: none.
	Window  int
	SoftCap float64 // c: scores become c*tanh(score/c); 0: off
}

// Attention is softmax(scale*q*k' + mask)*v for each head, and the logarithm
// of the sum that the softmax divides by, in F32 (F64 of F64). Without offsets q is [B,
// heads, T, width] and k and v [B, kvHeads, S, width]; with offsets q is [N,
// heads, width] and k and v [M, kvHeads, width]. Query head h uses key head
// h/(heads/kvHeads). A query without keys gives 0 and -Inf.
func Attention(q, k, v Tensor, o AttentionOptions) (out, logsumexp Tensor) {
	in := []Tensor{q, k, v}
	if bad, ok := firstErr(in...); ok {
		return bad, bad
	}
	a, in, err := o.attr(in)
	if err != nil {
		bad := pass(err, in...)
		return bad, bad
	}
	y := apply(ir.Attention, ir.Attr{Attention: a}, in...)
	return get(y, 0), get(y, 1)
}

// attr checks the options and adds what they hold to the operands.
func (o AttentionOptions) attr(in []Tensor) (*ir.AttentionAttr, []Tensor, error) {
	a := &ir.AttentionAttr{Scale: o.Scale, Causal: o.Causal, Window: o.Window, SoftCap: o.SoftCap}
	q, k := in[0].v.Shape, in[1].v.Shape
	if a.Scale == 0 {
		width, ok := in[0].Dim(-1).Const()
		if !ok || width < 1 {
			return nil, in, fmt.Errorf("no scale for width %v: set Scale", in[0].Dim(-1))
		}
		a.Scale = 1 / math.Sqrt(float64(width))
	}
	if math.IsNaN(a.Scale) || math.IsInf(a.Scale, 0) || !(a.SoftCap >= 0) || math.IsInf(a.SoftCap, 0) {
		return nil, in, fmt.Errorf("scale %v and soft cap %v must be finite and the cap not negative", a.Scale, a.SoftCap)
	}
	if a.Window < 0 {
		return nil, in, fmt.Errorf("window %d is negative", a.Window)
	}
	if o.QOffsets.v != nil || o.KOffsets.v != nil {
		a.Ragged = true
		switch {
		case o.QOffsets.v == nil:
			return nil, in, errors.New("KOffsets are given, and no QOffsets")
		case o.KOffsets.v == nil:
			o.KOffsets = o.QOffsets
		}
		in = append(in, o.QOffsets, o.KOffsets)
		for _, offsets := range in[len(in)-2:] {
			if err := offsetsLeaf(offsets); err != nil {
				return nil, in, err
			}
		}
	}
	if o.Mask.v == nil {
		return a, in, nil
	}
	a.Mask = true
	if o.Mask.v.err != nil {
		return nil, append(in, o.Mask), o.Mask.v.err
	}
	mask := adapt(in[0], o.Mask)[1]
	if mask.v.err == nil && len(mask.v.Shape) < 4 {
		mask = mask.reshape(append(slices.Repeat(ir.Shape{N(1)}, 4-len(mask.v.Shape)), mask.v.Shape...))
	}
	in = append(in, mask)
	return a, in, checkMask(a, q, k, mask.load().Shape)
}

// checkMask makes sure that the mask broadcasts: to what without offsets is
// known in full, and with them in its heads.
func checkMask(a *ir.AttentionAttr, q, k, mask ir.Shape) error {
	if len(mask) != 4 || len(q) < 3 || len(k) < 3 {
		return nil // said better by ir.Infer
	}
	want := ir.Shape{N(1), q[1], mask[2], mask[3]}
	if a.Ragged {
		want[0] = mask[0]
	} else if len(q) == 4 && len(k) == 4 {
		want = ir.Shape{q[0], q[1], q[2], k[2]}
	}
	wide, err := ir.Broadcast(want, mask)
	if err != nil || !wide.Equal(want) {
		return fmt.Errorf("mask %v does not broadcast to [B heads queries keys] %v", mask, want)
	}
	return nil
}
