package x86

import (
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// The call of a kernel. Code is entered with the address of the argument
// block in RDI: 8-byte words in the order of Layout. It is a leaf that never
// moves RSP, never pushes, keeps RBP, and ends with VZEROUPPER and RET; all
// other registers are its own.
const (
	argsReg = asm.RDI

	wordStart  = 0 // first iteration of the Global loop
	wordEnd    = 1 // the one behind the last
	wordStatus = 2 // address of the status words, i64 each
	wordSpill  = 3 // address of Code.SpillBytes bytes, aligned to 64
	wordParams = 4 // addresses of the buffers, then the values of the symbols
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
func LayoutOf(k *loop.Kernel) Layout { return layout(len(k.Params), len(k.Symbols())) }

func layout(params, symbols int) Layout {
	return Layout{
		Start: wordStart, End: wordEnd, Status: wordStatus, Spill: wordSpill,
		Params:  wordParams,
		Symbols: wordParams + params,
		Words:   wordParams + params + symbols,
	}
}

// symbolWords maps the names of the kernel's symbols to their words.
func symbolWords(params int, symbols []ir.Symbol) map[string]int {
	words := make(map[string]int, len(symbols))
	for i, s := range symbols {
		words[s.Name] = wordParams + params + i
	}
	return words
}
