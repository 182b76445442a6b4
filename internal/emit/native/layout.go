package native

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// The words of an argument block, 8 bytes each, whose address code is entered
// with.
const (
	WordStart  = 0 // first iteration of the Global loop
	WordEnd    = 1 // the one behind the last
	WordStatus = 2 // address of the status words, i64 each
	WordSpill  = 3 // address of Code.SpillBytes bytes, aligned to 64
	WordParams = 4 // addresses of the buffers, then the values of the symbols
)

// Padding is how many bytes behind (and at) the address of each buffer must be
// readable, also where the buffer is empty.
const Padding = 64

// Layout says where a kernel's argument block holds what, in words.
type Layout struct {
	Start, End    int
	Status, Spill int
	Params        int // the first of one word for each of Kernel.Params
	Symbols       int // the first of one word for each of Kernel.Symbols()
	Words         int // of the whole block
}

// LayoutOf is the layout of k's argument block.
func LayoutOf(k *loop.Kernel) Layout { return LayoutFor(len(k.Params), len(k.Symbols())) }

// LayoutFor is the layout for so many params and symbols.
func LayoutFor(params, symbols int) Layout {
	return Layout{
		Start: WordStart, End: WordEnd, Status: WordStatus, Spill: WordSpill,
		Params:  WordParams,
		Symbols: WordParams + params,
		Words:   WordParams + params + symbols,
	}
}

// SymbolWords maps the names of a kernel's symbols to their words.
func SymbolWords(params int, symbols []ir.Symbol) map[string]int {
	words := make(map[string]int, len(symbols))
	for i, s := range symbols {
		words[s.Name] = WordParams + params + i
	}
	return words
}
