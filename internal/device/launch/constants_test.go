package launch_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/toy"
	"github.com/sinterml/sinter/internal/ir"
)

// scaledGraph multiplies rows by a weight whose columns are divided by their
// greatest values and rounded, and those by the sum over all columns.
const scaledGraph = `graph
symbol n 1 64
leaf 0 input "x" f32[n 64]
leaf 1 weight "w" f32[64 48]
%0 = input : f32[n 64]
%1 = weight leaf=1 : f32[64 48]
%2 = reducemax %1 axes=[0] : f32[1 48]
%3 = expand %2 : f32[64 48]
%4 = div %1 %3 : f32[64 48]
%5 = cast %4 : bf16[64 48]
%6 = cast %5 : f32[64 48]
%7 = matmul %0 %6 : f32[n 48]
%8 = sum %2 axes=[1] : f32[1 1]
%9 = expand %8 : f32[n 48]
%10 = mul %7 %9 : f32[n 48]
`

// Bytes of the weight, and of what is kept of it: what was divided, in bf16, and
// the maxima's sum.
const (
	weightBytes = 4 * 64 * 48
	keptBytes   = 2*64*48 + 4
)

// startedOnce is how many kernels compute that: the maxima are not kept, and
// computed for each of the two.
const startedOnce = 3

// roundedGraph multiplies rows by a weight in bf16.
const roundedGraph = `graph
symbol n 1 64
leaf 0 input "x" f32[n 64]
leaf 1 weight "w" f32[64 48]
%0 = input : f32[n 64]
%1 = weight leaf=1 : f32[64 48]
%2 = cast %1 : bf16[64 48]
%3 = cast %2 : f32[64 48]
%4 = matmul %0 %3 : f32[n 48]
return %4
`

// roundedTwiceGraph multiplies rows by two weights in bf16, the second doubled, as
// the tests bind them to one buffer.
const roundedTwiceGraph = `graph
symbol n 1 64
leaf 0 input "x" f32[n 64]
leaf 1 weight "w" f32[64 48]
leaf 2 weight "v" f32[48 64]
%0 = input : f32[n 64]
%1 = weight leaf=1 : f32[64 48]
%2 = cast %1 : bf16[64 48]
%3 = cast %2 : f32[64 48]
%4 = matmul %0 %3 : f32[n 48]
%5 = weight leaf=2 : f32[48 64]
%6 = add %5 %5 : f32[48 64]
%7 = cast %6 : bf16[48 64]
%8 = cast %7 : f32[48 64]
%9 = matmul %4 %8 : f32[n 64]
return %9
`

// scaled is a program with a weight, on a device that counts.
type scaledProgram struct {
	*launch.Device
	graph  *ir.Graph
	module device.Module
}

func compileScaled(t *testing.T, d *launch.Device, text string, off ...string) *scaledProgram {
	t.Helper()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.CompileGraph(context.Background(), g, device.Options{Check: true, NoOpt: off})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return &scaledProgram{d, g, m}
}

// run gives the results for n rows of x.
func (p *scaledProgram) run(ctx context.Context, weight device.Buffer, n int) (all [][]byte, err error) {
	b := &device.Bound{Module: p.module, Env: ir.Env{"n": n}}
	defer func() {
		for _, buf := range append(b.Outputs, b.Leaves...) {
			if buf != weight {
				err = errors.Join(err, buf.Close())
			}
		}
	}()
	for _, l := range p.graph.Leaves {
		if l.Kind == ir.Weight {
			b.Leaves = append(b.Leaves, weight)
			continue
		}
		x, err := p.Import(numbers(n*64, 3))
		if err != nil {
			return nil, err
		}
		b.Leaves = append(b.Leaves, x)
	}
	for _, o := range p.graph.Outputs {
		elements, err := o.Shape.Numel().Eval(b.Env)
		if err != nil {
			return nil, err
		}
		out, err := p.Alloc(4 * elements)
		if err != nil {
			return nil, err
		}
		b.Outputs = append(b.Outputs, out)
	}
	e, err := p.Submit(ctx, b)
	if err == nil {
		err = e.Wait(ctx)
	}
	for _, out := range b.Outputs {
		if err == nil {
			data := make([]byte, out.Size())
			err = p.Copy(ctx, compile.HostBytes(data), out)
			all = append(all, data)
		}
	}
	return all, err
}

// numbers are n different ones, none of them 0.
func numbers(n, seed int) []byte {
	data := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32((i+seed)*7919%n)/8-3.0625))
	}
	return data
}

func weightOf(t *testing.T, d *launch.Device, seed int) device.Buffer {
	t.Helper()
	w := alloc(t, d, weightBytes)
	setWeight(t, d, w, seed)
	return w
}

