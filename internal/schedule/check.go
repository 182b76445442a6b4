package schedule

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Check verifies a plan by following its kernels in order: each reads leaves
// and what kernels before it wrote, one kernel alone writes a buffer, temps
// hold their values as long as somebody looks at them, constant kernels leave
// what others need, and every output is written. A plan that breaks this gives
// wrong results without a word.
func (p *Plan) Check() error {
	written := make([]bool, len(p.Buffers))
	for i, b := range p.Buffers {
		written[i] = b.Kind == LeafBuffer
	}
	for i, k := range p.Kernels {
		err := p.checkArgs(k)
		if err == nil {
			err = p.checkReads(i, written)
		}
		if err == nil {
			err = p.checkWrites(i, written)
		}
		if err == nil {
			err = p.checkStatus(k, written)
		}
		if err == nil && k.Constant {
			err = p.checkConstant(k)
		}
		if err != nil {
			return fmt.Errorf("kernel %d %s %w", i, k.Name, err)
		}
	}
	return errors.Join(p.checkOutputs(written), p.checkCommits())
}

// checkCommits verifies that no kernel reads an old value of a variable behind
// the one that writes the new one in its place, and that nothing can fail by
// then.
func (p *Plan) checkCommits() error {
	gone := map[int]int{} // leaves that are overwritten, by which kernel
	for i, k := range p.Kernels {
		writes := map[int]int{}
		for j, prm := range k.Params() {
			a := k.Args[j]
			if a < 0 {
				continue
			}
			if w, ok := gone[a]; ok && prm.Use == loop.Read {
				return fmt.Errorf("kernel %d %s reads b%d, which kernel %d has overwritten", i, k.Name, a, w)
			}
			if b := p.Buffers[a]; prm.Use != loop.Read && b.Kind == OutputBuffer && p.Overwrites(b.Number) >= 0 {
				writes[p.Overwrites(b.Number)] = j
			}
		}
		if len(writes) > 0 && i < p.Commit {
			return fmt.Errorf("kernel %d %s overwrites a variable, kernels before %d may fail", i, k.Name, p.Commit)
		}
		if i >= p.Commit && len(k.Checks) > 0 {
			return fmt.Errorf("kernel %d %s may fail when variables have been overwritten", i, k.Name)
		}
		work, _ := loopsOf(k)
		var same [][2]int // params in the same place
		for leaf, to := range writes {
			gone[leaf] = i
			from := slices.Index(k.Args, leaf)
			if work == nil || from >= 0 && !readsOwn(work, from, to) {
				return fmt.Errorf("kernel %d %s reads elements of b%d that it may have overwritten", i, k.Name, leaf)
			}
			if from >= 0 {
				same = append(same, [2]int{from, to})
			}
		}
		if sorted, ok := storesInOrder(work, same); !ok || sorted != work {
			return fmt.Errorf("kernel %d %s overwrites a variable and then reads its old value", i, k.Name)
		}
	}
	return nil
}

// checkArgs verifies that the arguments of k are what its work takes.
func (p *Plan) checkArgs(k *Kernel) error {
	params := k.Params()
	if len(params) != len(k.Args) {
		return fmt.Errorf("has %d params, %d arguments", len(params), len(k.Args))
	}
	for j, a := range k.Args {
		prm := params[j]
		switch {
		case prm.Use == loop.Scratch != (a < 0):
			return fmt.Errorf("has a param %s that disagrees with its argument on scratch", prm.Name)
		case a < 0:
			continue
		case a >= len(p.Buffers):
			return fmt.Errorf("takes b%d, which is no buffer", a)
		}
		b := p.Buffers[a]
		if b.DType != prm.DType || !b.Len.Equal(prm.Len) {
			return fmt.Errorf("has a param %s of %v[%v], b%d is %v[%v]", prm.Name, prm.DType, prm.Len, a, b.DType, b.Len)
		}
	}
	return nil
}

// checkReads verifies that what kernel i reads is there.
func (p *Plan) checkReads(i int, written []bool) error {
	k := p.Kernels[i]
	for j, prm := range k.Params() {
		a := k.Args[j]
		if prm.Use != loop.Read && prm.Use != loop.Update {
			continue
		}
		if !written[a] {
			return fmt.Errorf("reads b%d before it is written: %s", a, p.lateWriter(a, i))
		}
		if err := p.holds(a, i); err != nil {
			return fmt.Errorf("reads %w", err)
		}
		if p.Buffers[a].Kind == InterimBuffer && !k.Constant {
			return fmt.Errorf("reads b%d, which is gone when the constant kernels have run", a)
		}
	}
	return nil
}

// lateWriter tells who writes buffer a, from kernel i on.
func (p *Plan) lateWriter(a, i int) string {
	for n, k := range p.Kernels[i:] {
		for j, prm := range k.Params() {
			if j < len(k.Args) && k.Args[j] == a && prm.Use != loop.Read {
				return fmt.Sprintf("kernel %d %s writes it", i+n, k.Name)
			}
		}
	}
	return "no kernel writes it"
}

