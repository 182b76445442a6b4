package launch

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// recorded is what a run was said to take.
type recorded struct {
	runs   [][]device.KernelRun
	module device.Module
}

func (r *recorded) Record(m device.Module, kernels []device.KernelRun) {
	r.module = m
	r.runs = append(r.runs, kernels)
}

// Times of the simulated device: of a product, of a kernel of loops, and of starting
// a recording.
const (
	productTakes, loopsTake, startTakes = 3 * time.Millisecond, 700 * time.Microsecond, 50 * time.Microsecond
)

// timedDevice has kernels that take these times, but for those by which it is
// measured.
func timedDevice(t *testing.T, s *simulated, b Backend) *Device {
	t.Helper()
	s.starts = startTakes
	s.slow = func(k *entry.Kernel) time.Duration {
		switch {
		case k.Gemm != nil:
			return productTakes
		case strings.Contains(k.Work.Name, "reduce") || strings.Contains(k.Work.Name, "sum"):
			return loopsTake
		}
		return 0
	}
	d, err := New(b, Options{Kind: "simulated", Shape: gpuShape})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil || s.open != 0 || len(s.faults) > 0 {
			t.Errorf("%v, %d things are not given back, %v", err, s.open, s.faults)
		}
	})
	return d
}

// ticking is a simulated device whose driver has a clock.
type ticking struct {
	*simulated
	epoch time.Duration                     // of the clock
	rate  func(time.Duration) time.Duration // nil: it is right
	err   error
	asked int
}

type tickingProgram struct {
	Program
	of *ticking
}

type tickingRecording struct {
	*simulatedRecording
	of *ticking
}

func (x *ticking) Build(c *Code) (Program, error) {
	p, err := x.simulated.Build(c)
	return tickingProgram{p, x}, err
}

func (p tickingProgram) Record(l []Launch) (Recording, error) {
	r, err := p.Program.Record(l)
	return tickingRecording{r.(*simulatedRecording), p.of}, err
}

func (r tickingRecording) RunTimed(spans []Span) error {
	x := r.of
	x.asked++
	if x.err != nil {
		return x.err
	}
	time.Sleep(x.starts)
	start := time.Now()
	now := func() time.Duration {
		if since := x.epoch + time.Since(start); x.rate == nil {
			return since
		} else {
			return x.rate(since)
		}
	}
	for i, l := range r.launches {
		spans[i].Begin = now()
		if err := r.run(l, r.args[i]); err != nil {
			return err
		}
		time.Sleep(time.Microsecond) // even next to nothing takes this
		spans[i].End = now()
	}
	return nil
}

// profiled runs the program of two products with a recorder, and compares its
// results with those of a plain run. It gives what was recorded.
func profiled(t *testing.T, d *Device, times int) *recorded {
	t.Helper()
	m := compiled(t, d)
	want, err := run(t, m, context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorded{}
	for range times {
		got, err := runRecorded(t, m, context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Error("a run that is timed has other results")
		}
	}
	if r.module != m || len(r.runs) != times {
		t.Fatalf("%d runs were recorded, want %d, of this module: %v", len(r.runs), times, r.module == m)
	}
	if got, err := run(t, m, context.Background(), nil); err != nil || !bytes.Equal(got, want) || len(r.runs) != times {
		t.Errorf("a run behind those: %v, %d are recorded", err, len(r.runs))
	}
	return r
}

// takes are the times that kernels of the program have.
func takes(k device.KernelRun) time.Duration {
	if k.Products > 0 {
		return productTakes
	}
	return loopsTake
}

// TestProfileByHost times kernel by kernel, less what it takes to start one.
func TestProfileByHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulated{}
		r := profiled(t, timedDevice(t, s, s), 2)
		for _, kernels := range r.runs {
			if len(kernels) != 3 {
				t.Fatalf("%d kernels", len(kernels))
			}
			for i, k := range kernels {
				if got := k.End.Sub(k.Start); got != takes(k) || !k.Apart || k.Number != i || k.Tasks < 1 || k.Name == "" {
					t.Errorf("%v of %v: %+v", got, takes(k), k)
				}
				if i > 0 && k.Start.Sub(kernels[i-1].End) != startTakes {
					t.Errorf("kernel %d begins %v behind that before it", i, k.Start.Sub(kernels[i-1].End))
				}
			}
			if k := kernels[0]; k.Products != 2*size*size*size || k.Read != 4*size*size || k.Written != 4*size*size || k.Format != "f32" {
				t.Errorf("a product does %+v", k)
			}
		}
	})
}

