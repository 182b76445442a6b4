package schedule

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// lifetimes finds the kernels between which each temp holds a value.
func (p *Plan) lifetimes() {
	for i := range p.Buffers {
		p.Buffers[i].First, p.Buffers[i].Last = len(p.Kernels), -1
	}
	for i, k := range p.Kernels {
		use := func(buf int) {
			if buf >= 0 {
				b := &p.Buffers[buf]
				b.First, b.Last = min(b.First, i), max(b.Last, i)
			}
		}
		for _, a := range k.Args {
			use(a)
		}
		for _, c := range k.Checks {
			if c.Buffer >= 0 { // looked at again when the run has ended
				p.Buffers[c.Buffer].Last = len(p.Kernels)
			}
		}
	}
}

// Alignment of every buffer in an arena, in bytes: a cache line and a vector.
const Alignment = 64

// Arena says where the temps of a plan lie for given sizes.
type Arena struct {
	Offsets []int // of each buffer of the plan, in bytes; -1 for those that are no temps
	Size    int
}

// Pack places the temps. Two that hold values at the same time do not overlap;
// with share false none do. Sizes are rounded up to eighths of a power of two,
// so that nearly equal requests have equal arenas.
func (p *Plan) Pack(env ir.Env, share bool) (*Arena, error) {
	a := &Arena{Offsets: make([]int, len(p.Buffers))}
	sizes := make([]int, len(p.Buffers))
	var order []int
	for i, b := range p.Buffers {
		a.Offsets[i] = -1
		if b.Kind != TempBuffer {
			continue
		}
		n, err := b.Len.Eval(env)
		if err != nil {
			return nil, fmt.Errorf("size of buffer b%d: %w", i, err)
		}
		sizes[i] = Room(n * b.DType.Size())
		order = append(order, i)
	}
	// The largest first, each at the lowest gap: within a few per cent of the
	// best for the graphs of models, and the same in every process.
	slices.SortStableFunc(order, func(x, y int) int { return sizes[y] - sizes[x] })
	var placed []int
	for _, i := range order {
		at := 0
		for _, j := range placed { // by offset
			live := !share || p.Buffers[i].First <= p.Buffers[j].Last && p.Buffers[j].First <= p.Buffers[i].Last
			if !live {
				continue
			}
			if at+sizes[i] <= a.Offsets[j] {
				break
			}
			at = max(at, a.Offsets[j]+sizes[j])
		}
		a.Offsets[i] = at
		a.Size = max(a.Size, at+sizes[i])
		pos, _ := slices.BinarySearchFunc(placed, at, func(j, at int) int { return a.Offsets[j] - at })
		placed = slices.Insert(placed, pos, i)
	}
	return a, nil
}

// Room is what a temp of n bytes takes in an arena: as many rounded up to the
// next eighth of a power of two, at least one line.
func Room(n int) int {
	if n <= 8*Alignment {
		return max(Alignment, (n+Alignment-1)/Alignment*Alignment)
	}
	step := 1 << (bits.Len(uint(n-1)) - 4)
	return (n + step - 1) / step * step
}
