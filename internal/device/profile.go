package device

import "time"

// KernelRun is one kernel of a run that was timed.
type KernelRun struct {
	Number     int // in the program
	Name       string
	Start, End time.Time // of its first and last task
	Tasks      int
	// Operations and bytes that the kernel cannot do without at the sizes of
	// the run; 0 where they depend on values.
	Operations, Read, Written float64
}

// Recorder gets the kernels of a run, in order, when it has ended well.
type Recorder interface{ Record(m Module, kernels []KernelRun) }
