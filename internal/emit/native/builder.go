package native

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Builder is the code of one kernel while it is built: instructions on virtual
// registers in blocks by loop, and the values that exist already. An emitter of
// machine code embeds one.
type Builder[I Inst] struct {
	Kernel    *loop.Kernel
	Graph     *Graph
	Changes   map[*loop.Loop]Deps
	Symbols   map[string]int // words of the argument block
	Layout    Layout
	FixedVars map[*loop.Var]Reg      // variables from outside
	Sets      map[*loop.Local]int    // how often a local is set or accumulated
	Locals    map[*loop.Local]*Local // those with a value here

	Regs  []VReg[I]
	Entry *Block[I] // pointers and constants: run first, once
	Words map[int]Reg

	Scopes    []*Scope[I]
	At        int  // the scope whose code is being written; see Place
	Early     bool // what is written is safe before loops that may not run
	Lanes     Lanes
	LaneLocal uint64 // locals with a value for each lane

	// Weave reorders the end of a block, of which the items of each copy of a
	// Vector loop's statements begin at starts; nil leaves them in order.
	Weave func(b *Block[I], starts []int)

	GiveUp *loop.Loop // a Vector loop that is to run otherwise: this attempt is void
	Err    error

	machine Machine
	bound   []*loop.Local // keys of Locals in the order they got one
}

// Machine is what a Builder asks of an instruction set. A method that returns a
// register appends the instructions that make its value; it may be the register
// of an argument.
type Machine interface {
	// General registers: a constant, sums and products, words of the argument
	// block, and the i64 that are neither sums nor products.
	Number(c int64) Reg
	AddTo(x Reg, c int64) Reg
	PlusMono(x Reg, m Mono) Reg // x may be none
	Times(x, y Reg) Reg
	TimesConst(x Reg, c int64) Reg
	LoadWord(w int) Reg // in front of all code
	LoadGeneral(n *Node) Reg
	ClampIndex(n *Node) Reg
	ApplyGeneral(n *Node) Reg

	// Bools as lanes, for copy u, and as 0 or 1 in a general register.
	ConstMask(on bool) Reg
	MakeMask(n *Node, u int) Reg
	MakeFlag(n *Node) Reg

	// ValueOf is n in the form that a local of its type has.
	ValueOf(n *Node, u int) Val
	Move(dst, src Reg) // copies src to dst, of one class

	// Statements. The value of a store is written where valid, which may be nil,
	// is true.
	Loop(l *loop.Loop)
	Acc(s *loop.Acc, u int)
	StoreVector(param int, index, value, valid *Node, u int)
	StoreScalar(param int, index, value, valid *Node)
	// ConstantEnd tells whether loops compare with the end n without a register;
	// static are those whose start is a constant too.
	ConstantEnd(n int64, static bool) bool

	// OneLane has the Vector loop l, or what it leaves behind full registers, run
	// lane by lane in the next attempt.
	OneLane(l *loop.Loop, why string)
}

// NewBuilder begins the code of k, for a machine that embeds it.
func NewBuilder[I Inst](k *loop.Kernel, m Machine) Builder[I] {
	symbols := k.Symbols()
	b := Builder[I]{
		Kernel: k, Graph: NewGraph(), Changes: map[*loop.Loop]Deps{},
		Symbols: SymbolWords(len(k.Params), symbols), Layout: LayoutFor(len(k.Params), len(symbols)),
		Sets: map[*loop.Local]int{}, Locals: map[*loop.Local]*Local{},
		Regs: make([]VReg[I], 1, 256), Entry: &Block[I]{}, Words: map[int]Reg{},
		Scopes:  []*Scope[I]{NewScope[I](nil, 0, Deps{})},
		machine: m,
	}
	b.Graph.name(k.Body, 0)
	b.Graph.Statements(k.Body, b.Changes)
	b.countSets(k.Body)
	if b.Graph.Full {
		b.Unsupported("more than 64 loops inside each other, locals or buffers that are written")
	}
	return b
}

func (b *Builder[I]) countSets(body []loop.Stmt) {
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			b.countSets(s.Body)
		case *loop.Set:
			b.Sets[s.Local]++
		case *loop.Acc:
			b.Sets[s.Local]++
		}
	}
}

// Stopped tells that nothing emitted from here on matters.
func (b *Builder[I]) Stopped() bool { return b.Err != nil || b.GiveUp != nil }

// Unsupported ends the attempt with ErrUnsupported.
func (b *Builder[I]) Unsupported(format string, args ...any) {
	if b.Err == nil {
		b.Err = fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
	}
}

// NeedOneLane has the Vector loop around run lane by lane: the way out for
// whatever has no vector form. Without such a loop it is an error.
func (b *Builder[I]) NeedOneLane(format string, args ...any) {
	switch {
	case b.Stopped():
	case !b.InVector():
		b.Unsupported(format, args...)
	default:
		b.machine.OneLane(b.Scopes[b.Lanes.Level].Loop, fmt.Sprintf(format, args...))
	}
}

// NewReg is a new virtual register.
func (b *Builder[I]) NewReg(c Class) Reg {
	b.Regs = append(b.Regs, VReg[I]{Class: c, Fixed: -1})
	return Reg(len(b.Regs) - 1)
}

// Place is the block that values of scope number level go to: its body, or,
// while a loop inside it is being built, the code before that loop.
func (b *Builder[I]) Place(level int) *Block[I] {
	switch {
	case level == len(b.Scopes)-1:
		return b.Scopes[level].Body
	case b.Early:
		return b.Scopes[level+1].Early
	}
	return b.Scopes[level+1].Pre
}

// Add appends an instruction to the code being written.
func (b *Builder[I]) Add(in I) I {
	to := b.Place(b.At)
	to.Items = append(to.Items, Item[I]{In: in})
	return in
}

// Once puts in, which makes x from nothing but arguments and constants, in front
// of all code. As it can be made anew anywhere, x never occupies memory of the
// spill area.
func (b *Builder[I]) Once(x Reg, in I) {
	b.Entry.Items = append(b.Entry.Items, Item[I]{In: in})
	b.Regs[x].Anew = in
}

// Word is a word of the argument block in a register, loaded once.
func (b *Builder[I]) Word(w int) Reg {
	x := b.Words[w]
	if x == 0 {
		x = b.machine.LoadWord(w)
		b.Words[w] = x
	}
	return x
}

// Store writes a value, of each lane or of the one there is.
func (b *Builder[I]) Store(s *loop.Store, u int) {
	index, value := b.Graph.Node(s.Index), b.Graph.Node(s.Value)
	var valid *Node
	if s.Valid != nil {
		valid = b.Graph.Node(s.Valid)
	}
	if b.InVector() {
		b.machine.StoreVector(s.Param, index, value, valid, u)
	} else {
		b.machine.StoreScalar(s.Param, index, value, valid)
	}
	b.Changed(Deps{Params: b.Graph.ParamBit(s.Param)})
}

// Uncast returns the operand of a cast to a narrower type that a store does by
// itself: the value is not needed rounded in lanes.
func (n *Node) Uncast() *Node {
	if n.Kind != loop.KindApply || n.Op != ir.Cast || n.Readers > 1 {
		return n
	}
	from, to := n.Operands[0].DType, n.DType
	if from == to.Compute() && from != to && (from == ir.F32 || from.IsInt()) {
		return n.Operands[0]
	}
	return n
}
