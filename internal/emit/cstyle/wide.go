package cstyle

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// wide is a load that is done together with others; "" where each is done by
// itself. The first of them in a list of statements loads all.
func (w *writer) wide(e *loop.Expr) string {
	l, ok := w.k.Wide[e]
	if !ok {
		return ""
	}
	words, ok := w.words[l.Group]
	if !ok {
		w.temps++
		words = fmt.Sprint("w", w.temps)
		kind := map[int]string{1: "uint", 2: "uint2", 4: "uint4"}[l.Words]
		w.line("const %s %s = *(%sconst %s *)(%s + %s);", kind, words, w.Global, kind, w.params[e.Param], w.value(l.First))
		w.words[l.Group] = words
	}
	return w.within(words, l, e.DType)
}

// within takes an element out of words.
func (w *writer) within(words string, l entry.Wide, d ir.DType) string {
	bits := 8 * d.Size()
	if l.Words > 1 {
		words += "." + string("xyzw"[l.At*bits/32])
	}
	if bits == 32 {
		// Clang 14 takes the bits of a vector's first element for those of any, but
		// not of a value.
		return fmt.Sprintf("as_%s((uint)%s)", w.Types[d], words)
	}
	if shift := l.At * bits % 32; shift > 0 {
		words = fmt.Sprintf("(%s >> %d)", words, shift)
	}
	return fmt.Sprintf("(%s)%s", w.Types[d], words)
}
