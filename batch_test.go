package sinter_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
)

// counting is the processor under another name, which counts runs. Each takes a
// time of its own in addition, whatever its batch.
type counting struct {
	*cpu.Device
	runs *int
}

func (d counting) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	*d.runs++
	time.Sleep(10 * time.Millisecond)
	return d.Device.Submit(ctx, b)
}

func openCounting(t *testing.T, o sinter.DeviceOptions) (*sinter.Device, *int) {
	t.Helper()
	runs := new(int)
	device.Register(device.Driver{
		Name: "counting", External: true,
		List: func() ([]device.Properties, error) {
			return []device.Properties{{Description: t.Name(), Memory: 1 << 30}}, nil
		},
		Open: func(int) (device.Device, error) {
			c, err := cpu.New(cpu.Options{})
			return counting{c, runs}, err
		},
	})
	o.Unchecked = true
	d, err := sinter.OpenWith("counting", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, runs
}

// batchProgram is one that no earlier test knew, with an input "x" of batch x
// width: a row takes width*8 bytes, half of them for the result.
func batchProgram(t *testing.T, d *sinter.Device) (*sinter.Program, int, func(n int) map[string]sinter.Tensor) {
	t.Helper()
	width := 1000 + rand.IntN(1<<20)
	x := sinter.Input("x", sinter.F32, sinter.Sym("batch", 0, 1<<20), sinter.N(width))
	p, err := sinter.Compile(sinter.Capture(x.Exp()), sinter.Options{Device: d})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p, 8 * width, func(n int) map[string]sinter.Tensor {
		return map[string]sinter.Tensor{"x": sinter.Of(make([]float32, n*width), n, width)}
	}
}

func sizesOf(a *sinter.BatchAdvice) (sizes []int) {
	for _, t := range a.Tried {
		sizes = append(sizes, t.Size)
	}
	return sizes
}

// The bytes of a run bound the batch. What was found is found again without a
// run, and anew where there is room for a larger batch.
func TestRecommendBatchByMemory(t *testing.T) {
	d, runs := openCounting(t, sinter.DeviceOptions{})
	p, row, inputs := batchProgram(t, d)
	o := sinter.BatchOptions{Inputs: inputs, Memory: int64(5*row + row/2), Budget: time.Hour, KeptOnly: true}
	if a, err := p.RecommendBatch(t.Context(), o); a != nil || err != nil || *runs > 0 {
		t.Errorf("before: %+v, %v, %d runs", a, err, *runs)
	}
	o.KeptOnly = false
	a, err := p.RecommendBatch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(sizesOf(a), []int{1, 2, 4}) || a.Ended != "memory" || a.Memory != o.Memory || a.Kept || *runs < 3*2 {
		t.Errorf("%+v, %d runs", a, *runs)
	}
	for _, b := range a.Tried {
		if b.Bytes != int64(b.Size*row) || b.Time < 10*time.Millisecond {
			t.Errorf("%+v: a row is %d bytes", b, row)
		}
	}
	*runs = 0
	for _, c := range []struct {
		memory int64
		want   []int
	}{{o.Memory, []int{1, 2, 4}}, {o.Memory + 1, []int{1, 2, 4}}, {int64(3 * row), []int{1, 2}}, {int64(row), []int{1}}} {
		o.Memory = c.memory
		a, err := p.RecommendBatch(t.Context(), o)
		if err != nil || !a.Kept || *runs > 0 || !reflect.DeepEqual(sizesOf(a), c.want) || a.Memory != o.Memory || a.Size > c.want[len(c.want)-1] {
			t.Errorf("%d bytes: %+v, %v, %d runs", c.memory, a, err, *runs)
		}
	}
	o.Memory, o.Again = int64(3*row), true
	if a, err := p.RecommendBatch(t.Context(), o); err != nil || a.Kept || *runs == 0 || !reflect.DeepEqual(sizesOf(a), []int{1, 2}) {
		t.Errorf("again: %+v, %v, %d runs", a, err, *runs)
	}
	o.Memory, o.Again = int64(8*row), false
	if a, err := p.RecommendBatch(t.Context(), o); err != nil || a.Kept || !reflect.DeepEqual(sizesOf(a), []int{1, 2, 4, 8}) {
		t.Errorf("with more memory: %+v, %v", a, err)
	}
	o.Memory = int64(row - 1)
	var full *sinter.OutOfMemoryError
	if _, err := p.RecommendBatch(t.Context(), o); !errors.As(err, &full) || full.Size != int64(row) {
		t.Errorf("a batch of 1 does not fit: %v", err)
	}
}

// Without a bound it is the device's limit, or what it has free, less weights
// that it would have to copy.
func TestRecommendBatchRoom(t *testing.T) {
	const limit = 64 << 20
	d, _ := openCounting(t, sinter.DeviceOptions{MemoryLimit: limit})
	p, _, inputs := batchProgram(t, d)
	if a, err := p.RecommendBatch(t.Context(), sinter.BatchOptions{Inputs: inputs, Most: 1}); err != nil || a.Memory != limit || a.Ended != "most" || a.Size != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	d, _ = openCounting(t, sinter.DeviceOptions{})
	w := sinter.Weight("w", sinter.F32, make([]byte, 4<<20), 1<<20)
	x := sinter.Input("x", sinter.F32, sinter.Sym("batch", 0, 64), sinter.N(1))
	p, err := sinter.Compile(sinter.Capture(x.Add(w).Sum(1)), sinter.Options{Device: d})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	column := func(n int) map[string]sinter.Tensor {
		return map[string]sinter.Tensor{"x": sinter.Of(make([]float32, n), n, 1)}
	}
	a, err := p.RecommendBatch(t.Context(), sinter.BatchOptions{Inputs: column, Most: 3})
	if want := int64(1<<30/4*3 - 4<<20); err != nil || a.Memory != want || !reflect.DeepEqual(sizesOf(a), []int{1, 2}) {
		t.Errorf("%+v, %v, want %d bytes", a, err, want)
	}
}

func TestRecommendBatchErrors(t *testing.T) {
	d, runs := openCounting(t, sinter.DeviceOptions{})
	p, row, inputs := batchProgram(t, d)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	v := sinter.NewVariable("v", sinter.Zeros(sinter.F32, sinter.N(2)))
	step, err := sinter.Compile(sinter.Capture(v.Assign(v.Tensor().Add(sinter.Input("x", sinter.F32, sinter.N(2))))), sinter.Options{Device: d})
	if err != nil {
		t.Fatal(err)
	}
	defer step.Close()
	for what, c := range map[string]struct {
		p    *sinter.Program
		ctx  context.Context
		o    sinter.BatchOptions
		want string
	}{
		"no inputs":     {p, t.Context(), sinter.BatchOptions{}, "BatchOptions.Inputs is nil"},
		"no context":    {p, nil, sinter.BatchOptions{Inputs: inputs}, "context"},
		"cancelled":     {p, cancelled, sinter.BatchOptions{Inputs: inputs}, "canceled"},
		"both":          {p, t.Context(), sinter.BatchOptions{Inputs: inputs, KeptOnly: true, Again: true}, "set one"},
		"negative":      {p, t.Context(), sinter.BatchOptions{Inputs: inputs, Most: -1}, "and at most -1"},
		"zero program":  {&sinter.Program{}, t.Context(), sinter.BatchOptions{Inputs: inputs}, "zero Program"},
		"assigns":       {step, t.Context(), sinter.BatchOptions{Inputs: inputs}, `assigns variable "v"`},
		"missing input": {p, t.Context(), sinter.BatchOptions{Inputs: func(int) map[string]sinter.Tensor { return nil }}, `input "x" is missing`},
	} {
		if a, err := c.p.RecommendBatch(c.ctx, c.o); a != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", what, a, err)
		}
	}
	if *runs > 0 {
		t.Errorf("%d runs", *runs)
	}
	// Inputs of other sizes each time.
	calls := 0
	grow := func(int) map[string]sinter.Tensor { calls++; return inputs(calls) }
	var full *sinter.OutOfMemoryError
	if a, err := p.RecommendBatch(t.Context(), sinter.BatchOptions{Inputs: grow, Memory: int64(row) + 1, Again: true}); a != nil || !errors.As(err, &full) {
		t.Errorf("inputs that grow: %+v, %v", a, err)
	}
}