// checkWrites verifies that kernel i writes to memory that is its own, and
// notes what it has written.
func (p *Plan) checkWrites(i int, written []bool) error {
	k := p.Kernels[i]
	for j, prm := range k.Params() {
		a := k.Args[j]
		if prm.Use != loop.Write && prm.Use != loop.Update {
			continue
		}
		b := p.Buffers[a]
		if b.Kind == LeafBuffer {
			return fmt.Errorf("writes b%d, a leaf", a)
		}
		if prm.Use == loop.Write && written[a] {
			return fmt.Errorf("writes b%d again", a)
		}
		if err := p.holds(a, i); err != nil {
			return fmt.Errorf("writes %w", err)
		}
		if (b.Kind == ConstantBuffer || b.Kind == InterimBuffer) && !k.Constant {
			return fmt.Errorf("writes b%d, which is kept with the weights", a)
		}
		written[a] = true
	}
	return nil
}

// checkStatus verifies that the indices of k can be looked at again when the
// run has ended.
func (p *Plan) checkStatus(k *Kernel, written []bool) error {
	for _, c := range k.Checks {
		if c.Buffer < 0 {
			continue
		}
		if c.Buffer >= len(p.Buffers) || !written[c.Buffer] {
			return fmt.Errorf("takes %v indices from b%d, which is not written", c.Op, c.Buffer)
		}
		if err := p.holds(c.Buffer, len(p.Kernels)); err != nil {
			return fmt.Errorf("takes %v indices, looked at again after the run, from %w", c.Op, err)
		}
	}
	return nil
}

// holds verifies that buffer a has its memory while kernel i runs.
func (p *Plan) holds(a, i int) error {
	if b := p.Buffers[a]; b.Kind == TempBuffer && (i < b.First || i > b.Last) {
		return fmt.Errorf("b%d, which has its memory in kernels %d to %d alone", a, b.First, b.Last)
	}
	return nil
}

// checkConstant verifies that k, a constant kernel, gives the same in each run.
func (p *Plan) checkConstant(k *Kernel) error {
	if work, _ := loopsOf(k); work != nil && len(work.Symbols()) > 0 {
		return fmt.Errorf("is constant, but goes by the size %s", work.Symbols()[0].Name)
	}
	steady := p.Graph.Steady()
	for i, prm := range k.Params() {
		if k.Args[i] < 0 {
			continue
		}
		b := p.Buffers[k.Args[i]]
		switch {
		case !b.Len.Static():
			return fmt.Errorf("is constant, but b%d has no fixed size", k.Args[i])
		case b.Kind == ConstantBuffer, b.Kind == InterimBuffer:
		case b.Kind == LeafBuffer && steady[b.Number] && prm.Use == loop.Read:
		default:
			return fmt.Errorf("is constant, but b%d changes from run to run", k.Args[i])
		}
	}
	return nil
}

// checkOutputs verifies that each output has one buffer, which is written.
func (p *Plan) checkOutputs(written []bool) error {
	have := make([]bool, len(p.Graph.Outputs))
	for i, b := range p.Buffers {
		if b.Kind != OutputBuffer {
			continue
		}
		if b.Number >= len(have) || have[b.Number] {
			return fmt.Errorf("b%d is output %d once more, or of no such output", i, b.Number)
		}
		if !written[i] {
			return fmt.Errorf("output %d, b%d, is never written", b.Number, i)
		}
		have[b.Number] = true
	}
	if i := slices.Index(have, false); i >= 0 {
		return fmt.Errorf("output %d has no buffer", i)
	}
	return nil
}

// CheckPacking verifies what Pack promises: temps lie on lines of their own
// within the arena, and no two that hold values at the same time overlap; with
// share false no two do.
func (p *Plan) CheckPacking(a *Arena, env ir.Env, share bool) error {
	if len(a.Offsets) != len(p.Buffers) {
		return errors.New("the arena is of another plan")
	}
	var temps []extent
	for i, b := range p.Buffers {
		if b.Kind != TempBuffer {
			continue
		}
		n, err := b.Len.Eval(env)
		if err != nil {
			return fmt.Errorf("size of buffer b%d: %w", i, err)
		}
		t := extent{buf: i, from: a.Offsets[i], first: b.First, last: b.Last}
		t.to = t.from + n*b.DType.Size()
		if !share {
			t.first, t.last = 0, 0
		}
		if t.from < 0 || t.from%Alignment != 0 || t.to > a.Size {
			return fmt.Errorf("temp b%d lies at %d to %d of an arena of %d bytes", i, t.from, t.to, a.Size)
		}
		if t.from < t.to && t.first <= t.last {
			temps = append(temps, t)
		}
	}
	return disjoint(temps)
}

// extent is where and when a temp holds values.
type extent struct {
	buf         int
	from, to    int // bytes of the arena, to not included
	first, last int // kernels, both included
}

// disjoint refuses two extents that overlap in place and time. It goes through
// time with those that are alive sorted by place, where a new one can overlap
// another only if it overlaps a neighbour.
func disjoint(temps []extent) error {
	slices.SortStableFunc(temps, func(x, y extent) int { return x.first - y.first })
	var alive []extent
	for _, t := range temps {
		alive = slices.DeleteFunc(alive, func(x extent) bool { return x.last < t.first })
		at, _ := slices.BinarySearchFunc(alive, t.from, func(x extent, from int) int { return x.from - from })
		for _, x := range alive[max(0, at-1):min(len(alive), at+1)] {
			if x.from < t.to && t.from < x.to {
				return fmt.Errorf("temps b%d at %d and b%d at %d overlap, and both hold values in kernel %d", x.buf, x.from, t.buf, t.from, t.first)
			}
		}
		alive = slices.Insert(alive, at, t)
	}
	return nil
}
