package sinter

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/sinterml/sinter/internal/device"
)

// Profile collects how long each kernel takes, in all runs whose context comes
// from WithProfile. The zero value is ready; it may collect from many
// goroutines. Meanwhile CPU profiles of the process carry the labels "kernel"
// and "number" for kernels of the cpu. Behind each run
// it is counted what its kernels had to do, which takes longer than a small run.
type Profile struct {
	mu      sync.Mutex
	modules []device.Module
	runs    []profiledRun
}

type profiledRun struct {
	program int // position in modules
	kernels []device.KernelRun
}

// KernelProfile is one kernel of a program in all the runs of a profile.
type KernelProfile struct {
	Program int    // numbered in the order of their first runs
	Number  int    // in the program's plan
	Name    string // of the operations it does
	Runs    int
	Time    time.Duration // of all runs
	// Apart: the driver of the device has no clock, so that each kernel was started
	// by itself and timed by the host, less the least that this takes. The time of
	// one that takes a few microseconds is then of little worth.
	Apart bool
	// What all runs could not do without, zero where that is not known:
	// Products are the multiplications and additions of matrix products, on
	// numbers of Format (f32, tf32, bf16, f16 or int8), Operations those and others of
	// the work around them, a multiply-add being two.
	Products, Operations float64
	Format               string
	Read, Written        float64 // bytes
}

type profileKey struct{}

// ErrNoClock is the error of runs under WithProfile on a device that cannot time
// kernels: the referee, "interp". All others can.
var ErrNoClock = errors.New("the device has no clock for kernels")

// WithProfile has p collect the runs of programs under the context. What is
// computed once for the weights of a program is no part of a run. Kernels of a GPU
// are timed by its own clock, or started one by one: such a run may take longer.
// A run under WithTuning is an error.
func WithProfile(ctx context.Context, p *Profile) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithValue(ctx, profileKey{}, p)
}

// recorderFrom is the profile of the context, nil if there is none.
func recorderFrom(ctx context.Context) device.Recorder {
	if p, _ := ctx.Value(profileKey{}).(*Profile); p != nil {
		return (*recorder)(p)
	}
	return nil
}

// recorder is what devices see of a Profile.
type recorder Profile

func (r *recorder) Record(m device.Module, kernels []device.KernelRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.modules, m)
	if at < 0 {
		at = len(r.modules)
		r.modules = append(r.modules, m)
	}
	r.runs = append(r.runs, profiledRun{at, kernels})
}

// Kernels sums up what was collected, in the order of programs and, in each,
// of its kernels.
func (p *Profile) Kernels() []KernelProfile {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []KernelProfile
	at := map[[2]int]int{}
	for program := range p.modules {
		for _, r := range p.runs {
			if r.program != program {
				continue
			}
			for _, k := range r.kernels {
				key := [2]int{program, k.Number}
				i, ok := at[key]
				if !ok {
					i = len(all)
					at[key] = i
					all = append(all, KernelProfile{Program: program, Number: k.Number, Name: k.Name, Format: k.Format, Apart: k.Apart})
				}
				sum := &all[i]
				sum.Runs++
				sum.Time += k.End.Sub(k.Start)
				sum.Products += k.Products
				sum.Operations += k.Operations
				sum.Read += k.Read
				sum.Written += k.Written
			}
		}
	}
	return all
}

// traceEvent is a complete event of the Trace Event Format, times in
// microseconds: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat"`
	Phase    string         `json:"ph"`
	Begin    float64        `json:"ts"`
	Duration float64        `json:"dur"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args"`
}

// WriteTrace writes the timeline of all runs as Chrome and Perfetto show it
// (chrome://tracing, https://ui.perfetto.dev): a process a program, a line for
// each run that others overlap.
func (p *Profile) WriteTrace(w io.Writer) error {
	if w == nil {
		return errNilWriter
	}
	events := []traceEvent{}
	if p != nil {
		p.mu.Lock()
		events = p.events()
		p.mu.Unlock()
	}
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": events, "displayTimeUnit": "ns"})
}

func microseconds(d time.Duration) float64 { return float64(d) / 1e3 }

func (p *Profile) events() []traceEvent {
	var epoch time.Time
	for _, r := range p.runs {
		if len(r.kernels) > 0 && (epoch.IsZero() || r.kernels[0].Start.Before(epoch)) {
			epoch = r.kernels[0].Start
		}
	}
	events := []traceEvent{}
	var busy []time.Time // until when each line is taken
	for _, r := range p.runs {
		if len(r.kernels) == 0 {
			continue
		}
		line := slices.IndexFunc(busy, func(end time.Time) bool { return !end.After(r.kernels[0].Start) })
		if line < 0 {
			line = len(busy)
			busy = append(busy, time.Time{})
		}
		for _, k := range r.kernels {
			busy[line] = k.End
			events = append(events, traceEvent{
				Name: k.Name, Category: "kernel", Phase: "X", Process: r.program, Thread: line,
				Begin: microseconds(k.Start.Sub(epoch)), Duration: microseconds(k.End.Sub(k.Start)),
				Args: map[string]any{"number": k.Number, "tasks": k.Tasks, "products": k.Products, "operations": k.Operations, "read": k.Read, "written": k.Written},
			})
		}
	}
	return events
}
