package devicetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// RandomSteps runs n programs of each kind that keeps something from run to run,
// those of a part of them: RandomSizes and RandomUpdates.
func RandomSteps(t *testing.T, d suite.Runner, n uint64, part Part) {
	t.Helper()
	inPlace := 0
	for seed := range n {
		if !part.has(int(seed)) {
			continue
		}
		if err := RandomSizes(t.Context(), d, seed); err != nil {
			t.Error(err)
		}
		in, err := RandomUpdates(t.Context(), d, seed)
		if err != nil {
			t.Error(err)
		}
		if in {
			inPlace++
		}
	}
	t.Logf("%d programs write variables in place", inPlace)
}

// RandomUpdates compares a random program of kernels that pass over rows and write
// variables with the referee, and with itself where it writes them in place;
// false if it does so with none.
func RandomUpdates(ctx context.Context, d suite.Runner, seed uint64) (inPlace bool, err error) {
	g := irtest.Updates(rand.New(rand.NewPCG(seed, 5)), true)
	if g == nil {
		return false, nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("seed %d: %w\n%v", seed, err, g)
		}
	}()
	r := &suite.Sample{Leaves: irtest.Leaves(rand.New(rand.NewPCG(seed, 7)), g, nil, false)}
	if r.Want, r.Bounds, err = interp.Evaluate(ctx, g, nil, r.Leaves); err != nil {
		return false, nil // a division by zero
	}
	m, err := d.CompileGraph(ctx, g, device.Options{Check: true})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	apart, err := suite.Execute(ctx, d, m, g, r)
	if err == nil {
		err = suite.Compare(g, apart, r, false)
	}
	in := m.Info().InPlace
	if err != nil || !slices.Contains(in, true) {
		return false, err
	}
	b, err := bind(d, m, g, r)
	if err != nil {
		return false, err
	}
	defer func() {
		for _, buf := range slices.Concat(b.Leaves, b.Outputs) {
			err = errors.Join(err, buf.Close())
		}
	}()
	over := &device.Bound{Module: m, Leaves: b.Leaves, Outputs: slices.Clone(b.Outputs)}
	for i, o := range g.Outputs {
		if in[i] {
			over.Outputs[i] = over.Leaves[o.Attr.Leaf]
		}
	}
	if err := suite.Submit(ctx, d, over); err != nil {
		return true, err
	}
	got, err := suite.Contents(ctx, d, over.Outputs)
	if err == nil {
		err = suite.SameBits(apart, got)
	}
	return true, err
}
