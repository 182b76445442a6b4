package cpu

import (
	"slices"
	"sync"
	"weak"

	"github.com/sinterml/sinter/internal/device/keep"
)

// keptList is what is kept with weights: it is theirs, and can be made again.
type keptList struct {
	mu    sync.Mutex
	all   []weak.Pointer[keep.Kept]
	prune int // length at which those that are gone are looked for
}

func (l *keptList) add(k *keep.Kept) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) >= l.prune {
		l.all = slices.DeleteFunc(l.all, func(p weak.Pointer[keep.Kept]) bool { return p.Value() == nil })
		l.prune = max(64, 2*len(l.all))
	}
	l.all = append(l.all, weak.Make(k))
}

// drop forgets all of it. Runs have what they use until they end.
func (l *keptList) drop() {
	l.mu.Lock()
	all := l.all
	l.all, l.prune = nil, 0
	l.mu.Unlock()
	for _, p := range all {
		if k := p.Value(); k != nil {
			k.Drop()
		}
	}
}
