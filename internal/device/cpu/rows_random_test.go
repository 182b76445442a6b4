package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// rowGraphs is how many of such graphs a test compares.
func rowGraphs() int { return effort.Of(60, 250, 500, 50_000) }

// TestRandomRows compares kernels of several passes over rows with the referee.
func TestRandomRows(t *testing.T) {
	devices := machines(t)
	for seed := range uint64(rowGraphs()) {
		g := irtest.Rows(rand.New(rand.NewPCG(seed, 5)), true)
		if g == nil {
			continue
		}
		d, env := devices[seed%uint64(len(devices))], ir.Env{"N": int(1 + seed%5)}
		leaves := irtest.Leaves(rand.New(rand.NewPCG(seed, 7)), g, env, false)
		checkRows(t, d, seed, g, env, leaves)
	}
}

// checkRows compares a graph with the referee; false where that has no result, as
// of a division by zero.
func checkRows(t *testing.T, d *Device, seed uint64, g *ir.Graph, env ir.Env, leaves [][]byte) bool {
	t.Helper()
	want, bounds, err := interp.Evaluate(t.Context(), g, env, leaves)
	if err != nil {
		return false
	}
	got, err := evaluate(d, g, env, leaves, device.Options{Check: true})
	if err != nil {
		t.Fatalf("seed %d, %v, sizes %v: %v\n%v", seed, d.ISA(), env, err, g)
	}
	for i, o := range g.Outputs {
		if err := compare(o.DType, got[i], want[i], bounds[i]); err != nil {
			t.Fatalf("seed %d, %v, sizes %v, output %d: %v\n%v", seed, d.ISA(), env, i, err, g)
		}
	}
	return true
}

// TestRandomRowsTogether compares the form of such kernels whose passes share a
// loop with the plain one, bit for bit but for the bits of NaN.
func TestRandomRowsTogether(t *testing.T) {
	var devices [2]*Device
	for i := range devices {
		d, err := New(Options{ISA: AVX512, Threads: i + 1})
		if err != nil {
			t.Skip(err)
		}
		defer d.Close()
		d.firstCache = 1 << 20
		devices[i] = d
	}
	staggered := 0
	for seed := range uint64(rowGraphs()) {
		g := irtest.Rows(rand.New(rand.NewPCG(seed, 5)), false)
		if g == nil {
			continue
		}
		d := devices[seed%2]
		d.cache = 0
		m := must(d.CompileGraph(t.Context(), g, device.Options{Check: true}))
		together := false
		for _, k := range m.(*module).kernels {
			k, ok := k.(*loopKernel)
			together = together || ok && k.streams != nil && k.large.work != k.plain.work
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if !together {
			continue
		}
		staggered++
		rng := rand.New(rand.NewPCG(seed, 7))
		for _, rows := range []int{rng.IntN(6), 30 + rng.IntN(600)} {
			env := ir.Env{"N": rows}
			leaves := irtest.Leaves(rng, g, env, seed%5 == 0)
			var results [2][][]byte
			var errs [2]error
			for i, cache := range []int{math.MaxInt, 0} {
				// Whether there is a form for large results is decided by the compiler.
				d.cache = 0
				m := must(d.CompileGraph(t.Context(), g, device.Options{}))
				d.cache = cache
				results[i], errs[i] = runModule(d, m, g, env, leaves)
				_ = m.Close()
			}
			if fmt.Sprint(errs[0]) != fmt.Sprint(errs[1]) {
				t.Fatalf("seed %d, %d rows: %v, together %v\n%v", seed, rows, errs[0], errs[1], g)
			}
			for i := range results[0] {
				exact := make([]float64, len(results[0][i])/g.Outputs[i].DType.Size())
				if err := compare(g.Outputs[i].DType, results[1][i], results[0][i], exact); err != nil {
					t.Fatalf("seed %d, %d rows, output %d: %v\n%v", seed, rows, i, err, g)
				}
			}
		}
	}
	if staggered < rowGraphs()/20 {
		t.Errorf("of %d graphs only %d have such kernels", rowGraphs(), staggered)
	}
}
