package inspect

import (
	"cmp"
	"slices"

	"github.com/sinterml/sinter/internal/schedule"
)

// memory makes the picture of the arena, where sizes are known.
func (b *builder) memory() {
	arena, err := b.c.Plan.Pack(b.f.Env, !b.c.Apart)
	if err != nil {
		return // a size is not known
	}
	m := &Memory{Arena: int64(arena.Size), Live: make([]int64, len(b.c.Plan.Kernels)), AtPeak: []int{}, Packed: b.packed}
	bufs := b.doc.Buffers
	for i := range bufs {
		buf, size := &bufs[i], bufs[i].Bytes
		switch b.c.Plan.Buffers[i].Kind {
		case schedule.TempBuffer:
			buf.Offset, buf.Room = int64(arena.Offsets[i]), int64(schedule.Room(int(size)))
			for k := buf.First; k <= min(buf.Last, len(m.Live)-1); k++ {
				m.Live[k] += buf.Room
			}
		case schedule.LeafBuffer:
			m.Leaves += size
		case schedule.OutputBuffer:
			if b.c.Plan.Overwrites(buf.Output-1) < 0 {
				m.Outputs += size
			}
		case schedule.ConstantBuffer:
			m.Constant += size
		}
	}
	for k, n := range m.Live {
		if n > m.Live[m.Peak] {
			m.Peak = k
		}
	}
	for i, buf := range b.c.Plan.Buffers {
		if buf.Kind == schedule.TempBuffer && buf.First <= m.Peak && m.Peak <= buf.Last {
			m.AtPeak = append(m.AtPeak, i)
		}
	}
	slices.SortStableFunc(m.AtPeak, func(i, j int) int { return cmp.Compare(bufs[j].Room, bufs[i].Room) })
	b.doc.Memory = m
}
