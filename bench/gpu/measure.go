//go:build !static

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device/cuda/cu"
)

// row is one figure.
type row struct {
	Name, DType string
	Shape       []int
	Seconds     float64 // of one run, the median
	Rate        float64
	Unit        string
	Bound       float64 `json:",omitempty"` // the rate that the hardware allows
	Wrong       string  `json:",omitempty"` // what is not as it should be
	Note        string  `json:",omitempty"`
}

func (r row) String() string {
	text := fmt.Sprintf("%-22s %-5s %-22s %10.3f ms %12.1f %s", r.Name, r.DType, fmt.Sprint(r.Shape), 1e3*r.Seconds, r.Rate, r.Unit)
	if r.Bound > 0 {
		text += fmt.Sprintf("  %5.1f %% of %.0f", 100*r.Rate/r.Bound, r.Bound)
	}
	if r.Wrong != "" {
		text += "  WRONG: " + r.Wrong
	}
	if r.Note != "" {
		text += "  " + r.Note
	}
	return text
}

// bounds are what a GPU does at most: units times clock times what a unit does
// in a cycle.
type bounds struct {
	bytes float64            // a second
	flops map[string]float64 // by the format of products
}

// boundsOf takes what CUDA calls a device. It is empty for those of which that is
// not known.
func boundsOf(name string) bounds {
	api, err := cu.Load()
	if err != nil {
		return bounds{}
	}
	all, err := api.Devices()
	if err != nil {
		return bounds{}
	}
	for i, g := range all {
		if name == fmt.Sprint("cuda:", i) {
			return boundsFor(g)
		}
	}
	return bounds{}
}

func boundsFor(g *cu.Device) bounds {
	cycles := float64(g.Units) * float64(g.MHz) * 1e6
	// Dense products of f16 by capability, two operations each, of NVIDIA's
	// papers on the architectures; bytes are twice as fast. From 86 on they are
	// those of workstations: GeForce has half of them where sums are f32.
	halves := map[int]float64{75: 1024, 80: 2048, 86: 1024, 87: 1024, 89: 1024, 90: 4096, 100: 8192, 120: 1024}[g.Capability()]
	singles := map[int]float64{80: 1024, 86: 512, 89: 512, 90: 2048, 100: 4096, 120: 512}[g.Capability()] // in TF32
	b := bounds{bytes: 2 * float64(g.MemoryMHz) * 1e6 * float64(g.BusBits) / 8, flops: map[string]float64{
		"f32": 2 * 128 * cycles, "tf32": singles * cycles, "f16": halves * cycles, "bf16": halves * cycles, "int8": 2 * halves * cycles,
	}}
	if g.Capability() == 80 || g.Capability() == 75 {
		b.flops["f32"] /= 2
	}
	if g.Capability() < 80 {
		delete(b.flops, "bf16")
	}
	return b
}

// meter times programs on a device.
type meter struct {
	device *sinter.Device
	root   string // of the repository
	small  bool
	bounds bounds
	print  func(row) error
}

// size is n, or a small one.
func (m *meter) size(n, small int) int {
	if m.small {
		return small
	}
	return n
}

const (
	atLeast  = 5               // runs
	atMost   = 2 * time.Second // for all of them
	warmRuns = 2
)

// median times runs, of which each waits for the device.
func (m *meter) median(ctx context.Context, run func(ctx context.Context) error) (float64, error) {
	atMost := atMost
	if m.small {
		atMost = time.Millisecond
	}
	for range warmRuns {
		if err := run(ctx); err != nil {
			return 0, err
		}
	}
	var times []float64
	for begun := time.Now(); len(times) < atLeast && time.Since(begun) < 10*atMost || time.Since(begun) < atMost && len(times) < 1000; {
		start := time.Now()
		if err := run(ctx); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start).Seconds())
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// work is a program to time.
type work struct {
	row
	amount    float64 // units of Unit that a run does
	inputs    map[string]sinter.Tensor
	output    sinter.Tensor
	precision sinter.Precision
	check     func(ctx context.Context, inputs map[string]sinter.Tensor, out sinter.Tensor) (note string, err error) // of the last run's result, if not nil
}

// time compiles and times a program; an error is a row that says so, and the
// others go on.
func (m *meter) time(ctx context.Context, w work) error {
	seconds, note, err := m.seconds(ctx, w)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.Wrong = err.Error()
	} else {
		w.Seconds, w.Rate, w.Note = seconds, w.amount/seconds, note
	}
	return m.print(w.row)
}

func (m *meter) seconds(ctx context.Context, w work) (seconds float64, note string, err error) {
	p, err := sinter.Compile(sinter.Capture(w.output), sinter.Options{Device: m.device, Precision: w.precision})
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	ctx = sinter.WithDevice(ctx, m.device)
	inputs := map[string]sinter.Tensor{}
	for name, x := range w.inputs {
		there, err := sinter.Eval(ctx, x)
		if err != nil {
			return 0, "", err
		}
		inputs[name] = there[0]
	}
	var out []sinter.Tensor
	seconds, err = m.median(ctx, func(ctx context.Context) (err error) {
		out, err = p.Run(ctx, inputs)
		return err
	})
	if err == nil && w.check != nil {
		note, err = w.check(ctx, inputs, out[0])
	}
	return seconds, note, err
}

// random are values from 0 to 1, made on the device.
func random(dt sinter.DType, shape ...int) sinter.Tensor {
	return sinter.NewRand(sinter.Of([]uint64{1}, 1).Reshape()).Uniform(sinter.Dims(shape...)...).Cast(dt)
}
