package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// The code of one copy is mostly a chain: each instruction waits four cycles
// for the one before. A core looks ahead into the copies that follow, but not
// far enough; woven, an instruction of each in turn, they keep its arithmetic
// units busier: GELU and softmax take 5 to 9 % less time. A short chain hides by
// itself, and what it loads and stores had better alternate: woven, a sum of two
// tensors in memory takes 5 % more.

// leastWoven is the instructions of a copy that are worth weaving.
const leastWoven = 10

// weave reorders the items of b, of which those of copy u begin at starts[u],
// as far as registers suffice. Copies only touch memory of their own lanes.
func (e *emitter) weave(b *block, starts []int) {
	copies := make([][]*inst, len(starts))
	for u, at := range starts {
		end := len(b.Items)
		if u+1 < len(starts) {
			end = starts[u+1]
		}
		for _, it := range b.Items[at:end] {
			if it.In == nil || !e.weavable(it.In) {
				return
			}
			copies[u] = append(copies[u], it.In)
		}
	}
	size := e.weaveSize(copies)
	if size == 1 || len(copies[0]) < leastWoven {
		return
	}
	b.Items = b.Items[:starts[0]]
	for len(copies) > 0 {
		n := min(size, len(copies))
		for _, in := range e.merge(copies[:n]) {
			b.Items = append(b.Items, item{In: in})
		}
		copies = copies[n:]
	}
}

// weavable leaves out what sets or reads flags, and jumps.
func (e *emitter) weavable(in *inst) bool {
	switch in.kind {
	case plain:
	case zeroing, fused, moveReg:
		return true
	default:
		return false
	}
	switch {
	case in.dst == 0:
		return in.n > 0 && in.src[0].kind == memOperand // a store
	case e.Regs[in.dst].Class == gpr:
		return in.op == asm.LEA || in.op == asm.MOV
	}
	return true
}

// weaveSize is how many copies fit the registers when woven.
func (e *emitter) weaveSize(copies [][]*inst) int {
	size := len(copies)
	for _, c := range [...]class{vec, mask} {
		room := e.room[c]
		own, shared := e.pressure(copies, c)
		for size > 1 && shared+size*own > room {
			size /= 2
		}
	}
	return size
}

// pressure is the most registers that a copy needs at once for values of its
// own, and the number of those that live longer.
func (e *emitter) pressure(copies [][]*inst, c class) (own, shared int) {
	type life struct{ first, last, copy int }
	lives := map[reg]*life{}
	longer := map[reg]bool{}
	for u, code := range copies {
		for i, in := range code {
			in.Uses(func(x reg) {
				if e.Regs[x].Class != c {
					return
				}
				l := lives[x]
				if l == nil || l.copy != u {
					longer[x] = e.Regs[x].Anew == nil // made before, or by another copy
					return
				}
				l.last = i
			})
			if d := in.dst; d != 0 && e.Regs[d].Class == c && lives[d] == nil {
				lives[d] = &life{i, i, u}
			}
		}
	}
	for u, code := range copies {
		change := make([]int, len(code)+1)
		for x, l := range lives {
			if l.copy == u && !longer[x] {
				change[l.first]++
				change[l.last]--
			}
		}
		n := 0
		for _, d := range change {
			n += d
			own = max(own, n)
		}
	}
	for _, held := range longer {
		if held {
			shared++
		}
	}
	return own, shared
}

// merge takes an instruction of each copy in turn. Those that touch the same
// register keep their order.
func (e *emitter) merge(copies [][]*inst) []*inst {
	after := dependencies(copies)
	var all []*inst
	next, done := make([]int, len(copies)), map[*inst]bool{}
	ready := func(in *inst) bool {
		for _, before := range after[in] {
			if !done[before] {
				return false
			}
		}
		return true
	}
	for progress := true; progress; {
		progress = false
		for u, code := range copies {
			if next[u] < len(code) && ready(code[next[u]]) {
				in := code[next[u]]
				all, done[in], progress = append(all, in), true, true
				next[u]++
			}
		}
	}
	return all
}

// dependencies lists what must stay before an instruction: in other copies,
// who writes what it reads or writes, and who reads what it writes.
func dependencies(copies [][]*inst) map[*inst][]*inst {
	type touch struct {
		in   *inst
		copy int
	}
	writer, readers := map[reg]touch{}, map[reg][]touch{}
	after := map[*inst][]*inst{}
	for u, code := range copies {
		for _, in := range code {
			follow := func(t touch) {
				if t.in != nil && t.copy != u {
					after[in] = append(after[in], t.in)
				}
			}
			writes := [2]reg{in.dst}
			if in.early {
				writes[1] = in.mask
			}
			in.Uses(func(x reg) {
				follow(writer[x])
				readers[x] = append(readers[x], touch{in, u})
			})
			for _, x := range writes {
				if x == 0 {
					continue
				}
				follow(writer[x])
				for _, t := range readers[x] {
					follow(t)
				}
				writer[x], readers[x] = touch{in, u}, nil
			}
		}
	}
	return after
}
