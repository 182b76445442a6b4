// Package loop is the IR of kernels: loops over ranges around loads,
// arithmetic, locals and stores. Every target emits it; Interpret is its
// reference.
package loop

import (
	"github.com/sinterml/sinter/internal/ir"
)

// Kind says what an Expr is.
type Kind uint8

const (
	KindConst Kind = iota + 1 // Bits in DType
	KindSize                  // the value of Size, i64
	KindVar                   // a loop's variable, i64
	KindLocal                 // the value of a local at this moment
	KindLoad                  // Param[Args[0]]; with Args[1] (bool) false: nothing is read, the value is zero
	KindIndex                 // Args[0] clamped to [0, Size); outside it Slot of the status words is set
	KindApply                 // Op of Args
)

// Expr is a value in a kernel: a DAG, shared where a value is used twice.
// Exprs are immutable. Index arithmetic is i64.
type Expr struct {
	Kind  Kind
	DType ir.DType
	Op    ir.Op // KindApply: a pointwise operation
	Args  []*Expr
	Bits  uint64
	Size  ir.Dim
	Var   *Var
	Local *Local
	Param int
	Slot  int
}

// Var is the variable of one loop.
type Var struct{ Name string }

// Local is a register-like variable. One that is set inside a Vector loop has
// a value for each lane; one that is set outside and accumulated inside is
// reduced over the lanes when the loop ends.
type Local struct {
	Name  string
	DType ir.DType
}

// Const makes a constant of type d from its bits.
func Const(d ir.DType, bits uint64) *Expr { return &Expr{Kind: KindConst, DType: d, Bits: bits} }

// Int makes an i64 constant, for indices.
func Int(n int) *Expr { return Const(ir.I64, uint64(int64(n))) }

// SizeOf is the value of a dimension.
func SizeOf(d ir.Dim) *Expr {
	if n, ok := d.Const(); ok {
		return Int(n)
	}
	return &Expr{Kind: KindSize, DType: ir.I64, Size: d}
}

// Ref reads a loop variable.
func (v *Var) Ref() *Expr { return &Expr{Kind: KindVar, DType: ir.I64, Var: v} }

// Ref reads a local.
func (l *Local) Ref() *Expr { return &Expr{Kind: KindLocal, DType: l.DType, Local: l} }

// Load reads param[index] where valid is nil or true.
func Load(param int, d ir.DType, index, valid *Expr) *Expr {
	e := &Expr{Kind: KindLoad, DType: d, Param: param, Args: []*Expr{index}}
	if valid != nil {
		e.Args = append(e.Args, valid)
	}
	return e
}

// Index guards a data-dependent index.
func Index(x *Expr, size ir.Dim, slot int) *Expr {
	return &Expr{Kind: KindIndex, DType: ir.I64, Args: []*Expr{x}, Size: size, Slot: slot}
}

// Apply makes op(args) of type d. Beyond what a graph has, Shl of an f32 x by an
// f32 n is x*2^n, rounded once: a shift of x's exponent. It holds for x that is
// NaN or of magnitude 1/4 to 4, and n whole, of magnitude up to 200.
func Apply(op ir.Op, d ir.DType, args ...*Expr) *Expr {
	return &Expr{Kind: KindApply, DType: d, Op: op, Args: args}
}

// isScale tells whether e is shl of f32.
func (e *Expr) isScale() bool {
	return e.Kind == KindApply && e.Op == ir.Shl && e.DType == ir.F32
}

// IsInt tells whether e is the i64 constant n.
func (e *Expr) IsInt(n int) bool {
	return e.Kind == KindConst && e.DType == ir.I64 && int64(e.Bits) == int64(n)
}

// AsInt returns the value of an i64 constant.
func (e *Expr) AsInt() (int, bool) {
	if e.Kind == KindConst && e.DType == ir.I64 {
		return int(int64(e.Bits)), true
	}
	return 0, false
}

// Walk visits every expression below e once, operands first.
func (e *Expr) Walk(visit func(*Expr)) { walk(e, map[*Expr]bool{}, visit) }

func walk(e *Expr, seen map[*Expr]bool, visit func(*Expr)) {
	if seen[e] {
		return
	}
	seen[e] = true
	for _, a := range e.Args {
		walk(a, seen, visit)
	}
	visit(e)
}

// Uses tells whether e depends on the variable v.
func (e *Expr) Uses(v *Var) bool {
	if e.Kind == KindVar {
		return e.Var == v
	}
	if len(e.Args) == 0 {
		return false
	}
	found := false
	e.Walk(func(x *Expr) { found = found || x.Kind == KindVar && x.Var == v })
	return found
}
