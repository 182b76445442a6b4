package native

import "github.com/sinterml/sinter/internal/loop"

// Block is a list of instructions and blocks: a tree, so that what does not
// change in a loop can be put before it while the loop is being built.
type Block[I Inst] struct{ Items []Item[I] }

// Item is an instruction, or a block.
type Item[I Inst] struct {
	In  I
	Sub *Block[I]
}

// Flatten appends the instructions of the tree in order.
func (b *Block[I]) Flatten(to []I) []I {
	for _, it := range b.Items {
		if it.Sub != nil {
			to = it.Sub.Flatten(to)
			continue
		}
		to = append(to, it.In)
	}
	return to
}

// Scope is a loop that is being built; the outermost is the kernel itself.
type Scope[I Inst] struct {
	Loop    *loop.Loop
	Changes Deps      // what differs between its iterations
	Early   *Block[I] // runs once, even if there is no iteration: arithmetic on pointers
	Pre     *Block[I] // runs once before the first iteration, if there is one
	Body    *Block[I]
	Var     Reg // the variable

	before memo // values made in Pre
	inside memo // values made in Body so far
	bound  int  // locals that had a value before
}

func NewScope[I Inst](l *loop.Loop, v Reg, changes Deps) *Scope[I] {
	return &Scope[I]{
		Loop: l, Var: v, Changes: changes,
		Early: &Block[I]{}, Pre: &Block[I]{}, Body: &Block[I]{},
		before: memo{}, inside: memo{},
	}
}

// Lanes says how the innermost Vector loop runs at the moment.
type Lanes struct {
	Level  int // its scope; 0: none
	Copies int // registers to a value
	Mask   Reg // the lanes of the last copy that count; 0: all
}

// Tail is the mask of copy u, 0 for all lanes.
func (l *Lanes) Tail(u int) Reg {
	if u == l.Copies-1 {
		return l.Mask
	}
	return 0
}
