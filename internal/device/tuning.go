package device

import (
	"time"

	"github.com/sinterml/sinter/internal/device/tune"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// Tuner is a device that finds strategies for kernels by trying them.
type Tuner interface {
	// KeepTuning says where what is found is kept; programs that are compiled
	// afterwards use it. Nil: nowhere.
	KeepTuning(s *tune.Store)
	// Tuned is for how many kernels a choice is kept. An error says why what
	// there is cannot be used.
	Tuned() (int, error)
}

// Tuning has a run try strategies for each of its kernels, on the memory and at
// the sizes of the run.
type Tuning struct {
	Until    time.Time // when nothing more is tried; zero: when all has been
	Progress func(done, total int)
	Found    func(TunedKernel) // of each kernel, once
}

// TunedKernel is what was found for a kernel.
type TunedKernel struct {
	Name string
	Runs int // of it, or of kernels equal to it, in a run of the program
	// Of one run, as it would be without tuning and as it is now.
	Before, After time.Duration
	// What it cannot do without, and the share of After that the device would
	// need for that at the rates that were measured; 0: not known.
	Operations, Bytes, Share float64
	// Strategies that were tried, and of these those that failed or had other
	// results.
	Tried, Refused int
	Same           int // strategies that were not tried, as they make a kernel that was
	Strategy       entry.Strategy
}