// Batches up to Least are tried whatever they bring, and what was kept of a search
// that ended earlier does not do.
func TestRecommendBatchLeast(t *testing.T) {
	d, runs := openCounting(t, sinter.DeviceOptions{})
	p, _, inputs := batchProgram(t, d)
	o := sinter.BatchOptions{Inputs: inputs, Most: 2, Budget: time.Hour}
	for _, c := range []struct {
		least, most int
		want        []int
		kept        bool
	}{{0, 2, []int{1, 2}, false}, {8, 8, []int{1, 2, 4, 8}, false}, {8, 8, []int{1, 2, 4, 8}, true}, {4, 4, []int{1, 2, 4}, true}} {
		*runs, o.Least, o.Most = 0, c.least, c.most
		a, err := p.RecommendBatch(t.Context(), o)
		if err != nil || !reflect.DeepEqual(sizesOf(a), c.want) || a.Kept != c.kept || (*runs == 0) != c.kept || a.Ended != "most" {
			t.Errorf("%+v: %+v, %v, %d runs", c, a, err, *runs)
		}
	}
}

// making takes its time for programs that read nothing, as those of inputs.
type making struct{ *cpu.Device }

const makingTime = 120 * time.Millisecond

func (d making) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	if len(b.Leaves) == 0 {
		time.Sleep(makingTime)
	}
	return d.Device.Submit(ctx, b)
}

