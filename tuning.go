package sinter

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/tune"
)

// Tuning looks for faster ways to compute what programs compute, by trying
// them, in all runs whose context comes from WithTuning. The zero value is
// ready.
//
// Such a run takes long. It gives the results of any other: a way whose results
// differ in a bit is not taken. What is found is kept in the user's cache
// folder, and used by programs that are compiled afterwards on the same device,
// by any process.
type Tuning struct {
	Budget time.Duration // of a run; what is found by then is kept. 0: all is tried
	// Progress, if set, is told how much of a run is tried.
	Progress func(done, total int)

	mu      sync.Mutex
	kernels []TunedKernel
}

// TunedKernel is what was found for a kernel.
type TunedKernel struct {
	Name string
	Runs int // of it, or of kernels equal to it, in a run of the program
	// Before and After are the times of one run without tuning and with it.
	Before, After time.Duration
	// Operations and Bytes are what it cannot do without, Share is the part of
	// After that the device would need for that, as its rates were measured;
	// 0: not known.
	Operations, Bytes, Share float64
	// Tried counts ways that were tried, Refused those of them that failed, or
	// had other results.
	Tried, Refused int
	Same           int  // ways that were not tried, as the device makes of them what was
	Changed        bool // a way was found that is faster
}

type tuningKey struct{}

// WithTuning has runs of programs under the context look for faster kernels.
// Devices on which there is nothing to be tried, as the cpu, refuse such runs.
func WithTuning(ctx context.Context, t *Tuning) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithValue(ctx, tuningKey{}, t)
}

// tuningFrom is the tuning of the context, nil if there is none.
func tuningFrom(ctx context.Context) *Tuning {
	t, _ := ctx.Value(tuningKey{}).(*Tuning)
	return t
}

// Kernels is what was found so far, in the order in which it was.
func (t *Tuning) Kernels() []TunedKernel {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.kernels)
}

// ask is what a run that begins now is asked for.
func (t *Tuning) ask() *device.Tuning {
	a := &device.Tuning{Progress: t.Progress, Found: t.found}
	if t.Budget > 0 {
		a.Until = time.Now().Add(t.Budget)
	}
	return a
}

func (t *Tuning) found(k device.TunedKernel) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kernels = append(t.kernels, TunedKernel{
		Name: k.Name, Runs: k.Runs, Before: k.Before, After: k.After, Operations: k.Operations, Bytes: k.Bytes, Share: k.Share,
		Tried: k.Tried, Refused: k.Refused, Same: k.Same, Changed: k.After < k.Before,
	})
}

// keepTuning has a device that was opened use what was found for it.
func keepTuning(dev device.Device, kind string, p device.Properties, o DeviceOptions) {
	t, ok := dev.(device.Tuner)
	if !ok || o.Untuned {
		return
	}
	m := tune.Machine{Kind: kind, Device: p.UUID, Driver: p.Driver}
	if m.Device == "" {
		m.Device = p.Description
	}
	t.KeepTuning(tune.Open(cmp.Or(o.Tuning, tune.Folder()), m))
}

// Tuned is for how many kernels of any program a faster way is kept for the
// device. An error says why what is kept cannot be used; it is replaced when
// something is found.
func (d *Device) Tuned() (int, error) {
	if err := d.check(); err != nil {
		return 0, err
	}
	t, ok := d.dev.(device.Tuner)
	if !ok {
		return 0, nil
	}
	return t.Tuned()
}
