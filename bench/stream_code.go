package bench

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// streamVectors is how many vectors a turn of the loops moves; it divides a
// piece.
const streamVectors = 4

// move is what a loop does with every vector.
type move int

const (
	read     move = iota
	copyPast      // with stores that do not read the line they write to first
	fill
	fillPast // with such stores
	moves
)

func (m move) reads() bool { return m == read || m == copyPast }

func (m move) writes() bool { return m != read }

// loop goes over the bytes of moveArgs.
func (m move) loop(isa asm.ISA) ([]byte, error) {
	return streamLoop(isa, func(a *asm.Asm, v asm.V, at int) {
		from, to := asm.Ptr(asm.RSI, at), asm.Ptr(asm.RDX, at)
		if m.reads() {
			a.Op(asm.VMOVUPS, v, from)
		}
		switch m {
		case copyPast, fillPast:
			a.Op(asm.VMOVNTPS, to, v)
		case fill:
			a.Op(asm.VMOVUPS, to, v)
		}
	})
}

// streamLoop goes over the bytes of moveArgs: RSI reads, RDX writes.
func streamLoop(isa asm.ISA, move func(a *asm.Asm, v asm.V, at int)) ([]byte, error) {
	width := 64
	if isa == asm.AVX2 {
		width = 32
	}
	a := asm.New(isa)
	a.Op(asm.MOV, asm.RDX, asm.Ptr(asm.RDI, 0))
	a.Op(asm.MOV, asm.RSI, asm.Ptr(asm.RDI, 8))
	a.Op(asm.MOV, asm.RCX, asm.Ptr(asm.RDI, 16))
	a.Align(64)
	again := a.Here()
	for i := range streamVectors {
		move(a, asm.V(i), i*width)
	}
	a.Op(asm.ADD, asm.RSI, asm.Imm(streamVectors*width))
	a.Op(asm.ADD, asm.RDX, asm.Imm(streamVectors*width))
	a.Op(asm.SUB, asm.RCX, asm.Imm(streamVectors*width))
	a.J(asm.NE, again)
	a.Op(asm.SFENCE)
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	return a.Finish()
}
