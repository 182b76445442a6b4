package cpu

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
	"github.com/sinterml/sinter/internal/rewrite"
	"github.com/sinterml/sinter/internal/schedule"
)

// evaluate compiles and runs g.
func evaluate(d *Device, g *ir.Graph, env ir.Env, leaves [][]byte, o device.Options) ([][]byte, error) {
	m, err := d.CompileGraph(context.Background(), g, o)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	defer m.Close()
	if len(o.NoOpt) > 0 {
		return runModule(d, m, g, env, leaves)
	}
	// What is kept of a run on other numbers must not show in the next.
	other := slices.Clone(leaves)
	for i, l := range g.Leaves {
		if l.Type.DType.IsFloat() {
			other[i] = backwards(leaves[i], l.Type.DType.Size())
		}
	}
	_, _ = runModule(d, m, g, env, other) // which may divide by zero
	outs, err := runModule(d, m, g, env, leaves)
	if err == nil {
		err = sameInPlace(d, m, g, env, leaves, outs)
	}
	return outs, err
}

// backwards is elements of a size in the opposite order.
func backwards(data []byte, size int) []byte {
	out := make([]byte, 0, len(data))
	for at := len(data); at > 0; at -= size {
		out = append(out, data[at-size:at]...)
	}
	return out
}

// sameInPlace runs m with variables written where they lie, and compares.
func sameInPlace(d *Device, m device.Module, g *ir.Graph, env ir.Env, leaves, want [][]byte) error {
	b := &device.Bound{Module: m, Env: env}
	for _, l := range leaves {
		buf, err := d.Alloc(len(l))
		if err != nil {
			return err
		}
		defer buf.Close()
		copy(buf.Bytes(), l)
		b.Leaves = append(b.Leaves, buf)
	}
	in := 0
	for i, o := range g.Outputs {
		if m.Info().InPlace[i] {
			in++
			b.Outputs = append(b.Outputs, b.Leaves[o.Attr.Leaf])
			continue
		}
		buf, err := d.Alloc(len(want[i]))
		if err != nil {
			return err
		}
		defer buf.Close()
		b.Outputs = append(b.Outputs, buf)
	}
	if in == 0 {
		return nil
	}
	ev, err := d.Submit(context.Background(), b)
	if err == nil {
		err = ev.Wait(context.Background())
	}
	for i, w := range want {
		if err == nil && !bytes.Equal(w, b.Outputs[i].Bytes()) {
			err = fmt.Errorf("output %d differs where variables are written in place", i)
		}
	}
	return err
}

// runModule runs what g was compiled to.
func runModule(d *Device, m device.Module, g *ir.Graph, env ir.Env, leaves [][]byte) ([][]byte, error) {
	ctx := context.Background()
	b := &device.Bound{Module: m, Env: env}
	for _, l := range leaves {
		buf, err := d.Import(l)
		if err != nil {
			return nil, err
		}
		b.Leaves = append(b.Leaves, buf)
	}
	for _, o := range g.Outputs {
		n, err := o.Shape.Numel().Eval(env)
		if err != nil {
			return nil, err
		}
		buf, err := d.Alloc(n * o.DType.Size())
		if err != nil {
			return nil, err
		}
		b.Outputs = append(b.Outputs, buf)
	}
	ev, err := d.Submit(ctx, b)
	if err == nil {
		err = ev.Wait(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	outs := make([][]byte, len(b.Outputs))
	for i, o := range b.Outputs {
		outs[i] = bytes.Clone(o.Bytes())
		_ = o.Close()
	}
	return outs, nil
}

// machines are the devices that this processor can be, each instruction set
// once. They put weights into pairs in the first run.
func machines(t testing.TB) []*Device {
	var all []*Device
	for _, isa := range []ISA{AMXFP16, AMX, AVX512, AVX2, NEON, Generic} {
		d, err := New(Options{ISA: isa})
		if err != nil {
			t.Logf("%v: %v", isa, err)
			continue
		}
		t.Cleanup(func() { _ = d.Close() })
		d.pairsFrom = 0
		all = append(all, d)
	}
	return all
}

// few leaves out most of the cases, by number, that closures compute before CI: they
// take far longer than machine code.
func few(d *Device, i int) bool { return d.ISA() == Generic && effort.Less() && i%5 > 0 }

// withSlow are those and, where the processor has an instruction for products of
// bf16, a device that takes it for slow though it is not, or the reverse.
func withSlow(t testing.TB) []*Device {
	all := machines(t)
	d, err := New(Options{ISA: AVX512})
	if err != nil || !x86.HasGemm(d.target(), x86.GemmBF16, &d.has) {
		return all
	}
	t.Cleanup(func() { _ = d.Close() })
	d.widens = !d.widens
	return append(all, d)
}

// streaming are devices of which every kernel takes the form for large results
// that it has.
func streaming(t testing.TB) []*Device {
	d, err := New(Options{})
	if err != nil || d.ISA() == Generic {
		t.Logf("no machine code: %v", err)
		return nil
	}
	d.cache = 0
	t.Cleanup(func() { _ = d.Close() })
	return []*Device{d}
}

// graphs is how many random graphs a test run compares.
func graphs() int { return effort.Of(300, 1000, 15_000, 1_000_000) }

// graphsOff is how many for each pass that is off.
func graphsOff() int { return effort.Of(40, 40, 1000, 2000) }

// TestRandomGraphs compares every instruction set, with all passes on and all
// off, with the referee: bit for bit on whole numbers, within the referee's
// error bounds on others.
func TestRandomGraphs(t *testing.T) {
	n := graphs()
	devices := append(machines(t), streaming(t)...)
	parts := runtime.GOMAXPROCS(0)
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for seed := part; seed < n; seed += parts {
				checkRandom(t, devices[seed%len(devices)], uint64(seed), 11, nil, []string{"all"})
			}
		})
	}
}