// TestProfileByDriver has the driver's times, whenever its clock began.
func TestProfileByDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulated{}
		x := &ticking{simulated: s, epoch: 1000 * time.Hour}
		r := profiled(t, timedDevice(t, s, x), 2)
		for _, kernels := range r.runs {
			for i, k := range kernels {
				if got := k.End.Sub(k.Start); got != takes(k)+time.Microsecond || k.Apart {
					t.Errorf("%v of %v: %+v", got, takes(k), k)
				}
				if i > 0 && !k.Start.Equal(kernels[i-1].End) {
					t.Errorf("kernel %d begins at %v, that before it ends at %v", i, k.Start, kernels[i-1].End)
				}
			}
			if age := time.Since(kernels[0].Start); age < 0 || age > time.Second {
				t.Errorf("the run began %v ago", age)
			}
		}
	})
}

// TestProfileByClocksThatAreWrong leaves clocks alone that cannot be right.
func TestProfileByClocksThatAreWrong(t *testing.T) {
	for name, x := range map[string]*ticking{
		"none":              {err: errors.New("CL_PROFILING_INFO_NOT_AVAILABLE")},
		"stands still":      {rate: func(time.Duration) time.Duration { return 0 }},
		"runs backwards":    {rate: func(d time.Duration) time.Duration { return -d }},
		"in ticks of 10 ns": {rate: func(d time.Duration) time.Duration { return d * 100 }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x.simulated = &simulated{}
				r := profiled(t, timedDevice(t, x.simulated, x), 2)
				for _, k := range slices.Concat(r.runs...) {
					if got := k.End.Sub(k.Start); got != takes(k) || !k.Apart {
						t.Errorf("%v of %v: %+v", got, takes(k), k)
					}
				}
				if x.asked != 1 {
					t.Errorf("the driver was asked %d times for what it does not know", x.asked)
				}
			})
		})
	}
}

// What is refused, or goes wrong, is not recorded, and leaves variables as a plain
// run does.
func TestProfileFailsInPlace(t *testing.T) {
	graph := ""
	for _, c := range suite.InPlace {
		if strings.Contains(c.Name, "after an index that may be wrong") {
			graph = c.Graph
		}
	}
	for _, c := range []struct {
		after      int // kernels that run well
		err        error
		lost, full bool
	}{
		{0, errFailed, false, false}, {1, errFailed, true, false}, {0, lackingError{}, false, true}, {1, lackingError{}, false, true},
		{1, Begun(lackingError{}), true, false},
	} {
		f := &failing{after: 1 << 20, err: c.err}
		d, err := New(f, Options{Kind: "simulated", Shape: gpuShape})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if _, err := d.clock(t.Context()); err != nil { // which runs some kernels of its own
			t.Fatal(err)
		}
		f.after = c.after
		b, _ := stepOf(t, d, graph, true)
		r := &recorded{}
		b.Record = r
		before := contents(t, b.Leaves[0])
		err = submit(d, b)
		if !errors.Is(err, c.err) || strings.Contains(err.Error(), "whose values are lost") != c.lost || len(r.runs) != 0 {
			t.Errorf("after %d kernels: %v, %d runs are recorded", c.after, err, len(r.runs))
		}
		if _, full := errors.AsType[*device.OutOfMemoryError](err); full != c.full {
			t.Errorf("after %d kernels: %v is one of memory: %v", c.after, err, full)
		}
		if !bytes.Equal(before, contents(t, b.Leaves[0])) {
			t.Error("the variable has changed")
		}
	}
}

// Two variables that are written one after the other are lost once the first is,
// whatever the second lacks.
func TestProfileLosesTheSecond(t *testing.T) {
	const graph = `
leaf 0 variable "v" f32[300]
leaf 1 variable "w" f32[500]
%0 = variable : f32[300]
%1 = variable leaf=1 : f32[500]
%2 = mul %0 %0 : f32[300]
%3 = mul %1 %1 : f32[500]
%4 = assign %0 %2 : f32[300]
%5 = assign %1 %3 leaf=1 : f32[500]
return %4 %5`
	for after, lost := range []bool{false, true} {
		f := &failing{after: 1 << 20, err: lackingError{}}
		d, err := New(f, Options{Kind: "simulated", Shape: gpuShape})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if _, err := d.clock(t.Context()); err != nil {
			t.Fatal(err)
		}
		b, _ := stepOf(t, d, graph, true)
		b.Record = &recorded{}
		f.after = after
		err = submit(d, b)
		_, full := errors.AsType[*device.OutOfMemoryError](err)
		if err == nil || strings.Contains(err.Error(), "whose values are lost") != lost || full == lost {
			t.Errorf("after %d kernels: %v", after, err)
		}
	}
}

