package cpu

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
)

// recipe tells how to compute the results of one constant kernel.
type recipe struct {
	what    string // a hash of all that is computed; programs number their buffers differently
	kernels []int  // of the plan, to be run in order; the last one's results are kept
	leaves  []int  // buffers of the plan: the weights that all of this depends on, in order of first use
	results []int  // buffers of the plan
}

// constant is the results of a recipe for one set of weights.
type constant struct {
	turn    chan struct{} // holds a token while someone computes
	results atomic.Pointer[[]*buffer]
}

func newConstant() *constant { return &constant{turn: make(chan struct{}, 1)} }

// get computes the results unless that has been done. Many may ask at once: one
// computes while the others wait. If it fails, or is cancelled, the next tries.
func (c *constant) get(ctx context.Context, compute func() ([]*buffer, error)) ([]*buffer, error) {
	if have := c.results.Load(); have != nil {
		return *have, nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if have := c.results.Load(); have != nil {
		return *have, nil
	}
	made, err := compute()
	if err != nil {
		return nil, err
	}
	c.results.Store(&made)
	return made, nil
}

// close frees the results. The weights they belong to are freed: no run uses
// them.
func (c *constant) close() {
	if have := c.results.Swap(nil); have != nil {
		for _, b := range *have {
			_ = b.Close()
		}
	}
}

// recipes finds the constant kernels that others read from. Those that only
// lead to them are part of their recipes.
func (c *compiler) recipes(p *schedule.Plan) []*recipe {
	var all []*recipe
	writer := make([]int, len(p.Buffers))         // of each interim buffer
	source := make([]*recipe, len(p.Buffers))     // of each constant buffer
	needs := make([]map[int]bool, len(p.Kernels)) // the kernels that a recipe for it runs
	for i, k := range p.Kernels {
		if !k.Constant {
			continue
		}
		needs[i] = map[int]bool{i: true}
		var results []int
		for j, prm := range k.Params() {
			a, writes := k.Args[j], prm.Use != loop.Read
			switch {
			case a < 0:
			case writes && p.Buffers[a].Kind == schedule.ConstantBuffer:
				results = append(results, a)
			case writes:
				writer[a] = i
			case p.Buffers[a].Kind == schedule.InterimBuffer:
				for n := range needs[writer[a]] {
					needs[i][n] = true
				}
			}
		}
		if results == nil {
			continue
		}
		r := &recipe{results: results}
		for n := range needs[i] {
			r.kernels = append(r.kernels, n)
		}
		slices.Sort(r.kernels)
		r.what = c.describe(p, r, source)
		for _, a := range results {
			source[a] = r
		}
		all = append(all, r)
	}
	return all
}

// describe names what r computes and lists the weights.
func (c *compiler) describe(p *schedule.Plan, r *recipe, source []*recipe) string {
	leaf := func(a int) int {
		at := slices.Index(r.leaves, a)
		if at < 0 {
			at = len(r.leaves)
			r.leaves = append(r.leaves, a)
		}
		return at
	}
	interim := map[int]int{} // numbers of buffers
	h := sha256.New()
	fmt.Fprintf(h, "machine code %v\n", c.machine)
	for _, i := range r.kernels {
		k := p.Kernels[i]
		io.WriteString(h, kernelText(k))
		for _, a := range k.Args {
			switch {
			case a < 0:
				io.WriteString(h, "scratch\n")
			case p.Buffers[a].Kind == schedule.LeafBuffer:
				fmt.Fprintf(h, "weight %d\n", leaf(a))
			case source[a] != nil:
				from := source[a]
				fmt.Fprintf(h, "result %d of %x", slices.Index(from.results, a), from.what)
				for _, l := range from.leaves {
					fmt.Fprintf(h, " %d", leaf(l))
				}
				io.WriteString(h, "\n")
			default:
				if _, ok := interim[a]; !ok {
					interim[a] = len(interim)
				}
				fmt.Fprintf(h, "buffer %d kept %v\n", interim[a], slices.Contains(r.results, a))
			}
		}
	}
	return string(h.Sum(nil)[:16])
}

// knownRecipe is what a recipe gave for the weights of the last run.
type knownRecipe struct {
	weights []uint64 // numbers of their buffers
	from    *constant
}

// constants finds or computes the results of all constant kernels.
func (s *session) constants(ctx context.Context, b *device.Bound) error {
	for i, r := range s.module.recipes {
		results := s.known(i, r)
		if results == nil {
			var err error
			if results, err = s.recipe(ctx, b, i, r); err != nil {
				return err
			}
		}
		for j, a := range r.results {
			s.mem[a] = place{results[j], results[j].pointer(), results[j].data}
		}
	}
	return nil
}

// known is the results of recipe i if the weights are those of the last run:
// they are bound, so that what is kept with them is there.
func (s *session) known(i int, r *recipe) []*buffer {
	have := &s.results[i]
	if have.from == nil {
		return nil
	}
	for j, l := range r.leaves {
		if s.mem[l].buffer.id != have.weights[j] {
			return nil
		}
	}
	if results := have.from.results.Load(); results != nil {
		return *results
	}
	return nil
}

// recipe finds or computes the results of recipe i.
func (s *session) recipe(ctx context.Context, b *device.Bound, i int, r *recipe) ([]*buffer, error) {
	m := s.module
	var from []*buffer
	have := &s.results[i]
	have.weights = have.weights[:0]
	for _, l := range r.leaves {
		from = append(from, s.mem[l].buffer)
		have.weights = append(have.weights, s.mem[l].buffer.id)
	}
	if len(from) == 0 {
		from = append(from, m.own)
	}
	have.from = keep(from, r.what, func() any { return newConstant() }).value.(*constant)
	return have.from.get(ctx, func() ([]*buffer, error) { return m.compute(ctx, b, s.mem, r) })
}

// compute runs the kernels of r.
func (m *module) compute(ctx context.Context, b *device.Bound, mem []place, r *recipe) (results []*buffer, err error) {
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
	for _, a := range r.results {
		size, err := m.bytes(a, b)
		if err != nil {
			return results, err
		}
		made, err := m.device.newBuffer(size)
		if err != nil {
			return results, err
		}
		results = append(results, made)
		mem[a] = place{made, made.pointer(), made.data}
	}
	for _, i := range r.kernels {
		k := m.plan.Kernels[i]
		for j, prm := range k.Params() {
			a := k.Args[j]
			if a < 0 || prm.Use == loop.Read || slices.Contains(r.results, a) {
				continue
			}
			size, err := m.bytes(a, b)
			if err != nil {
				return results, err
			}
			own, err := m.device.memory(size + 64)
			if err != nil {
				return results, err
			}
			interim = append(interim, own)
			mem[a] = place{at: own.Pointer(), bytes: own.Bytes()[:size]}
		}
	}
	if err := m.once(ctx, b, mem, r.kernels); err != nil {
		return results, err
	}
	return results, nil
}

// bytes is the size of a buffer of the plan in a run.
func (m *module) bytes(buf int, b *device.Bound) (int, error) {
	n, err := m.plan.Buffers[buf].Len.Eval(b.Env)
	return n * m.plan.Buffers[buf].DType.Size(), err
}
