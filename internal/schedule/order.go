package schedule

import (
	"slices"

	"github.com/sinterml/sinter/internal/loop"
)

// orderForMemory runs kernels earlier that free more than they take, once what
// they read is there: the order is that of the graph otherwise. In a step of
// training that is the gradient of a weight, as soon as that of its product's
// result is known. A plan with sizes that are not known stays as it is, as does
// one that this does not help.
func (p *Plan) orderForMemory() {
	d := newDemand(p)
	if d == nil {
		return
	}
	was := d.peak(func(i int) int { return i })
	order := d.greedy()
	if d.peak(func(i int) int { return order[i] }) >= was-was/32 {
		return
	}
	kernels := make([]*Kernel, len(order))
	for i, n := range order {
		kernels[i] = p.Kernels[n]
	}
	p.Kernels = kernels
}

// demand is what kernels need of one another, and of memory.
type demand struct {
	size  []int   // bytes of each buffer that is a temp, else 0
	uses  []int   // kernels that read or write each buffer; one more for those looked at when the run has ended
	reads [][]int // buffers of each kernel, each once
	makes [][]int // temps that each kernel writes first
	waits []int   // kernels that each kernel comes after
	next  [][]int // kernels that come after each
}

func newDemand(p *Plan) *demand {
	n := len(p.Kernels)
	d := &demand{size: make([]int, len(p.Buffers)), uses: make([]int, len(p.Buffers)), reads: make([][]int, n), makes: make([][]int, n), waits: make([]int, n), next: make([][]int, n)}
	for i, b := range p.Buffers {
		if b.Kind != TempBuffer {
			continue
		}
		elements, static := b.Len.Const()
		if !static {
			return nil
		}
		d.size[i] = Room(elements * b.DType.Size())
	}
	writer := make([]int, len(p.Buffers))
	for i := range writer {
		writer[i] = -1
	}
	for i, k := range p.Kernels {
		after := map[int]bool{}
		for j, prm := range k.Params() {
			a := k.Args[j]
			if a < 0 {
				continue
			}
			if w := writer[a]; w >= 0 && w != i {
				after[w] = true
			}
			if prm.Use != loop.Read {
				if writer[a] < 0 {
					d.makes[i] = append(d.makes[i], a)
				}
				writer[a] = i // who updates it comes after, and its readers after that
			}
			if !slices.Contains(d.reads[i], a) {
				d.reads[i] = append(d.reads[i], a)
				d.uses[a]++
			}
		}
		for _, c := range k.Checks {
			if c.Buffer >= 0 {
				d.uses[c.Buffer]++
			}
		}
		d.waits[i] = len(after)
		for w := range after {
			d.next[w] = append(d.next[w], i)
		}
	}
	return d
}

// peak is the most bytes that hold values at once if the kernels run in an
// order.
func (d *demand) peak(at func(int) int) int {
	left := slices.Clone(d.uses)
	live, most := 0, 0
	for i := range d.reads {
		k := at(i)
		for _, b := range d.makes[k] {
			live += d.size[b]
		}
		most = max(most, live)
		live -= d.frees(k, left)
		for _, b := range d.reads[k] {
			left[b]--
		}
	}
	return most
}

// frees is the bytes whose last use kernel k is.
func (d *demand) frees(k int, left []int) int {
	n := 0
	for _, b := range d.reads[k] {
		if left[b] == 1 {
			n += d.size[b]
		}
	}
	return n
}

// greedy is an order: of the kernels that are ready the one that frees most, if
// any frees more than it takes or as much, else the first.
func (d *demand) greedy() []int {
	left, waits := slices.Clone(d.uses), slices.Clone(d.waits)
	var ready, order []int
	for i, n := range waits {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		best, most := 0, 0
		for i, k := range ready {
			freed := d.frees(k, left)
			gain := freed
			for _, b := range d.makes[k] {
				gain -= d.size[b]
			}
			if freed > 0 {
				gain++ // one buffer for another may let those who read both go
			}
			if gain > most || most == 0 && k < ready[best] {
				best, most = i, max(gain, 0)
			}
		}
		k := ready[best]
		ready = slices.Delete(ready, best, best+1)
		order = append(order, k)
		for _, b := range d.reads[k] {
			left[b]--
		}
		for _, n := range d.next[k] {
			if waits[n]--; waits[n] == 0 {
				ready = append(ready, n)
			}
		}
	}
	return order
}
