package ptxsim

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
)

// Launch says how a function runs.
type Launch struct {
	Grid, Block [3]uint32
	Shared      int    // bytes of shared memory beyond what the function declares
	Args        []byte // ArgBytes of them, as Params says
	Memory      *Memory
	// Uses, if not nil, is told of a region, by where it begins, whenever an
	// instruction turns to it.
	Uses func(base uint64, write bool)
}

const (
	// maxThreads of a block, and bytes of shared memory that any GPU has for one.
	maxThreads = 1024
	maxShared  = 227 << 10
	// sharedBase is where shared memory begins in its address space.
	sharedBase = 1024
	// localBase is the same of a thread's own memory.
	localBase = 4096
)

// block is what threads of one block share.
type block struct {
	ctx    context.Context
	f      *Function
	l      *Launch
	id     [3]uint32
	shared sharedMemory
	local  []byte   // of all threads
	seen   []region // where an instruction found its memory last
	warps  []*warp
	phases map[int]*phaseBarrier // by their place in shared memory
	moves  int                   // steps that others may wait for
	called [][]wgmmaCall         // what the first warp of each four has begun
	bulk   []*tensorCopy         // that have begun and not ended
	async  uint32                // the clock of what copies by tensor maps, see clocks.go

	operands operands // of the product at hand
}

