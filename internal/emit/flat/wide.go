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

// forget drops the words of memory that a statement may have written to.
func (w *writer) forget() {
	for e, l := range w.k.Wide {
		if _, have := w.words[l.Group]; have && w.k.Work.Params[e.Param].Use != loop.Read {
			delete(w.words, l.Group)
		}
	}
}

// part is what an element was taken out of: a word, from a bit on, so many bits.
type part struct {
	word     Value
	at, bits int
}

// within takes an element out of words.
func (w *writer) within(words []Value, l entry.Wide, d ir.DType) Value {
	bits := 8 * d.Size()
	word, at := words[l.At*bits/32], l.At*bits%32
	if d == ir.F32 {
		return w.Op(Bits, F32, word)
	}
	x := word
	if d.IsInt() && !d.IsUnsigned() {
		if left := 32 - bits - at; left > 0 {
			x = w.Op(Shl, I32, x, w.Const(I32, uint64(left)))
		}
		if bits < 32 {
			x = w.Op(ShrS, I32, x, w.Const(I32, uint64(32-bits)))
		}
	} else {
		if at > 0 {
			x = w.Op(ShrU, I32, x, w.Const(I32, uint64(at)))
		}
		if bits+at < 32 {
			x = w.Op(And, I32, x, w.Const(I32, 1<<bits-1))
		}
	}
	w.parts[x.ID] = part{word, at, bits}
	return x
}
