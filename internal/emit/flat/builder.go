// Package flat turns entry points into the operations that machines have: it
// walks the loops of a kernel once and calls a Builder for every value, access
// and branch. What docs/ops.md asks for and no machine does, such as narrow
// integers, saturating casts and division that floors, is written out here, once
// for all machines; a Builder knows five types and the operations below.
package flat

import "github.com/sinterml/sinter/internal/ir"

// Type is the type of a value in a register.
type Type uint8

const (
	Bool Type = iota + 1
	I32       // integers have no sign: operations have
	I64
	F32
	F64
)

// Size is the bytes of a value; a Bool has none.
func (t Type) Size() int { return [...]int{I32: 4, I64: 8, F32: 4, F64: 8}[t] }

// IsFloat is true for F32 and F64.
func (t Type) IsFloat() bool { return t == F32 || t == F64 }

func (t Type) String() string { return [...]string{"none", "bool", "i32", "i64", "f32", "f64"}[t] }

// Value is what a Builder has computed. The ID is the Builder's own; the zero
// Value is none.
type Value struct {
	ID   uint32
	Type Type
}

// Var is a variable, which may change.
type Var struct {
	ID   uint32
	Type Type
}

// Memory is an array of elements.
type Memory struct {
	ID    uint32
	DType ir.DType
}

// TypeOf is the type of an element of memory in a register: of bool and narrow
// integers I32, extended by sign or by zeros as their dtype is signed or not; of
// f16 and bf16 I32 too, their bits extended by zeros.
func TypeOf(d ir.DType) Type {
	switch d {
	case ir.F32:
		return F32
	case ir.F64:
		return F64
	case ir.I64, ir.U64:
		return I64
	}
	return I32
}

// Access says how a kernel uses memory that it has as an argument.
type Access uint8

const (
	ReadOnly  Access = iota + 1 // nobody writes to it while the kernel runs
	Own                         // a work-item reads what it has itself written, if any
	Exchanged                   // work-items of a group read what others wrote before a barrier
)

// Builder writes one entry point. Write calls it in program order; a value is
// used only where its definition has been run. No value, variable or memory is
// ever used with another Builder. A Builder that fails keeps its error, and
// returns values of the types asked for.
type Builder interface {
	// Arg is argument i of the entry point, an I64; of a buffer its address.
	Arg(i int) Value
	// Item is the work-item in its group, from 0, an I32; Group is the group
	// among those of the launch, an I64; Items is how many work-items a group
	// has, an I32.
	Item() Value
	Group() Value
	Items() Value

	// Const is a constant with the low bits of bits; of a Bool 0 or 1.
	Const(t Type, bits uint64) Value
	// Op is op of args, of type to. It never has side effects.
	Op(op Op, to Type, args ...Value) Value

	// Var makes a variable, which is set before it is read.
	Var(t Type) Var
	Get(v Var) Value
	Set(v Var, x Value)

	// Buffer is memory at an address, an I64, which is a multiple of the
	// element's size.
	Buffer(address Value, d ir.DType, a Access) Memory
	// Shared is memory of n elements that the work-items of a group have
	// together, Private that of a work-item. They hold nothing defined at first.
	Shared(d ir.DType, n int) Memory
	Private(d ir.DType, n int) Memory
	// Load is element index, an I32 or I64 that is not negative, as TypeOf
	// says. Where valid, if it is not the zero Value, is false nothing is read
	// and the result is zero.
	Load(m Memory, index, valid Value) Value
	// Store writes the low bits of x where valid is the zero Value or true.
	Store(m Memory, index, x, valid Value)

	// If runs then where cond is true.
	If(cond Value, then func())
	// For runs body for i from from, by the constant step, while it is below to,
	// as signed integers of the same type, I32 or I64; i never overflows. unroll
	// says that from and to are constants and that it pays to lay the loop out.
	For(from, to Value, step int, unroll bool, body func(i Value))
	// Barrier waits until all work-items of the group are here, and lets them
	// see what others wrote to shared memory; if all, also to buffers. It is
	// never called inside of an If or For that not all work-items run alike.
	Barrier(all bool)
}