// Launch runs the function, block after block, and ends with the first error.
func (f *Function) Launch(ctx context.Context, l Launch) error {
	threads := uint64(1)
	blocks := uint64(1)
	for i := range 3 {
		threads *= uint64(l.Block[i])
		blocks *= uint64(l.Grid[i])
	}
	switch {
	case threads == 0 || blocks == 0:
		return fmt.Errorf("ptxsim: %s: a launch of nothing: grid %v, block %v", f.Name, l.Grid, l.Block)
	case threads > maxThreads || f.Threads > 0 && threads > uint64(f.Threads):
		return fmt.Errorf("ptxsim: %s: a block of %d threads is more than it may have", f.Name, threads)
	case l.Grid[1] > 65535 || l.Grid[2] > 65535 || l.Grid[0] > 1<<31-1:
		return fmt.Errorf("ptxsim: %s: a grid of %v is more than a GPU takes", f.Name, l.Grid)
	case len(l.Args) != f.args:
		return fmt.Errorf("ptxsim: %s: %d bytes of arguments, not %d", f.Name, len(l.Args), f.args)
	case l.Shared < 0 || f.Shared+l.Shared > maxShared:
		return fmt.Errorf("ptxsim: %s: %d bytes of shared memory are more than a GPU has", f.Name, f.Shared+l.Shared)
	case f.dynamic && l.Shared == 0:
		return fmt.Errorf("ptxsim: %s: needs shared memory that the launch does not give", f.Name)
	case l.Memory == nil:
		return errors.New("ptxsim: a launch without memory")
	}
	b := f.block(ctx, &l, int(threads))
	for z := range l.Grid[2] {
		for y := range l.Grid[1] {
			for x := range l.Grid[0] {
				b.id = [3]uint32{x, y, z}
				if err := b.run(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// block makes room for blocks, which run one after another in it.
func (f *Function) block(ctx context.Context, l *Launch, threads int) *block {
	b := &block{ctx: ctx, f: f, l: l, seen: make([]region, f.loads)}
	shared := f.Shared
	if l.Shared > 0 {
		shared = (f.Shared+dynamicAlign-1)/dynamicAlign*dynamicAlign + l.Shared
	}
	warps := (threads + lanes - 1) / lanes
	b.shared = newSharedMemory(shared, f.unit, warps, f.phased)
	b.local = make([]byte, f.local*threads)
	for n := 0; n < threads; n += lanes {
		w := &warp{b: b, number: n / lanes, rows: make([]row, f.rows), preds: make([]uint32, f.preds), clock: 1}
		w.seen, w.fenced = make([]uint32, warps+1), make([]uint32, warps+1)
		for i := range w.rows {
			for j := range lanes {
				w.rows[i][j] = 0xa5a5a5a5
			}
		}
		for _, c := range f.consts {
			for j := range lanes {
				w.rows[c.row][j] = c.value
			}
		}
		for name, at := range f.special {
			for j := range lanes {
				w.rows[at][j] = b.threadValue(name, n+j)
			}
		}
		b.warps = append(b.warps, w)
	}
	return b
}

// threadValue is a special register of a thread that is the same in all blocks.
func (b *block) threadValue(name string, thread int) uint64 {
	x, y := int(b.l.Block[0]), int(b.l.Block[1])
	switch name {
	case "%tid.x":
		return uint64(thread % x)
	case "%tid.y":
		return uint64(thread / x % y)
	case "%tid.z":
		return uint64(thread / x / y)
	case "%laneid":
		return uint64(thread % lanes)
	case "%ntid.x", "%ntid.y", "%ntid.z":
		return uint64(b.l.Block[name[6]-'x'])
	case "%nctaid.x", "%nctaid.y", "%nctaid.z":
		return uint64(b.l.Grid[name[8]-'x'])
	}
	return 0 // of the block: see run
}

// run runs one block.
func (b *block) run() error {
	threads := int(b.l.Block[0] * b.l.Block[1] * b.l.Block[2])
	b.shared.reset()
	b.synchronize()
	b.phases, b.called, b.bulk = map[int]*phaseBarrier{}, make([][]wgmmaCall, (len(b.warps)+3)/4), nil
	for i := range b.local {
		b.local[i] = garbage
	}
	for _, w := range b.warps {
		w.group, w.others, w.copies, w.waiting, w.wgmma = group{mask: ^uint32(0)}, nil, nil, false, wgmmaState{}
		if n := threads - w.number*lanes; n < lanes {
			w.mask = 1<<n - 1
		}
		w.alive = w.mask
		for i, name := range [3]string{"%ctaid.x", "%ctaid.y", "%ctaid.z"} {
			if at, ok := b.f.special[name]; ok {
				for j := range lanes {
					w.rows[at][j] = uint64(b.id[i])
				}
			}
		}
	}
	for {
		if err := b.turns(); err != nil {
			return err
		}
		if more, err := b.barrier(); !more || err != nil {
			return err
		}
	}
}

// turns has warps run until each waits at a barrier of the block or has ended.
// One that waits for a phase is asked again once others have had their turn.
func (b *block) turns() error {
	for {
		polling := (*warp)(nil)
		before := b.moves
		for _, w := range b.warps {
			if w.alive == 0 || w.waiting {
				continue
			}
			if w.run(); w.fault != nil {
				return w.fault
			}
			if w.alive != 0 && !w.waiting {
				polling = w
			}
		}
		switch {
		case polling == nil:
			return nil
		case b.moves == before && len(b.bulk) > 0: // as late as may be
			b.endCopy()
		case b.moves == before:
			polling.fail(&b.f.code[polling.pc], bits.TrailingZeros32(polling.alive), "this thread waits for a phase that does not end")
			return polling.fault
		}
	}
}

// barrier lets all warps go on from the one that they wait at; it is false once
// all threads have ended.
func (b *block) barrier() (bool, error) {
	var first *warp
	ended := 0
	for _, w := range b.warps {
		switch {
		case w.alive == 0:
			ended++
			continue
		case first == nil:
			first = w
		}
		if n := bits.OnesCount32(w.alive); w.pc != first.pc || n < lanes && n < b.threadsOf(w) {
			w.fail(&b.f.code[w.pc], bits.TrailingZeros32(w.alive), "a barrier that other threads of the block do not reach")
			return false, w.fault
		}
	}
	if first == nil {
		if len(b.bulk) > 0 {
			c := b.bulk[0]
			b.warps[0].fail(c.source, 0, "the block ends before this copy")
			return false, b.warps[0].fault
		}
		return false, nil
	}
	if ended > 0 {
		first.fail(&b.f.code[first.pc], 0, "a barrier that threads wait at of which others have ended")
		return false, first.fault
	}
	for _, w := range b.warps {
		w.pc++
		w.waiting = false
	}
	b.synchronize()
	return true, nil
}

// threadsOf is how many threads a warp had at the beginning.
func (b *block) threadsOf(w *warp) int {
	return min(lanes, int(b.l.Block[0]*b.l.Block[1]*b.l.Block[2])-w.number*lanes)
}
