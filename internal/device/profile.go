package device

import "time"

// KernelRun is one kernel of a run that was timed.
type KernelRun struct {
	Number     int // in the program
	Name       string
	Start, End time.Time // of its first and last task
	Tasks      int
	// Work that the kernel cannot do without at the sizes of the run; 0 where
	// it depends on values. Products are the multiplications and additions of
	// a matrix product on operands of Format, Operations all others.
	Products, Operations float64
	Format               string  // f32, bf16 or int8
	Read, Written        float64 // bytes
}

// Recorder gets the kernels of a run, in order, when it has ended well.
type Recorder interface {
	Record(m Module, kernels []KernelRun)
}
