package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
)

// chooseCopies is how many registers each value of the innermost scope, a Vector
// loop, has.
func (e *emitter) chooseCopies(t native.Trip) int {
	registers, masks := 28, 3
	if e.isa == AVX2 {
		registers, masks = 12, 12
	}
	counts := func(d ir.DType) bool { return d != ir.I64 }
	copies := e.ChooseCopies(t, e.wide(), counts, func(copies int, b native.Body) bool {
		return (b.Locals+b.Pairs)*copies+4 <= registers && b.Masks*copies <= masks
	})
	if e.vectors > 0 { // what is more than a row of a tile has would be left to masks
		return min(copies, e.vectors)
	}
	return copies
}
