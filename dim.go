package sinter

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
)

// Dim is the size of one dimension: a number, a named symbol that is bound
// when a program runs, or sums and products of these. Dims are immutable; Add,
// Sub, Mul and Plus make new ones.
type Dim = ir.Dim

// N is a size known now.
func N(n int) Dim { return ir.N(n) }

// Sym is a size known when the program runs, between lo and hi, both
// inclusive. Within one program symbols are equal by name.
func Sym(name string, lo, hi int) Dim { return ir.Sym(name, lo, hi) }

// Dims turns numbers into sizes.
func Dims(sizes ...int) []Dim { return ir.Static(sizes...) }

// maxRows bounds the symbol that Rows makes: four million rows a batch.
const maxRows = 1 << 22

// Rows is the number of rows that ragged batches with these offsets have: the
// last offset. For a tensor with values it is that number; for an Input it is
// the symbol that Program.Run binds to the last value it is given.
func Rows(offsets Tensor) Dim {
	e := offsets.load().leaf()
	switch {
	case e == nil:
	case e.op == ir.Input:
		return Sym(rowsSymbol(e.name), 0, maxRows)
	case e.store != nil:
		if rows, err := e.store.lastOffset(); err == nil {
			return N(rows)
		}
	}
	return N(-1)
}

// rowsSymbol names the symbol that is bound to the last of an Input's values.
func rowsSymbol(input string) string { return input + ".rows" }

// checkSymbols refuses symbols that could not be printed and read back, or
// whose bounds hold no size.
func checkSymbols(shape ir.Shape) error {
	for _, d := range shape {
		for _, s := range d.Symbols() {
			if !validName(s.Name) {
				return fmt.Errorf("symbol %q: a name is letters, digits, _ and ., and begins with a letter", s.Name)
			}
			if s.Min > s.Max {
				return fmt.Errorf("symbol %q lies between %d and %d: no size does", s.Name, s.Min, s.Max)
			}
		}
	}
	return nil
}

func validName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789.", r)) {
			return false
		}
	}
	return s != ""
}