// checkRandom compares one random graph under each list of passes left out.
func checkRandom(t *testing.T, d *Device, seed, stream uint64, noOpt ...[]string) {
	t.Helper()
	c := irtest.Config{Integers: seed%2 == 0, Smooth: true, Symbolic: seed%3 == 0, MaxElements: 600, MaxNodes: 3 + int(seed%16)}
	if seed%5 == 4 {
		c.Special = 0.1
	}
	g, leaves, env := irtest.Random(rand.New(rand.NewPCG(seed, stream)), c)
	want, bounds, err := interp.Evaluate(context.Background(), g, env, leaves)
	if err != nil {
		return // an index out of range, or a division by zero
	}
	for _, off := range noOpt {
		got, err := evaluate(d, g, env, leaves, device.Options{NoOpt: off, Check: true})
		if err != nil {
			t.Fatalf("seed %d, %v, off %v: %v\n%v", seed, d.ISA(), off, err, g)
		}
		for i := range want {
			if err := compare(g.Outputs[i].DType, got[i], want[i], bounds[i]); err != nil {
				t.Fatalf("seed %d, %v, off %v: output %d: %v\n%v", seed, d.ISA(), off, i, err, g)
			}
		}
	}
}

// TestPassOff leaves out each pass, and each switch of the scheduler, in turn.
func TestPassOff(t *testing.T) {
	names := schedule.Switches
	for _, p := range rewrite.Passes() {
		if !p.Required {
			names = append(slices.Clone(names), p.Name)
		}
	}
	devices := append(machines(t), streaming(t)...)
	for _, off := range names {
		t.Run(off, func(t *testing.T) {
			t.Parallel()
			for seed := range graphsOff() {
				checkRandom(t, devices[seed%len(devices)], uint64(seed), 13, []string{off})
			}
		})
	}
}

// compare finds the first element of got that is further from want than the
// bound.
func compare(d ir.DType, got, want []byte, bound []float64) error {
	size := d.Size()
	for i := 0; i*size < len(want); i++ {
		x, y := element(got, i, size), element(want, i, size)
		if x == y {
			continue
		}
		if !d.IsFloat() {
			return fmt.Errorf("element %d is %d, want %d", i, ir.Int(d, x), ir.Int(d, y))
		}
		fx, fy := ir.Float(d, x), ir.Float(d, y)
		if math.IsNaN(fx) && math.IsNaN(fy) || bound != nil && (math.Abs(fx-fy) <= 2*bound[i] || math.IsInf(bound[i], 1)) {
			continue
		}
		limit := 0.0
		if bound != nil {
			limit = bound[i]
		}
		return fmt.Errorf("element %d is %v, want %v ± %v", i, fx, fy, limit)
	}
	return nil
}

func element(b []byte, i, size int) (v uint64) {
	for k := size - 1; k >= 0; k-- {
		v = v<<8 | uint64(b[i*size+k])
	}
	return v
}
