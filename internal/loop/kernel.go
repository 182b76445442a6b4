package loop

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Kernel is one launch: statements over buffers. The first and only top-level
// statement of a kernel that runs in parallel is a Global loop; its
// iterations are independent, and a device runs any ranges of them at once.
type Kernel struct {
	Name   string
	Params []Param
	Slots  int // status words that Index expressions may set
	Body   []Stmt
}

// Use says what a kernel does with a buffer.
type Use uint8

const (
	Read    Use = iota + 1
	Write       // every element that is read was written before by the same iteration of the Global loop
	Update      // read and written; holds values before
	Scratch     // private to one worker, undefined before each iteration of the Global loop
)

// Param is one buffer of a kernel. Distinct params do not overlap.
type Param struct {
	Name  string
	DType ir.DType
	Len   ir.Dim // elements
	Use   Use
}

// Range says how a loop's iterations are run.
type Range uint8

const (
	Global Range = iota + 1 // independent; split among workers
	Serial                  // one after another
	Unroll                  // serial, constant and short: worth laying out flat
	Vector                  // independent or accumulating; lanes of a vector. None inside another
	Item                    // independent: the work-items of a group, see Grouped. None inside another or a Vector loop
)

// Stmt is *Loop, *Set, *Acc or *Store. A statement evaluates its expressions
// when it runs; a value that an earlier statement computed may be used again
// where nothing that it reads has changed since.
type Stmt interface{ stmt() }

// Loop runs Body for Var from Lo (nil: 0) up to, not including, Hi.
type Loop struct {
	Var    *Var
	Lo, Hi *Expr
	Range  Range
	Body   []Stmt
}

// Set gives a local its value. In a loop body a local may be set anew from
// its own value.
type Set struct {
	Local *Local
	Value *Expr
}

// Acc does Local = Op(Local, Value) for an associative Op: Add, Mul, Min, Max,
// And or Or. The order is the target's: lanes apart, then a fixed tree.
type Acc struct {
	Local *Local
	Op    ir.Op
	Value *Expr
}

// Store does Param[Index] = Value where Valid is nil or true. Within one
// Vector loop no two lanes store to one element.
type Store struct {
	Param int
	Index *Expr
	Value *Expr
	Valid *Expr
}

func (*Loop) stmt()  {}
func (*Set) stmt()   {}
func (*Acc) stmt()   {}
func (*Store) stmt() {}

// Symbols lists the symbols of all sizes in the kernel in order of first use:
// what a run must pass beside the buffers.
func (k *Kernel) Symbols() []ir.Symbol {
	var all []ir.Symbol
	seen := map[string]bool{}
	add := func(d ir.Dim) {
		more := false // seldom: most sizes have the symbols of others
		d.Terms(func(_ int64, symbols []ir.Symbol) {
			more = more || slices.ContainsFunc(symbols, func(s ir.Symbol) bool { return !seen[s.Name] })
		})
		if !more {
			return
		}
		for _, s := range d.Symbols() {
			if !seen[s.Name] {
				seen[s.Name] = true
				all = append(all, s)
			}
		}
	}
	k.WalkExprs(func(e *Expr) {
		if e.Kind == KindSize || e.Kind == KindIndex {
			add(e.Size)
		}
	})
	return all
}

// WalkExprs visits every expression of the kernel once, operands first.
func (k *Kernel) WalkExprs(visit func(*Expr)) {
	seen := map[*Expr]bool{}
	var stmts func([]Stmt)
	one := func(e *Expr) {
		if e != nil {
			walk(e, seen, visit)
		}
	}
	stmts = func(body []Stmt) {
		for _, s := range body {
			switch s := s.(type) {
			case *Loop:
				one(s.Lo)
				one(s.Hi)
				stmts(s.Body)
			case *Set:
				one(s.Value)
			case *Acc:
				one(s.Value)
			case *Store:
				one(s.Index)
				one(s.Value)
				one(s.Valid)
			}
		}
	}
	stmts(k.Body)
}
