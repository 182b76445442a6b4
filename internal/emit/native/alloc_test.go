package native

import (
	"math/rand/v2"
	"testing"
)

// op is an instruction of no machine.
type op struct {
	dst  Reg
	src  []Reg
	tied bool // starts from its first source
	span Span
}

func (o *op) Result() Reg { return o.dst }
func (o *op) Span() Span  { return o.span }
func (o *op) Apart() bool { return o.tied }

func (o *op) Redirect(Reg) bool { return false }

func (o *op) Uses(f func(Reg)) {
	for _, x := range o.src {
		f(x)
	}
}

func (o *op) Heirs() (from [3]Reg) {
	if o.tied {
		from[0] = o.src[0]
	}
	return from
}

// random is code in which every register is written once and read later; every
// third piece of it is a loop.
func random(rng *rand.Rand, n int) (code []*op, regs []VReg[*op]) {
	regs = append(regs, VReg[*op]{})
	for len(code) < n {
		inLoop := rng.IntN(3) == 0
		if inLoop {
			code = append(code, &op{span: LoopStart})
		}
		for range 1 + rng.IntN(8) {
			o := &op{dst: Reg(len(regs))}
			for range min(len(regs)-1, 1+rng.IntN(3)) {
				o.src = append(o.src, Reg(1+rng.IntN(len(regs)-1)))
			}
			o.tied = len(o.src) > 0 && rng.IntN(3) == 0
			code = append(code, o)
			regs = append(regs, VReg[*op]{Class: Vector, Fixed: -1})
		}
		if inLoop {
			code = append(code, &op{span: LoopEnd})
		}
	}
	return code, regs
}

// run follows what physical registers hold; loops run twice.
func run(t *testing.T, code []*op, p *Places) {
	var holds [32]Reg
	read := func(x Reg) {
		if at := p.At[x]; at >= 0 && holds[at] != x {
			t.Fatalf("register %d is read as %d, where %d is", at, x, holds[at])
		}
	}
	start, again := 0, true
	for i := 0; i < len(code); i++ {
		o := code[i]
		switch o.span {
		case LoopStart:
			start, again = i, true
			continue
		case LoopEnd:
			if again {
				again, i = false, start
			}
			continue
		}
		if at := p.At[max(o.dst, 0)]; o.tied && at >= 0 { // a copy comes first
			read(o.src[0])
			for _, x := range o.src[1:] {
				if p.At[x] == at && x != o.src[0] {
					t.Fatalf("instruction %d overwrites %d before it is read", i, x)
				}
			}
		}
		for _, x := range o.src {
			read(x)
		}
		if at := p.At[o.dst]; at >= 0 {
			holds[at] = o.dst
		}
	}
}

func TestAllocate(t *testing.T) {
	spilled := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		code, regs := random(rng, 60)
		f := Files{Spills: true, Base: 3}
		f.Free[General], f.Free[Vector] = 0xFF, 0xFFFF
		f.Scratch[Vector] = []uint8{15, 14, 13}
		p, err := Allocate(regs, code, &f, [Classes]int{Vector: 16})
		if err != nil {
			t.Fatal(err)
		}
		run(t, code, p)
		slots := map[int32]bool{}
		for x, at := range p.At {
			if at != InMemory {
				continue
			}
			spilled++
			if s := p.Slot[x]; s%16 != 0 || slots[s] || int(s) >= p.Bytes {
				t.Fatalf("seed %d: register %d is in slot %d of %d bytes", seed, x, s, p.Bytes)
			}
			slots[p.Slot[x]] = true
		}
	}
	if spilled == 0 {
		t.Error("nothing was spilled")
	}
}
