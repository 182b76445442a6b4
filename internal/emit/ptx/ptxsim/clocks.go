package ptxsim

// Each warp has a clock, which goes on where what its threads did becomes known
// to others. seen is what a warp knows of the others' clocks: what they did up to
// then comes before all that it does from now on. Barriers pass that on. fenced
// is the same of what wgmma may read: it reads shared memory by a way of its own,
// by which it sees what threads wrote before a fence.proxy.async alone. Copies by
// tensor maps write by that way too, and have a clock as if they were a warp, the
// last: barriers of phases that counted their bytes pass it on.

// tick ends what the warp has done so far: to its own lanes too, what comes later
// comes later.
func (w *warp) tick() { w.clock++ }

// learn takes over what others know.
func learn(to, from []uint32) {
	for i, c := range from {
		to[i] = max(to[i], c)
	}
}

// synchronize has all that any warp has done come before all that any does.
func (b *block) synchronize() {
	now := uint32(0)
	for _, w := range b.warps {
		now = max(now, w.clock)
	}
	b.shared.floor = now
	all, copied := b.warps[0].fenced, uint32(0)
	for _, w := range b.warps {
		learn(all, w.fenced)
		copied = max(copied, w.seen[len(b.warps)])
	}
	for _, w := range b.warps {
		w.clock = now + 1
		copy(w.fenced, all)
		w.seen[len(b.warps)] = copied
	}
}

// fence makes visible to wgmma what the warp has written and what it knows of.
func (w *warp) fence() {
	learn(w.fenced, w.seen)
	for i := range w.fenced {
		w.fenced[i] = max(w.fenced[i], w.b.shared.floor)
	}
	w.fenced[w.number] = w.clock
	w.tick()
}
