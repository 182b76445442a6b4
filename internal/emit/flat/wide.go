package flat

import (
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// WordLoader is a Builder for a machine that loads several words at once.
type WordLoader interface {
	Builder
	// LoadWords reads n words of 32 bits, 1, 2 or 4, from element index of a
	// buffer on: I32. They begin at a multiple of their bytes.
	LoadWords(m Memory, index Value, n int) []Value
}

// wide is a load that is done together with others; ok is false where each is
// done by itself.
func (w *writer) wide(e *loop.Expr) (_ Value, ok bool) {
	l, together := w.k.Wide[e]
	b, can := w.Builder.(WordLoader)
	if !together || !can {
		return Value{}, false
	}
	words, ok := w.words[l.Group]
	if !ok {
		words = b.LoadWords(w.params[e.Param], w.value(l.First), l.Words)
		w.words[l.Group] = words
	}
	return w.within(words, l, e.DType), true
}

// within takes an element out of words.
func (w *writer) within(words []Value, l entry.Wide, d ir.DType) Value {
	bits := 8 * d.Size()
	word, shift := words[l.At*bits/32], l.At*bits%32
	switch {
	case d == ir.F32:
		return w.Op(Bits, F32, word)
	case bits == 32:
		return word
	case d.IsInt() && !d.IsUnsigned():
		if left := 32 - bits - shift; left > 0 {
			word = w.Op(Shl, I32, word, w.Const(I32, uint64(left)))
		}
		return w.Op(ShrS, I32, word, w.Const(I32, uint64(32-bits)))
	}
	if shift > 0 {
		word = w.Op(ShrU, I32, word, w.Const(I32, uint64(shift)))
	}
	if bits+shift == 32 {
		return word
	}
	return w.Op(And, I32, word, w.Const(I32, 1<<bits-1))
}
