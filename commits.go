package sinter

import (
	"context"
	"sync"
)

// commits guards which versions variables have: a run reads several as of one
// moment, and changes several at once. A version that is written in place is
// nobody's meanwhile: who wants to read it waits for the run to end. That run
// waits for nothing any more, so that runs cannot block each other.
var commits struct {
	sync.Mutex
	changed chan struct{} // closed when versions have changed; nil: nobody waits
}

// versions begins a use of the versions that were committed last, all as of
// one moment; nil variables are passed over.
func versions(ctx context.Context, of []*Variable, to []*storage) error {
	commits.Lock()
	for {
		changed := readable(of, to)
		if changed == nil {
			break
		}
		commits.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		commits.Lock()
	}
	defer commits.Unlock()
	for i, v := range of {
		if v != nil && !to[i].use() {
			endUses(of[:i], to)
			return errReleased
		}
	}
	return nil
}

// readable finds the versions, or what to wait for. The caller holds commits.
func readable(of []*Variable, to []*storage) (changed <-chan struct{}) {
	for i, v := range of {
		if v == nil {
			continue
		}
		to[i] = v.version.Load()
		if !to[i].written {
			continue
		}
		if commits.changed == nil {
			commits.changed = make(chan struct{})
		}
		return commits.changed
	}
	return nil
}

// endUses ends the uses that versions began.
func endUses(of []*Variable, stores []*storage) {
	for i, v := range of {
		if v != nil {
			stores[i].done()
		}
	}
}

// announce wakes those who wait. The caller holds commits.
func announce() {
	if commits.changed != nil {
		close(commits.changed)
		commits.changed = nil
	}
}