func setWeight(t *testing.T, d *launch.Device, w device.Buffer, seed int) {
	t.Helper()
	if err := d.Copy(context.Background(), w, compile.HostBytes(numbers(weightBytes/4, seed))); err != nil {
		t.Fatal(err)
	}
}

// judge knows what a program of the scaled product gives that keeps nothing.
type judge struct{ plain *scaledProgram }

func newJudge(t *testing.T, text string) judge {
	return judge{compileScaled(t, open(t, toy.Backend(0), toy.Options()), text, "constants")}
}

func (j judge) check(t *testing.T, p *scaledProgram, w device.Buffer, seed, n int) {
	t.Helper()
	got, err := p.run(context.Background(), w, n)
	if err != nil {
		t.Error(err)
		return
	}
	own, err := j.plain.Import(numbers(weightBytes/4, seed))
	if err != nil {
		t.Error(err)
		return
	}
	defer own.Close()
	want, err := j.plain.run(context.Background(), own, n)
	if err != nil {
		t.Error(err)
		return
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("output %d of %d rows has other bits than where nothing is kept", i, n)
		}
	}
}

// What depends on a weight alone runs once, for all sizes and all programs that
// compute it, again when the weight has other values, and goes with it. It counts
// as cached.
func TestConstantsOnce(t *testing.T) {
	c := &tally{Backend: toy.Backend(0)}
	d := open(t, c, toy.Options())
	j := newJudge(t, scaledGraph+"return %10")
	first := compileScaled(t, d, scaledGraph+"return %10")
	const each, once = 1, startedOnce
	if i := first.module.Info(); i.Kernels != each || i.Constant != 2 {
		t.Errorf("%d kernels each run and %d once, want 1 and 2", i.Kernels, i.Constant)
	}
	w := weightOf(t, d, 1)
	ran := func(want int, after string) {
		t.Helper()
		if n := c.kernels.Swap(0); n != int64(want) {
			t.Errorf("%d kernels ran, want %d: %s", n, want, after)
		}
	}
	for n := range 10 {
		j.check(t, first, w, 1, n+1)
	}
	ran(10*each+once, "10 runs")
	kept := d.Stats()
	if kept.Allocated != weightBytes || kept.Cached < keptBytes {
		t.Errorf("%+v: want the weight, and cached what is kept of it", kept)
	}
	second := compileScaled(t, d, scaledGraph+"return %7 %10")
	for n := range 3 {
		newJudge(t, scaledGraph+"return %7 %10").check(t, second, w, 1, n+1)
	}
	ran(3*second.module.Info().Kernels, "3 runs of another program")

	setWeight(t, d, w, 2)
	if s := d.Stats(); s.Cached > kept.Cached-keptBytes {
		t.Errorf("%+v: what was kept of other values is still there, it was %+v", s, kept)
	}
	j.check(t, first, w, 2, 4)
	j.check(t, first, w, 2, 4)
	ran(2*each+once, "2 runs with other values")

	other := weightOf(t, d, 3)
	j.check(t, first, other, 3, 4)
	ran(each+once, "a run with another weight")
	if err := errors.Join(w.Close(), other.Close()); err != nil {
		t.Error(err)
	}
	if err := errors.Join(first.module.Close(), second.module.Close()); err != nil {
		t.Error(err)
	}
	if s := d.Stats(); s.Allocated != 0 || s.Cached != 0 || c.blocks.Load() != 1 {
		t.Errorf("%+v and %d blocks are left of freed weights", s, c.blocks.Load())
	}
}

