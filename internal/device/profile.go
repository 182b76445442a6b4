package device

import (
	"context"
	"time"

	"github.com/sinterml/sinter/internal/device/tune"
)

// KernelRun is one kernel of a run that was timed.
type KernelRun struct {
	Number     int // in the program
	Name       string
	Start, End time.Time // of its first and last task
	// Apart: it was started by itself, and timed by the host.
	Apart bool
	Tasks int
	// Work that the kernel cannot do without at the sizes of the run; 0 where
	// it depends on values. Products are the multiplications and additions of
	// a matrix product on operands of Format, Operations all others.
	Products, Operations float64
	Format               string  // f32, tf32, bf16, f16 or int8
	Read, Written        float64 // bytes
}

// Recorder gets the kernels of a run, in order, when it has ended well.
type Recorder interface {
	Record(m Module, kernels []KernelRun)
}

// Timer is a device whose runs may have a Recorder: it is given all of them.
type Timer interface{ Records() }

// Limiter is a device that can measure what it can do at most.
type Limiter interface {
	Limits(ctx context.Context) (tune.Limits, error)
}