// What inputs are computed by is no part of a run's time, whatever the batch.
func TestRecommendBatchInputsApart(t *testing.T) {
	device.Register(device.Driver{
		Name: "making", External: true,
		List: func() ([]device.Properties, error) { return []device.Properties{{Description: t.Name()}}, nil },
		Open: func(int) (device.Device, error) {
			c, err := cpu.New(cpu.Options{})
			return making{c}, err
		},
	})
	d, err := sinter.OpenWith("making", sinter.DeviceOptions{Unchecked: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p, row, _ := batchProgram(t, d)
	a, err := p.RecommendBatch(t.Context(), sinter.BatchOptions{Inputs: func(n int) map[string]sinter.Tensor {
		return map[string]sinter.Tensor{"x": sinter.Ones(sinter.F32, sinter.N(n), sinter.N(row/8)).Exp()}
	}, Most: 2, Budget: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range a.Tried {
		if b.Time >= makingTime/2 {
			t.Errorf("a run of %d takes %v", b.Size, b.Time)
		}
	}
}

// What a program gives back as it got it stays the caller's.
func TestRecommendBatchReleasesItsOwn(t *testing.T) {
	d, _ := openCounting(t, sinter.DeviceOptions{})
	const width = 5
	made, err := sinter.Eval(sinter.WithDevice(t.Context(), d), sinter.Ones(sinter.F32, sinter.N(1), sinter.N(width)).Exp(), sinter.Ones(sinter.F32, sinter.N(width)).Exp())
	if err != nil {
		t.Fatal(err)
	}
	x := sinter.Input("x", sinter.F32, sinter.Sym("batch", 0, 1), sinter.N(width))
	p, err := sinter.Compile(sinter.Capture(x, made[1], x.Add(made[1])), sinter.Options{Device: d})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	in := map[string]sinter.Tensor{"x": made[0]}
	o := sinter.BatchOptions{Inputs: func(int) map[string]sinter.Tensor { return in }, Most: 1, Again: true}
	if _, err := p.RecommendBatch(t.Context(), o); err != nil {
		t.Error(err)
	}
	if _, err := p.Run(t.Context(), in); err != nil {
		t.Error(err)
	}
}

func ExampleProgram_RecommendBatch() {
	x := sinter.Input("x", sinter.F32, sinter.Sym("batch", 0, 1<<16), sinter.N(64))
	p, _ := sinter.Compile(sinter.Capture(x.Softmax(-1)), sinter.Options{})
	defer p.Close()
	advice, err := p.RecommendBatch(context.Background(), sinter.BatchOptions{
		Inputs: func(n int) map[string]sinter.Tensor {
			return map[string]sinter.Tensor{"x": sinter.Ones(sinter.F32, sinter.Dims(n, 64)...)}
		},
		Most: 256,
	})
	first := advice.Tried[0]
	fmt.Println(first.Size, first.Bytes >= 2*4*64, advice.Size <= 256, err)
	// Output: 1 true true <nil>
}
