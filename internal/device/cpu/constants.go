package cpu

import (
	"context"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/jit"
)

// keeping has results that are dropped while runs use them freed when these have ended.
var keeping = keep.Rules[*buffer]{Retain: (*buffer).Retain}

// constants finds or computes the results of all constant kernels.
func (s *session) constants(ctx context.Context, b *device.Bound) error {
	m := s.module
	for i, r := range m.recipes {
		weights := func(i int) (*keep.Owner, uint64) {
			at := &s.mem[r.Leaves[i]]
			return &at.buffer.Owner, at.number
		}
		made, ok := s.results[i].Known(weights)
		if !ok {
			var err error
			made, err = s.results[i].Find(ctx, &keeping, r, weights, m.holder, func() ([]*buffer, error) { return m.compute(ctx, b, s.mem, r) })
			if err != nil {
				return err
			}
		}
		s.using = append(s.using, made...)
		for j, a := range r.Results {
			s.mem[a] = place{buffer: made[j], number: made[j].Number(), at: made[j].pointer(), bytes: made[j].data}
		}
	}
	return nil
}

// compute runs the kernels of r.
func (m *module) compute(ctx context.Context, b *device.Bound, mem []place, r *keep.Recipe) (results []*buffer, err error) {
	mem = slices.Clone(mem)
	var interim []*jit.Memory
	defer func() {
		for _, own := range interim {
			_ = own.Close()
		}
		if err != nil {
			for _, made := range results {
				_ = made.Close()
			}
		}
	}()
	for _, a := range r.Results {
		size, err := m.bytes(a, b)
		if err != nil {
			return results, err
		}
		made, err := m.device.newBuffer(size)
		if err != nil {
			return results, err
		}
		results = append(results, made)
		mem[a] = place{buffer: made, at: made.pointer(), bytes: made.data}
	}
	err = r.Interim(m.plan, func(a int) error {
		size, err := m.bytes(a, b)
		if err != nil {
			return err
		}
		own, err := m.device.memory(size + 64)
		if err != nil {
			return err
		}
		interim = append(interim, own)
		mem[a] = place{at: own.Pointer(), bytes: own.Bytes()[:size]}
		return nil
	})
	if err != nil {
		return results, err
	}
	if err := m.once(ctx, b, mem, r.Kernels); err != nil {
		return results, err
	}
	return results, nil
}

// bytes is the size of a buffer of the plan in a run.
func (m *module) bytes(buf int, b *device.Bound) (int, error) {
	n, err := m.plan.Buffers[buf].Len.Eval(b.Env)
	return n * m.plan.Buffers[buf].DType.Size(), err
}
