package train

import "time"

// Event is what Report is told: of a step, or of the end of an epoch.
type Event struct {
	Step  int // updates that are done
	Epoch int // that this belongs to, from 0
	// EpochEnd tells that this is about an epoch, whose mean loss is Loss.
	EpochEnd bool
	// Loss is NaN where an overflow made a LossScale leave the step out; the mean
	// of an epoch is over the others.
	Loss    float64
	Rate    float64            // the learning rate of the step
	Metrics map[string]float64 // what Loss gave beside the loss; nil at the end of an epoch
	// Scores is an evaluation that was made now; nil where none was due.
	Scores  *Scores
	Elapsed time.Duration // since Run was called
}

// Result is what a run came to.
type Result struct {
	Step, Epoch int     // updates, and whole epochs, that are done
	Loss        float64 // of the last step; NaN if there was none
	Scores      *Scores // of the net as it is now; nil without an evaluation
	Stopped     bool    // early, as EarlyStop says
	// BestStep is the step at which EarlyStop's metric was best.
	BestStep int

	// Compile is the time of tracing, gradients and compiling; First that of the
	// first step, which also computes first values; Train that of all steps behind
	// it with reading their data, without evaluations and reports.
	Compile, First, Train time.Duration
}
