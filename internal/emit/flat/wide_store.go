package flat

import "github.com/sinterml/sinter/internal/loop"

// WordStorer is a Builder for a machine that stores several words at once.
type WordStorer interface {
	Builder
	// StoreWords writes words of 32 bits, 1, 2 or 4, to element index of a buffer
	// and those behind. They begin at a multiple of their bytes.
	StoreWords(m Memory, index Value, words []Value)
}

// wideStore does the stores at the head of a list that are done together, and
// tells how many.
func (w *writer) wideStore(body []loop.Stmt) int {
	first, is := body[0].(*loop.Store)
	b, can := w.Builder.(WordStorer)
	if !is || !can || !w.alone || w.k.WideStores[first].Stores == 0 {
		return 0
	}
	n := w.k.WideStores[first].Stores
	d := w.k.Work.Params[first.Param].DType
	all := make([]Value, n)
	for i, s := range body[:n] {
		all[i] = w.stored(w.value(s.(*loop.Store).Value))
	}
	each := 4 / d.Size() // in a word
	words := make([]Value, 0, n/each)
	for i := 0; i < n; i += each {
		words = append(words, w.joined(all[i:i+each], 8*d.Size()))
	}
	b.StoreWords(w.params[first.Param], w.value(first.Index), words)
	return n
}

// joined is a word of elements of so many bits.
func (w *writer) joined(all []Value, bits int) Value {
	if from := w.parts[all[0].ID].word; from.Type != 0 {
		same := true
		for i, x := range all {
			same = same && w.parts[x.ID] == part{from, i * bits, bits}
		}
		if same {
			return from
		}
	}
	switch {
	case bits == 32 && all[0].Type == F32:
		return w.Op(Bits, I32, all[0])
	case bits == 32:
		return all[0]
	case bits == 16:
		if word, ok := w.roundedPair(all[1], all[0]); ok {
			return word
		}
	}
	var word Value
	for i, x := range all {
		if i < len(all)-1 {
			x = w.Op(And, I32, x, w.Const(I32, 1<<bits-1))
		}
		if i > 0 {
			x = w.Op(Or, I32, word, w.Op(Shl, I32, x, w.Const(I32, uint64(i*bits))))
		}
		word = x
	}
	return word
}
