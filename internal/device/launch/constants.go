package launch

import (
	"context"
	"errors"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/keep"
)

// result is memory that a constant kernel wrote, which is kept for later runs: it
// counts as cached until Close. Runs hold the buffer meanwhile.
type result struct{ *buffer }

func (r result) Close() error {
	r.device.wake(int64(r.size))
	return r.buffer.Close()
}

// keeping is what devices do with results.
var keeping = keep.Rules[result]{
	Retain: func(r result) { r.Retain() },
}

// constants finds or computes the results of all constant kernels.
func (s *session) constants(ctx context.Context, b *device.Bound) error {
	m := s.module
	for i, r := range m.recipes {
		weights := func(i int) (*keep.Owner, uint64) {
			at := &s.places[r.Leaves[i]]
			return &at.buffer.Owner, at.number
		}
		made, ok := s.results[i].Known(weights)
		if !ok {
			var err error
			made, err = s.results[i].Find(ctx, &keeping, r, weights, m.holder, func() ([]result, error) { return s.compute(b, r) })
			if err != nil {
				return err
			}
		}
		for j, a := range r.Results {
			s.using = append(s.using, made[j].buffer)
			s.places[a] = place{buffer: made[j].buffer, mem: made[j].mem, size: made[j].size}
		}
	}
	return nil
}

// compute runs the kernels of r, in a session of their own.
func (s *session) compute(b *device.Bound, r *keep.Recipe) (results []result, err error) {
	d := s.module.device
	once := &session{module: s.module, env: s.env, sizes: s.sizes, places: slices.Clone(s.places)}
	defer func() {
		if err = errors.Join(err, once.end(false)); err != nil {
			for _, made := range results {
				err = errors.Join(err, made.buffer.Close())
			}
			return
		}
		for _, made := range results {
			d.rest(int64(made.size))
		}
	}()
	for _, a := range r.Results {
		made, err := d.newBuffer(s.sizes[a])
		if err != nil {
			return results, err
		}
		results = append(results, result{made})
		once.places[a] = place{buffer: made, mem: made.mem, size: made.size}
	}
	err = r.Interim(s.module.plan, func(a int) error {
		mem, err := once.alloc(s.sizes[a])
		if mem != nil {
			once.interim = append(once.interim, mem)
		}
		once.places[a] = place{mem: mem, size: s.sizes[a]}
		return err
	})
	if err == nil {
		err = once.runOnce(b, r.Kernels)
	}
	return results, err
}

// runOnce runs some kernels of the plan, of which none writes a variable.
func (s *session) runOnce(b *device.Bound, kernels []int) error {
	if err := s.bindKernels(kernels); err != nil {
		return err
	}
	if err := s.bindPlaces(); err != nil {
		return err
	}
	for _, p := range s.phases {
		if err := p.Run(); err != nil {
			return s.module.device.refused(0, err)
		}
	}
	return s.check(b)
}

// eachRun are the kernels of the plan that every run starts.
func (m *module) eachRun() []int {
	var all []int
	for i, k := range m.plan.Kernels {
		if !k.Constant {
			all = append(all, i)
		}
	}
	return all
}

// roomless is how many runs compute what there was no room to keep, before one
// looks for room again.
const roomless = 64

// submit runs b, by a program that keeps nothing where there is no room for what
// this one keeps.
func (m *module) submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	defer changed(b)
	if len(m.recipes) > 0 && b.Tune == nil && m.noRoom.Add(-1) >= 0 {
		if plain := m.withoutKeeping(ctx, b); plain != nil {
			e, err := plain.submitted(ctx, b)
			if !full(ctx, e, err) {
				return e, err
			}
			m.noRoom.Store(0) // what several runs have in common may fit
		}
	}
	e, err := m.attempt(ctx, b)
	if len(m.recipes) == 0 || !full(ctx, e, err) {
		return e, err
	}
	plain := m.withoutKeeping(ctx, b)
	if plain == nil {
		return e, err
	}
	if e, err = plain.submitted(ctx, b); !full(ctx, e, err) {
		m.noRoom.Store(roomless)
	}
	return e, err
}

// full tells whether a run that has ended lacked memory.
func full(ctx context.Context, e device.Event, err error) bool {
	if err == nil {
		err = e.Wait(ctx)
	}
	_, lacking := errors.AsType[*device.OutOfMemoryError](err)
	return lacking
}

// submitted is Submit of what is bound to another module.
func (m *module) submitted(ctx context.Context, b *device.Bound) (device.Event, error) {
	own := *b
	own.Module = m
	return m.device.Submit(ctx, &own)
}

// withoutKeeping is the program that computes everything in each run, compiled when
// it is needed first; nil if there is none that can do what b asks.
func (m *module) withoutKeeping(ctx context.Context, b *device.Bound) *module {
	plain, err := m.plainProgram(ctx)
	if err != nil {
		return nil
	}
	for o := range b.Outputs {
		if m.overwrites(b, o) && !plain.overwrites(b, o) {
			return nil
		}
	}
	return plain
}

func (m *module) plainProgram(ctx context.Context) (*module, error) {
	m.plainTurn.Lock()
	defer m.plainTurn.Unlock()
	if m.plain != nil {
		return m.plain, nil
	}
	o := m.options
	o.NoOpt = append(slices.Clone(o.NoOpt), "keep")
	o.Trace = nil
	made, err := m.device.CompileGraph(ctx, m.graph, o)
	if err != nil {
		return nil, err
	}
	m.plain = made.(*module)
	return m.plain, nil
}

// changed drops what is kept that was computed from values that a run has written,
// or may have.
func changed(b *device.Bound) {
	for _, o := range b.Outputs {
		if buf, ok := o.(*buffer); ok {
			buf.Changed()
		}
	}
}
