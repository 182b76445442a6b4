package launch

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/tune"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// Tiles of the simulated device: the one that it takes by itself is entry.GroupTile.
var (
	fastTile  = entry.Tile{Rows: 32, Cols: 32, EachRows: 4, EachCols: 4, Depth: 8}
	wrongTile = entry.Tile{Rows: 32, Cols: 64, EachRows: 4, EachCols: 4, Depth: 8}
	lazyTile  = entry.Tile{Rows: 64, Cols: 32, EachRows: 4, EachCols: 4, Depth: 8}
	largeTile = entry.Tile{Rows: 128, Cols: 64, EachRows: 8, EachCols: 8, Depth: 8}
)

const size = 12

// tunable opens a simulated device whose kernels of fastTile are the fastest of
// those that are right.
func tunable(t *testing.T, s *simulated, dir string) *Device {
	t.Helper()
	s.slow = func(k *entry.Kernel) time.Duration {
		if k.Tile == fastTile {
			return 20 * time.Millisecond
		}
		if k.Tile == entry.GroupTile {
			return 60 * time.Millisecond
		}
		return 0
	}
	s.twist = func(k *entry.Kernel, buffers [][]byte) {
		if k.Tile == wrongTile {
			buffers[len(buffers)-1][0] ^= 1
		}
	}
	s.lazy = func(k *entry.Kernel) bool { return k.Tile == lazyTile }
	s.refuse = func(k *entry.Kernel) bool { return k.Tile == largeTile }
	d, err := New(s, Options{Kind: "simulated", Units: 1, Shape: entry.Shape{
		Items: 16, Near: 4 << 10, Flat: 4, Product: flat.Product, Tiles: []entry.Tile{largeTile, wrongTile, lazyTile, fastTile},
	}})
	if err != nil {
		t.Fatal(err)
	}
	store := tune.Open(dir, tune.Machine{Kind: "simulated", Device: "a"})
	if err := store.Add(context.Background(), tune.Limits{Rate: 1e15, Measured: time.Now()}, nil); err != nil {
		t.Fatal(err)
	}
	d.KeepTuning(store)
	t.Cleanup(func() {
		if err := d.Close(); err != nil || s.open != 0 {
			t.Errorf("%v, %d things are not given back", err, s.open)
		}
	})
	return d
}

// program is two equal products, one behind the other, with a step between.
func program(t *testing.T) *ir.Graph {
	t.Helper()
	b := ir.NewBuilder(nil)
	must := func(n *ir.Node, err error) *ir.Node {
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	x := must(b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(size, size)}}))
	y := must(b.Add(ir.MatMul, ir.Attr{}, x, x))
	y = must(b.Add(ir.MatMul, ir.Attr{}, y, y))
	return b.Finish(must(b.Add(ir.Exp, ir.Attr{}, must(b.Add(ir.ReduceSum, ir.Attr{Axes: []int{1}}, y)))))
}

// compiled has d compile the program.
func compiled(t *testing.T, d *Device, noOpt ...string) *module {
	t.Helper()
	m, err := d.CompileGraph(context.Background(), program(t), device.Options{NoOpt: noOpt})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m.(*module)
}

// run runs m and gives the bits of its result.
func run(t *testing.T, m *module, ctx context.Context, ask *device.Tuning) ([]byte, error) {
	t.Helper()
	return runBound(t, &device.Bound{Module: m, Tune: ask}, ctx)
}

func runRecorded(t *testing.T, m *module, ctx context.Context, r device.Recorder) ([]byte, error) {
	t.Helper()
	return runBound(t, &device.Bound{Module: m, Record: r}, ctx)
}

// runBound runs the program that bound has, with memory of its own.
func runBound(t *testing.T, bound *device.Bound, ctx context.Context) ([]byte, error) {
	t.Helper()
	d := bound.Module.(*module).device
	x, err := d.newBuffer(4 * size * size)
	if err != nil {
		t.Fatal(err)
	}
	y, err := d.newBuffer(4 * size)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(x.Close(), y.Close()); err != nil {
			t.Error(err)
		}
	}()
	values := make([]byte, 4*size*size)
	for i := range size * size {
		binary.LittleEndian.PutUint32(values[4*i:], math.Float32bits(float32(i%7-3)/9))
	}
	if err := d.backend.Write(x.mem, 0, values); err != nil {
		t.Fatal(err)
	}
	bound.Leaves, bound.Outputs = []device.Buffer{x}, []device.Buffer{y}
	event, err := d.Submit(ctx, bound)
	if err == nil {
		err = event.Wait(ctx)
	}
	if err != nil {
		return nil, err
	}
	return y.read()
}

