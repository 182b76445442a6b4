package jit

import "sync/atomic"

// A worker does tasks of its own share of a step first, the same part of every
// step: kernels go through rows in order, so what one of them wrote lies in the
// cache of the core that reads it next. A worker that has done its share helps
// with those of others.

// share counts the tasks of a worker's share of the current step that are taken.
type share struct {
	taken atomic.Uint32
	_     cacheLine
}

// deal gives a worker who has claimed one of a step's tasks the one to do. There
// is one, as no more are claimed than there are.
func (r *run) deal(worker, step int) (task int) {
	tasks, all := int(r.counts[step]), len(r.shares)
	for w := worker; ; w = (w + 1) % all {
		begin, end := w*tasks/all, (w+1)*tasks/all
		taken := &r.shares[w].taken
		if int(taken.Load()) < end-begin { // or counts of looks in vain could overflow
			if n := int(taken.Add(1)) - 1; n < end-begin {
				return begin + n
			}
		}
	}
}
