package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/devicetest"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// TestRandomSizes runs one program with several sizes, down to 0, and the same
// weights, of which it keeps what it has computed.
func TestRandomSizes(t *testing.T) {
	devices := append(machines(t), streaming(t)...)
	for seed := range uint64(effort.Of(300, 1000, 4000, 1_000_000)) {
		d := devices[seed%uint64(len(devices))]
		if err := devicetest.RandomSizes(t.Context(), d, seed); err != nil {
			t.Fatalf("%v: %v", d.ISA(), err)
		}
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
		leaves := irtest.Leaves(rand.New(rand.NewPCG(seed, 7)), g, nil, false)
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
