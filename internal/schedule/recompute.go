package schedule

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

const (
	// recomputePeak is the bytes of temps below which a plan keeps everything.
	recomputePeak = 64 << 20
	// recomputeBytes is the least that is worth a kernel more.
	recomputeBytes = 1 << 20
	// besideBytes times smaller is what may live longer for that.
	besideBytes = 64
)

// recompute runs kernels again whose result is needed early and late but not
// where memory is scarcest: cheap ones, that read what is there at both times.
// In a step of training these are norms, whose results the gradients of
// weights need.
func (p *Plan) recompute() {
	for range len(p.Kernels) {
		d := newDemand(p)
		if d == nil {
			return
		}
		at, most := d.scarcest()
		if most < recomputePeak || !p.recomputeOne(d, at) {
			return
		}
	}
}

// scarcest is the kernel during which temps hold the most bytes.
func (d *demand) scarcest() (at, most int) {
	left := slices.Clone(d.uses)
	live := 0
	for k := range d.reads {
		for _, b := range d.makes[k] {
			live += d.size[b]
		}
		if live > most {
			at, most = k, live
		}
		live -= d.frees(k, left)
		for _, b := range d.reads[k] {
			left[b]--
		}
	}
	return at, most
}

// recomputeOne finds a kernel before at to run again behind it.
func (p *Plan) recomputeOne(d *demand, at int) bool {
	last := make([]int, len(p.Buffers))
	for i, buffers := range d.reads {
		for _, b := range buffers {
			last[b] = i
		}
	}
	for i := range at {
		k := p.Kernels[i]
		buf := d.onlyLarge(i)
		if buf < 0 || !cheap(k) || slices.Contains(d.reads[at], buf) {
			continue
		}
		late := at + 1
		for late < len(p.Kernels) && !slices.Contains(d.reads[late], buf) {
			late++
		}
		if late == len(p.Kernels) || !p.there(d, k, late, last) {
			continue
		}
		p.repeat(i, late)
		return true
	}
	return false
}

// onlyLarge is the one buffer that kernel i makes beside small ones, or -1.
func (d *demand) onlyLarge(i int) int {
	large := -1
	for _, b := range d.makes[i] {
		if large < 0 || d.size[b] > d.size[large] {
			large = b
		}
	}
	if large < 0 || d.size[large] < recomputeBytes {
		return -1
	}
	for _, b := range d.makes[i] {
		if b != large && d.size[b] > d.size[large]/besideBytes {
			return -1
		}
	}
	return large
}

// cheap tells whether k is loops of simple operations that can be run again. None of
// them is mulhi: random numbers are made of it, by a hundred operations each.
func cheap(k *Kernel) bool {
	work, ok := k.Work.(*loop.Kernel)
	if !ok || k.Constant || len(k.Checks) > 0 {
		return false
	}
	for _, p := range work.Params {
		ok = ok && p.Use != loop.Update
	}
	work.WalkExprs(func(e *loop.Expr) {
		ok = ok && (e.Kind != loop.KindApply || e.Op != ir.MulHi && opCost(e.Op) < functionCost)
	})
	return ok
}

// there tells whether all that k reads is in memory when kernel late runs too,
// or is too small to matter, and whether it writes temps alone.
func (p *Plan) there(d *demand, k *Kernel, late int, last []int) bool {
	large := 0
	for _, a := range k.Args {
		if a >= 0 {
			large = max(large, d.size[a])
		}
	}
	for j, prm := range k.Params() {
		a := k.Args[j]
		if a < 0 {
			continue
		}
		kind := p.Buffers[a].Kind
		switch {
		case prm.Use == loop.Write && kind != TempBuffer, prm.Use == loop.Read && kind == OutputBuffer:
			return false
		case prm.Use == loop.Read && kind == TempBuffer && last[a] < late && d.size[a] > large/besideBytes:
			return false
		}
	}
	return true
}

// repeat runs kernel i again in front of kernel late, which and all behind it
// read what that makes.
func (p *Plan) repeat(i, late int) {
	again := *p.Kernels[i]
	again.Args, again.Again = slices.Clone(again.Args), true
	instead := map[int]int{}
	for j, prm := range again.Params() {
		if a := again.Args[j]; a >= 0 && prm.Use == loop.Write {
			instead[a] = len(p.Buffers)
			again.Args[j] = len(p.Buffers)
			p.Buffers = append(p.Buffers, p.Buffers[a])
		}
	}
	for _, k := range p.Kernels[late:] {
		k.Args = slices.Clone(k.Args)
		for j, a := range k.Args {
			if b, ok := instead[a]; ok {
				k.Args[j] = b
			}
		}
		for j, c := range k.Checks {
			if b, ok := instead[c.Buffer]; ok {
				k.Checks[j].Buffer = b
			}
		}
	}
	p.Kernels = slices.Insert(p.Kernels, late, &again)
}