// tiles are those of a module's products.
func tiles(m *module) []entry.Tile {
	var all []entry.Tile
	for _, f := range m.functions {
		if f.Gemm != nil {
			all = append(all, f.Tile)
		}
	}
	return all
}

// TestTune has a device find out which tile is the fastest of those whose bits
// are right, and use it from then on, also where it is opened anew.
func TestTune(t *testing.T) { synctest.Test(t, tuneAll) } // sleepers wake in time

func tuneAll(t *testing.T) {
	s, dir, ctx := &simulated{}, t.TempDir(), context.Background()
	d := tunable(t, s, dir)
	m := compiled(t, d)
	want, err := run(t, m, ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var found []device.TunedKernel
	last, total := 0, 0
	got, err := run(t, m, ctx, &device.Tuning{
		Found: func(k device.TunedKernel) { found = append(found, k) },
		Progress: func(done, of int) {
			if done < last {
				t.Errorf("progress from %d back to %d", last, done)
			}
			last, total = done, of
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("the run that tunes has other results")
	}
	if last == 0 || last > total {
		t.Errorf("progress %d of %d", last, total)
	}
	at := slices.IndexFunc(found, func(k device.TunedKernel) bool { return k.Runs == 2 })
	if at < 0 {
		t.Fatalf("%+v", found)
	}
	if k := found[at]; k.Strategy.Tile != fastTile || k.Refused != 3 || k.After >= k.Before || k.Operations < 2*size*size*size {
		t.Errorf("%+v", k)
	}
	again := compiled(t, tunable(t, &simulated{}, dir))
	for _, m := range []*module{compiled(t, d), again} {
		if tiles := tiles(m); !slices.Equal(tiles, []entry.Tile{fastTile, fastTile}) {
			t.Errorf("tiles afterwards: %v", tiles)
		}
		if got, err := run(t, m, ctx, nil); err != nil || string(got) != string(want) {
			t.Errorf("afterwards: %v, %v", got, err)
		}
	}
	if tiles := tiles(compiled(t, d, "tuning")); !slices.Equal(tiles, []entry.Tile{entry.GroupTile, entry.GroupTile}) {
		t.Errorf("without: %v", tiles)
	}
}

// TestTuneSame has a device on which two of five tiles are one kernel each, and on
// which all of them are: what is the same is neither compiled nor timed again, and
// is not taken, however the times differ.
func TestTuneSame(t *testing.T) {
	for name, c := range map[string]sameTiles{
		"all": {func(entry.Tile) entry.Tile { return entry.GroupTile }, 0, 4, entry.Tile{}},
		"some": {func(t entry.Tile) entry.Tile {
			return map[entry.Tile]entry.Tile{fastTile: fastTile, largeTile: fastTile}[t]
		}, 1, 3, fastTile},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, c.test) })
	}
}

// sameTiles are tiles that others stand for, and what becomes of them.
type sameTiles struct {
	tile        func(entry.Tile) entry.Tile
	tried, same int // tiles
	want        entry.Tile
}

func (c sameTiles) test(t *testing.T) {
	s := &simulated{}
	d := tunable(t, s, t.TempDir())
	s.refuse, s.lazy, s.twist = nil, nil, nil
	d.Shape.Product = func(name string, g *template.Gemm, tile entry.Tile) *entry.Kernel {
		return flat.Product(name, g, cmp.Or(c.tile(tile), entry.GroupTile))
	}
	d.Shape.Tiles = []entry.Tile{fastTile, wrongTile, lazyTile, largeTile}
	var found []device.TunedKernel
	if _, err := run(t, compiled(t, d), context.Background(), &device.Tuning{Found: func(k device.TunedKernel) { found = append(found, k) }}); err != nil {
		t.Fatal(err)
	}
	built := 0
	for _, x := range s.tried {
		if x.Tile != (entry.Tile{}) {
			built++
		}
	}
	at := slices.IndexFunc(found, func(k device.TunedKernel) bool { return k.Runs == 2 })
	if at < 0 {
		t.Fatalf("%+v", found)
	}
	// A product so small is one group, however it is dealt out.
	ways := len(entry.Spread(entry.Strategy{})) - 1
	if k := found[at]; built != c.tried || k.Tried != c.tried || k.Same != c.same+ways || k.Refused != 0 || k.Strategy.Tile != c.want {
		t.Errorf("built %d, %+v", built, k)
	}
}

