package cuda

import (
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/tune"
	"github.com/sinterml/sinter/internal/ir"
)

// TestTuneMatrices: a product on units for matrices is one kernel by every tile,
// which is compiled and timed once.
func TestTuneMatrices(t *testing.T) {
	for _, capability := range []int{80, 90} {
		f := &cutest.Fake{Capability: capability}
		d, g := opened(t, f)
		store := tune.Open(t.TempDir(), tune.Machine{Kind: "cuda", Device: "a"})
		if err := store.Add(t.Context(), tune.Limits{Rate: 1e15, Measured: time.Now()}, nil); err != nil {
			t.Fatal(err)
		}
		d.KeepTuning(store)
		m, err := d.CompileGraph(t.Context(), g, device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		const rows = 40 // more than products of few rows have
		run := &device.Bound{Module: m, Env: ir.Env{"n": rows}}
		for _, n := range []int{2 * rows * 160, 2 * 160 * 160} {
			run.Leaves = append(run.Leaves, alloc(t, d, n))
		}
		run.Outputs = []device.Buffer{alloc(t, d, 2*rows*160)}
		var found []device.TunedKernel
		run.Tune = &device.Tuning{Found: func(k device.TunedKernel) { found = append(found, k) }}
		compiled := f.Compiled()
		e, err := d.Submit(t.Context(), run)
		if err == nil {
			err = e.Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := f.Compiled() - compiled; len(found) != 1 || found[0].Same < len(d.Shape.Tiles)/2 || n > 0 {
			t.Errorf("sm_%d: compiled %d, %+v", capability, n, found)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func alloc(t *testing.T, d device.Device, n int) device.Buffer {
	t.Helper()
	b, err := d.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}