// An index that is wrong, which the second kernel finds, is an error before the
// variable is written.
func TestProfileFindsWrongIndex(t *testing.T) {
	d, err := New(&simulated{}, Options{Kind: "simulated", Shape: gpuShape})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b, _ := stepOf(t, d, `
leaf 0 variable "v" f32[40 40]
leaf 1 input "w" f32[40 40]
leaf 2 input "i" i32[40 40]
%0 = variable : f32[40 40]
%1 = input leaf=2 : i32[40 40]
%2 = input leaf=1 : f32[40 40]
%3 = matmul %2 %2 : f32[40 40]
%4 = gather %3 %1 axes=[0] : f32[40 40]
%5 = contiguous %4 : f32[40 40]
%6 = matmul %5 %2 : f32[40 40]
%7 = sub %0 %6 : f32[40 40]
%8 = assign %0 %7 : f32[40 40]
return %8`, true)
	r := &recorded{}
	b.Record = r
	if err := submit(d, b); err != nil || len(r.runs) != 1 || len(r.runs[0]) < 3 || !b.Module.Info().InPlace[0] {
		t.Fatalf("%v, recorded %v", err, r.runs)
	}
	before := contents(t, b.Leaves[0])
	index := b.Leaves[2].(*buffer)
	if err := d.backend.Write(index.mem, 4*17, []byte{0, 0, 1, 0}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the words are cleared
		err := submit(d, b)
		if wrong, ok := errors.AsType[*device.IndexError](err); !ok || wrong.Index != 1<<16 || wrong.At != 17 {
			t.Errorf("%v", err)
		}
	}
	if len(r.runs) != 1 || !bytes.Equal(before, contents(t, b.Leaves[0])) {
		t.Error("a run with a wrong index is recorded, or has written the variable")
	}
	if err := d.backend.Write(index.mem, 4*17, []byte{0, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if err := submit(d, b); err != nil || len(r.runs) != 2 || bytes.Equal(before, contents(t, b.Leaves[0])) {
		t.Errorf("afterwards: %v", err)
	}
}

// The programs of the suite that write over variables do so as in plain runs.
func TestProfileInPlace(t *testing.T) {
	for _, c := range suite.InPlace {
		if strings.Contains(c.Name, "long product") {
			continue // which takes this device a minute
		}
		d, err := New(&simulated{}, Options{Kind: "simulated", Shape: gpuShape})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		plain, _ := stepOf(t, d, c.Graph, true)
		timed, _ := stepOf(t, d, c.Graph, true)
		r := &recorded{}
		timed.Record = r
		if err := errors.Join(submit(d, plain), submit(d, timed)); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if len(r.runs) != 1 || len(r.runs[0]) != timed.Module.Info().Kernels {
			t.Errorf("%s: recorded %v", c.Name, r.runs)
		}
		for i := range plain.Outputs {
			if !bytes.Equal(contents(t, plain.Outputs[i]), contents(t, timed.Outputs[i])) {
				t.Errorf("%s: output %d is another in a run that is timed", c.Name, i)
			}
		}
	}
}

// TestProfileInterrupted ends before anything runs, and the next run is as ever.
func TestProfileInterrupted(t *testing.T) {
	s := &simulated{}
	d := timedDevice(t, s, s)
	m := compiled(t, d)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := &recorded{}
	if _, err := runRecorded(t, m, ctx, r); !errors.Is(err, context.Canceled) || len(r.runs) != 0 {
		t.Errorf("%v, %d runs are recorded", err, len(r.runs))
	}
	if _, err := runRecorded(t, m, context.Background(), r); err != nil || len(r.runs) != 1 {
		t.Errorf("%v, %d runs are recorded", err, len(r.runs))
	}
}

// TestBelievable knows times that launches can have run at.
func TestBelievable(t *testing.T) {
	for _, c := range []struct {
		spans []Span
		took  time.Duration
		want  bool
	}{
		{nil, 1, false}, {[]Span{{5, 5}}, 9, false}, {[]Span{{5, 9}}, 4, true}, {[]Span{{5, 9}}, 3, false}, {[]Span{{9, 5}}, 9, false},
		{[]Span{{5, 9}, {9, 12}}, 9, true}, {[]Span{{5, 9}, {8, 12}}, 9, false}, {[]Span{{5, 9}, {20, 22}}, 9, false},
	} {
		if got := believable(c.spans, c.took); got != c.want {
			t.Errorf("%v in %v: %v", c.spans, c.took, got)
		}
	}
}
