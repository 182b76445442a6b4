package flat

import "github.com/sinterml/sinter/internal/ir"

// PairRounder is a Builder for a machine that may round two numbers at once.
type PairRounder interface {
	Builder
	// RoundPair rounds two F32 to f16 or bf16, the second into the lower half of an
	// I32; ok is false where the machine does not. NaN stays NaN.
	RoundPair(d ir.DType, high, low Value) (_ Value, ok bool)
}

// rounded is what a number of 16 bits was before it was rounded.
type rounded struct {
	x Value
	d ir.DType
}

// round rounds one number, into the lower half.
func (w *writer) round(x Value, d ir.DType) (_ Value, ok bool) {
	b, ok := w.Builder.(PairRounder)
	if !ok {
		return Value{}, false
	}
	y, ok := b.RoundPair(d, w.Const(F32, 0), x)
	if ok {
		w.rounded[y.ID] = rounded{x, d}
	}
	return y, ok
}

// roundedPair is a word of two numbers of 16 bits that have just been rounded: both
// at once, instead of each.
func (w *writer) roundedPair(high, low Value) (_ Value, ok bool) {
	x, one := w.rounded[high.ID]
	y, other := w.rounded[low.ID]
	if !one || !other || x.d != y.d {
		return Value{}, false
	}
	return w.Builder.(PairRounder).RoundPair(x.d, x.x, y.x)
}

// widenBrain makes an F32 of a bf16, in one operation where it was rounded from an
// F32, whose upper half it is.
func (w *writer) widenBrain(x Value) Value {
	if from, ok := w.rounded[x.ID]; ok && from.d == ir.BF16 {
		y, _ := w.Builder.(PairRounder).RoundPair(ir.BF16, from.x, w.Const(F32, 0))
		return w.Op(Bits, F32, y)
	}
	if from, ok := w.parts[x.ID]; ok && from.at > 0 {
		return w.Op(Bits, F32, w.Op(And, I32, from.word, w.Const(I32, 0xffff0000)))
	} else if ok {
		x = from.word
	}
	return w.Op(Bits, F32, w.Op(Shl, I32, x, w.Const(I32, 16)))
}
