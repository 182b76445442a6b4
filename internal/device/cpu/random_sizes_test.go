package cpu

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// TestRandomSizes runs one program with several sizes, down to 0, and the same
// weights, of which it keeps what it has computed.
func TestRandomSizes(t *testing.T) {
	devices := append(machines(t), streaming(t)...)
	some := max(graphs/10, 1000)
	for seed := range uint64(effort.Of(300, some, some, graphs)) {
		checkSizes(t, devices[seed%uint64(len(devices))], seed, 17)
	}
}

// TestRandomUpdates compares kernels that pass over rows and write variables, in
// place where they can.
func TestRandomUpdates(t *testing.T) {
	devices := append(machines(t), streaming(t)...)
	inPlace := 0
	for seed := range uint64(rowGraphs()) {
		g := irtest.Updates(rand.New(rand.NewPCG(seed, 5)), true)
		if g == nil {
			continue
		}
		d := devices[seed%uint64(len(devices))]
		leaves := rowLeaves(rand.New(rand.NewPCG(seed, 7)), g, nil, false)
		if !checkRows(t, d, seed, g, nil, leaves) {
			continue
		}
		m := must(d.CompileGraph(t.Context(), g, device.Options{}))
		if slices.Contains(m.Info().InPlace, true) {
			inPlace++
		}
		_ = m.Close()
	}
	if inPlace < rowGraphs()/10 {
		t.Errorf("of %d graphs only %d write variables in place", rowGraphs(), inPlace)
	}
}

// checkSizes compares a random program with the referee at random sizes.
func checkSizes(t *testing.T, d *Device, seed, stream uint64) {
	t.Helper()
	c := irtest.Config{Integers: seed%2 == 0, Smooth: true, Symbolic: true, Sums: true, MaxElements: 600, MaxNodes: 3 + int(seed%16)}
	if seed%4 >= 2 { // products and sums of parts of weights
		c.DTypes = []ir.DType{ir.F32, ir.I32}
		c.Ops = []ir.Op{ir.MatMul, ir.ReduceSum, ir.Slice, ir.Permute, ir.Mul}
	}
	c.Sizes = [][2]int{{0, 12}, {1, 12}, {0, 20}}[seed%3]
	rng := rand.New(rand.NewPCG(seed, stream))
	g, data, env := irtest.Random(rng, c)
	m, err := d.CompileGraph(t.Context(), g, device.Options{Check: true})
	if err != nil {
		t.Fatalf("seed %d: %v\n%v", seed, err, g)
	}
	defer m.Close()
	kept := make([]device.Buffer, len(g.Leaves))
	for range 4 {
		sizes := smaller(rng, env, c.Sizes)
		leaves := irtest.Again(rng, g, data, sizes)
		b := &device.Bound{Module: m, Env: sizes}
		for i, l := range g.Leaves {
			if l.Kind == ir.Input || kept[i] == nil {
				kept[i] = must(d.Import(leaves[i]))
			}
			b.Leaves, leaves[i] = append(b.Leaves, kept[i]), kept[i].Bytes()
		}
		want, bounds, err := interp.Evaluate(t.Context(), g, sizes, leaves)
		if err != nil {
			continue // an index out of range, the extreme of nothing
		}
		for i := range want {
			b.Outputs = append(b.Outputs, must(d.Alloc(len(want[i]))))
		}
		e, err := d.Submit(t.Context(), b)
		if err == nil {
			err = e.Wait(t.Context())
		}
		for i, o := range g.Outputs {
			if err == nil {
				err = compare(o.DType, b.Outputs[i].Bytes(), want[i], bounds[i])
			}
			err = errors.Join(err, b.Outputs[i].Close())
		}
		if err != nil {
			t.Fatalf("seed %d, %v, sizes %v: %v\n%v", seed, d.ISA(), sizes, err, g)
		}
	}
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