// TestTuneInterrupted keeps what was found before somebody ended it.
func TestTuneInterrupted(t *testing.T) { synctest.Test(t, tuneInterrupted) }

func tuneInterrupted(t *testing.T) {
	d := tunable(t, &simulated{}, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	_, err := run(t, compiled(t, d), ctx, &device.Tuning{Found: func(k device.TunedKernel) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n, err := d.Tuned(); n != 1 || err != nil {
		t.Errorf("%d kernels are kept, %v", n, err)
	}
}

// TestTuneLate tries nothing when there is no time.
func TestTuneLate(t *testing.T) { synctest.Test(t, tuneLate) }

func tuneLate(t *testing.T) {
	s := &simulated{}
	d := tunable(t, s, t.TempDir())
	if _, err := run(t, compiled(t, d), context.Background(), &device.Tuning{Until: time.Now().Add(-time.Second)}); err != nil {
		t.Error(err)
	}
	if n, _ := d.Tuned(); n != 0 || len(s.tried) != 0 {
		t.Errorf("%d kernels are kept, tried %v", n, s.tried)
	}
}

// TestTuneNearLimit tries nothing where the device does as much as it can.
func TestTuneNearLimit(t *testing.T) { synctest.Test(t, tuneNearLimit) }

func tuneNearLimit(t *testing.T) {
	s := &simulated{}
	d := tunable(t, s, t.TempDir())
	m := compiled(t, d)
	const least = 200 * time.Millisecond
	s.slow = func(k *entry.Kernel) time.Duration {
		if k.Gemm != nil {
			return least
		}
		return 0
	}
	products := 2.0 * size * size * size
	l := tune.Limits{Rate: products / (1.01 * least.Seconds()), Measured: time.Now()}
	if err := d.tuned.Load().Add(context.Background(), l, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, m, context.Background(), &device.Tuning{}); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(s.tried, func(c entry.Strategy) bool { return c.Tile == fastTile }) {
		t.Errorf("tried %v", s.tried)
	}
}

// TestStrategyOfOthers leaves alone what a shape does not have, as a file may say
// anything.
func TestStrategyOfOthers(t *testing.T) {
	d := tunable(t, &simulated{}, t.TempDir())
	for _, c := range []entry.Strategy{
		{Tile: entry.Tile{Rows: 1 << 20, Cols: 3, EachRows: 1, EachCols: 1, Depth: 7}}, {Tile: fastTile, Tasks: 1 << 40}, {Tile: fastTile, Items: -1}, {Flat: 1 << 30}, {Tile: fastTile},
	} {
		choices := map[string]tune.Choice{}
		for _, f := range compiled(t, d, "tuning").plan.Kernels {
			loops, err := loopsOf(f)
			if err != nil {
				t.Fatal(err)
			}
			choices[kernelWork{Kernel: f, loops: loops}.hash()] = tune.Choice{Strategy: c}
		}
		if err := d.tuned.Load().Add(context.Background(), tune.Limits{}, choices); err != nil {
			t.Fatal(err)
		}
		want := entry.GroupTile
		if c == (entry.Strategy{Tile: fastTile}) { // that it has
			want = fastTile
		}
		if tiles := tiles(compiled(t, d)); !slices.Equal(tiles, []entry.Tile{want, want}) {
			t.Errorf("%v: tiles %v", c, tiles)
		}
	}
}

// TestTuneNowhere says that there is no place for what is found.
func TestTuneNowhere(t *testing.T) {
	d := tunable(t, &simulated{}, t.TempDir())
	d.KeepTuning(nil)
	if _, err := run(t, compiled(t, d), context.Background(), &device.Tuning{}); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Errorf("%v", err)
	}
}

// TestSeconds takes the larger of what operations and bytes need.
func TestSeconds(t *testing.T) {
	l := tune.Limits{Rate: 100, Bandwidth: []tune.Bandwidth{{Bytes: 10, Rate: 50}, {Bytes: 1000, Rate: 10}}}
	for _, c := range []struct{ operations, bytes, want float64 }{{200, 0, 2}, {0, 5, 0.1}, {0, 100, 2}, {0, 2000, 200}, {1000, 20, 10}} {
		if got := seconds(l, c.operations, c.bytes); !(math.Abs(got-c.want) <= 1e-9) {
			t.Errorf("%v: %v", c, got)
		}
	}
	if got := seconds(tune.Limits{}, 1, 1); got != 0 {
		t.Errorf("of nothing known: %v", got)
	}
}
