package train

import (
	"errors"
	"iter"
	"runtime"
)

// Prefetch reads up to n batches ahead, in a goroutine of its own, while steps
// run: worth it where reading takes long. The order stays. A panic of the data is
// the caller's, as without it.
func Prefetch(d Data, n int) Data { return prefetch{d, max(1, n)} }

type prefetch struct {
	data  Data
	ahead int
}

type fetched struct {
	batch Batch
	err   error
}

func (p prefetch) Epoch(seed int64, epoch, skip int) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		if p.data == nil {
			yield(nil, errors.New("train: Prefetch of no Data"))
			return
		}
		// The channel holds all but the batch that is being read.
		ready := make(chan fetched, p.ahead-1)
		stop := make(chan struct{})
		var end ending
		go func() {
			defer close(ready)
			defer end.note()
			read(p.data.Epoch(seed, epoch, skip), ready, stop)
			end.well = true // the iterator has ended too, which may panic when it is stopped
		}()
		defer func() {
			close(stop)
			for range ready { // until the reader has ended: data may be closed after this
			}
			end.pass()
		}()
		for f := range ready {
			if !yield(f.batch, f.err) {
				return
			}
		}
	}
}

func read(epoch iter.Seq2[Batch, error], ready chan<- fetched, stop <-chan struct{}) {
	for b, err := range epoch {
		select {
		case ready <- fetched{b, err}:
		case <-stop:
			return
		}
	}
}

// ending is how a reader has ended: well, with a panic, or, where there is none,
// by runtime.Goexit.
type ending struct {
	well   bool
	panics any
}

// note is deferred by the reader.
func (e *ending) note() {
	if !e.well {
		e.panics = recover()
	}
}

// pass has the caller end as the reader did.
func (e *ending) pass() {
	switch {
	case e.well:
	case e.panics != nil:
		panic(e.panics)
	default:
		runtime.Goexit()
	}
}