// What is kept is given back when somebody asks for it, and made again.
func TestConstantsTrimmed(t *testing.T) {
	c := &tally{Backend: toy.Backend(0)}
	d := open(t, c, toy.Options())
	j := newJudge(t, scaledGraph+"return %10")
	p, w := compileScaled(t, d, scaledGraph+"return %10"), weightOf(t, d, 1)
	for range 3 {
		j.check(t, p, w, 1, 5)
		if err := d.TrimMemory(); err != nil {
			t.Fatal(err)
		}
		if s := d.Stats(); s.Allocated != weightBytes || s.Cached != 0 {
			t.Errorf("trimmed: %+v", s)
		}
	}
	if n := c.kernels.Load(); n != 3*(1+startedOnce) {
		t.Errorf("%d kernels in 3 runs, each trimmed", n)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// Many first runs at once compute once, while others take away what is kept, which
// runs have until they end.
func TestConstantsTogether(t *testing.T) {
	c := &tally{Backend: toy.Backend(0)}
	d := open(t, c, toy.Options())
	j := newJudge(t, scaledGraph+"return %10")
	programs := []*scaledProgram{compileScaled(t, d, scaledGraph+"return %10"), compileScaled(t, d, scaledGraph+"return %7 %10")}
	judges := []judge{j, newJudge(t, scaledGraph+"return %7 %10")}
	w := weightOf(t, d, 1)
	var wait sync.WaitGroup
	rounds := func() {
		for i := range 40 {
			wait.Go(func() { judges[i%2].check(t, programs[i%2], w, 1, 1+i%5) })
		}
	}
	rounds()
	wait.Wait()
	each := 20 * (programs[0].module.Info().Kernels + programs[1].module.Info().Kernels)
	if n := int(c.kernels.Load()); n != each+startedOnce {
		t.Errorf("%d kernels ran, want %d each time and %d once", n, each, startedOnce)
	}
	rounds()
	for range 50 {
		if err := d.TrimMemory(); err != nil {
			t.Error(err)
		}
	}
	wait.Wait()
	if err := errors.Join(w.Close(), d.TrimMemory()); err != nil {
		t.Error(err)
	}
	if s := d.Stats(); s.Allocated != 0 || s.Cached != 0 || c.blocks.Load() != 1 {
		t.Errorf("%+v and %d blocks are left", s, c.blocks.Load())
	}
}

// Where there is no room for what is kept a run computes it as it goes, and later
// ones look for room again.
func TestConstantsWithoutRoom(t *testing.T) {
	for _, driver := range []bool{false, true} {
		c := &tally{Backend: toy.Backend(0)}
		// The weight, one of the two in bf16, an input and an output, but not both.
		const room = weightBytes + weightBytes/2 + weightBytes/4
		if driver {
			c.Backend = toy.Backend(room)
		}
		d := open(t, c, toy.Options())
		if !driver {
			d.SetMemoryLimit(room)
		}
		j := newJudge(t, roundedTwiceGraph)
		p, w := compileScaled(t, d, roundedTwiceGraph), weightOf(t, d, 1)
		for range 3 {
			j.check(t, p, w, 1, 2)
		}
		if s := d.Stats(); s.Allocated != weightBytes || s.Cached >= weightBytes {
			t.Errorf("by the driver %v: %+v", driver, s)
		}
		var full *device.OutOfMemoryError
		if _, err := d.Alloc(room); !errors.As(err, &full) {
			t.Errorf("beyond the room: %v", err)
		}
		if !driver {
			d.SetMemoryLimit(0)
			for range 80 {
				j.check(t, p, w, 1, 2)
			}
			if s := d.Stats(); s.Cached < weightBytes {
				t.Errorf("with room nothing is kept: %+v", s)
			}
			d.SetMemoryLimit(weightBytes + 100)
			if _, err := p.run(context.Background(), w, 60); !errors.As(err, &full) || !strings.Contains(err.Error(), "raise the limit") {
				t.Errorf("where nothing helps: %v", err)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A device that is closed has given back what it kept; weights are closed later.
func TestConstantsOfClosedDevice(t *testing.T) {
	c := &tally{Backend: toy.Backend(0)}
	d, err := launch.New(c, toy.Options())
	if err != nil {
		t.Fatal(err)
	}
	p, w := compileScaled(t, d, scaledGraph+"return %10"), weightOf(t, d, 1)
	if _, err := p.run(context.Background(), w, 2); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.module.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	if n := c.blocks.Load(); n != 1 {
		t.Errorf("%d blocks, want that of the weight", n)
	}
	if err := w.Close(); err != nil || c.blocks.Load() != 0 {
		t.Errorf("closing the weight: %v, %d blocks", err, c.blocks.Load())
	}
}

// Errors that weights cause are those of each run.
func TestConstantErrors(t *testing.T) {
	const text = `graph
symbol n 1 64
leaf 0 input "x" i32[n 64]
leaf 1 weight "w" i32[64 48]
%0 = input : i32[n 64]
%1 = weight leaf=1 : i32[64 48]
%2 = idiv %1 %1 : i32[64 48]
%3 = sum %2 axes=[1] : i32[64 1]
%4 = reshape %3 : i32[1 64]
%5 = expand %4 : i32[n 64]
%6 = add %0 %5 : i32[n 64]
return %6
`
	d := open(t, toy.Backend(0), toy.Options())
	p, w := compileScaled(t, d, text), alloc(t, d, weightBytes)
	if p.module.Info().Constant == 0 {
		t.Error("nothing is kept")
	}
	set := func(b byte) {
		if err := d.Copy(context.Background(), w, compile.HostBytes(slices.Repeat([]byte{b}, weightBytes))); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		set(0)
		for range 2 {
			var division *device.DivisionError
			if _, err := p.run(context.Background(), w, 2); !errors.As(err, &division) {
				t.Errorf("division by a weight of 0 ends with %v", err)
			}
		}
		set(1)
		if _, err := p.run(context.Background(), w, 2); err != nil {
			t.Error(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if s := d.Stats(); s.Allocated != 0 {
		t.Errorf("%+v", s)
	}
}
