package devicetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// RandomSizes runs one random program with several sizes, down to 0, and the same
// weights, of which it keeps what it has computed, and compares with the referee.
func RandomSizes(ctx context.Context, d suite.Runner, seed uint64) (err error) {
	c := irtest.Config{Integers: seed%2 == 0, Smooth: true, Symbolic: true, Sums: true, MaxElements: 600, MaxNodes: 3 + int(seed%16)}
	if seed%4 >= 2 { // products and sums of parts of weights
		c.DTypes = []ir.DType{ir.F32, ir.I32}
		c.Ops = []ir.Op{ir.MatMul, ir.ReduceSum, ir.Slice, ir.Permute, ir.Mul}
	}
	c.Sizes = [][2]int{{0, 12}, {1, 12}, {0, 20}}[seed%3]
	rng := rand.New(rand.NewPCG(seed, 17))
	g, data, env := irtest.Random(rng, c)
	m, err := d.CompileGraph(ctx, g, device.Options{Check: true})
	if err != nil {
		return fmt.Errorf("seed %d: %w\n%v", seed, err, g)
	}
	w := &weights{d: d, g: g, data: make([][]byte, len(g.Leaves)), buffers: make([]device.Buffer, len(g.Leaves))}
	defer func() { err = errors.Join(err, w.close(), m.Close()) }()
	for range 4 {
		sizes := smaller(rng, env, c.Sizes)
		r := &suite.Sample{Env: sizes, Leaves: irtest.Again(rng, g, data, sizes)}
		if err := w.run(ctx, m, r); err != nil {
			return fmt.Errorf("seed %d, sizes %v: %w\n%v", seed, sizes, err, g)
		}
	}
	return nil
}

// smaller are sizes no larger than those of env, as sums of whole numbers are
// exact up to these, but within bounds.
func smaller(rng *rand.Rand, env ir.Env, bounds [2]int) ir.Env {
	sizes := ir.Env{}
	for _, name := range []string{"N", "T"} {
		sizes[name] = bounds[0] + rng.IntN(env[name]-bounds[0]+1)
	}
	return sizes
}

// weights are the leaves of a graph that stay from run to run.
type weights struct {
	d       suite.Runner
	g       *ir.Graph
	data    [][]byte // nil for inputs
	buffers []device.Buffer
}

// run runs the program on inputs of r and the weights of the first run.
func (w *weights) run(ctx context.Context, m device.Module, r *suite.Sample) (err error) {
	for i, l := range w.g.Leaves {
		switch {
		case l.Kind == ir.Input:
		case w.data[i] == nil:
			w.data[i] = r.Leaves[i]
		default:
			r.Leaves[i] = w.data[i]
		}
	}
	r.Want, r.Bounds, err = interp.Evaluate(ctx, w.g, r.Env, r.Leaves)
	if err != nil {
		return nil // an index out of range, the extreme of nothing
	}
	b, err := bind(w.d, m, w.g, r)
	if err != nil {
		return err
	}
	used := slices.Clone(b.Outputs)
	defer func() {
		for _, buf := range used {
			err = errors.Join(err, buf.Close())
		}
	}()
	for i, buf := range b.Leaves {
		if w.g.Leaves[i].Kind != ir.Input && w.buffers[i] == nil {
			w.buffers[i] = buf
			continue
		}
		used = append(used, buf)
		if kept := w.buffers[i]; kept != nil {
			b.Leaves[i] = kept
		}
	}
	if err := suite.Submit(ctx, w.d, b); err != nil {
		return err
	}
	got, err := suite.Contents(ctx, w.d, b.Outputs)
	if err != nil {
		return err
	}
	return suite.Compare(w.g, got, r, false)
}

func (w *weights) close() (err error) {
	for _, buf := range w.buffers {
		if buf != nil {
			err = errors.Join(err, buf.Close())
		}
	}
	return err
}
