package train

import (
	"errors"
	"iter"
)

// Prefetch reads up to n batches ahead, in a goroutine of its own, while steps
// run: worth it where reading takes long. The order stays.
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
		go func() {
			defer close(ready)
			for b, err := range p.data.Epoch(seed, epoch, skip) {
				select {
				case ready <- fetched{b, err}:
				case <-stop:
					return
				}
			}
		}()
		defer func() {
			close(stop)
			for range ready { // until the reader has ended: data may be closed after this
			}
		}()
		for f := range ready {
			if !yield(f.batch, f.err) {
				return
			}
		}
	}
}
