package arm64

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
)

// address is a pointer and a displacement in bytes.
type address struct {
	base reg
	disp int64
}

// address is where copy u of an access begins.
func (e *emitter) address(param int, a native.Access, u int) address {
	return e.pointer(param, a.From(u*wide))
}

// farthest is what all accesses reach without more instructions.
const farthest = 4095

// pointer is the address of element index. Copies, and accesses near each other,
// share the pointer and differ in the displacement.
func (e *emitter) pointer(param int, index *poly) address {
	p := index.Scaled(int64(e.Kernel.Params[param].DType.Size()))
	near := p.C & farthest
	if -256 <= p.C && p.C < 0 {
		near = p.C
	}
	return address{e.Base(param, &poly{C: p.C - near, Monos: p.Monos}), near}
}

// element is the address of a scalar load.
func (e *emitter) element(n *node) address {
	return e.pointer(n.Param, e.Graph.PolyOf(n.Operands[0]))
}

// chooseCopies is how many registers each value of the innermost scope, a Vector
// loop, has.
func (e *emitter) chooseCopies(t native.Trip) int {
	const registers = 28
	counts := func(d ir.DType) bool { return native.Computable(d) || d == ir.F64 }
	return e.ChooseCopies(t, wide, counts, func(copies int, b native.Body) bool {
		return (b.Locals+b.Pairs)*copies+4 <= registers
	})
}
