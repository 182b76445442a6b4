package cpu

import (
	"errors"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/generic"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
)

// loopKernel is a kernel made of loops: in machine code, or as closures.
type loopKernel struct {
	work *loop.Kernel // as the scheduler made it

	slab    *slab
	plain   form
	large   form  // for runs beyond the caches
	streams []int // params that it writes past the caches; nil: there is no such form

	generic *generic.Func // set instead of code
}

// form is the kernel as one code does it.
type form struct {
	work    *loop.Kernel // may have more scratch than the scheduler's
	symbols []ir.Symbol
	layout  native.Layout
	span    *loop.Loop // the Global loop; nil if there is none
	weights weights    // of the expressions of span
	offset  int        // of the code in the slab
	spill   int
}

func newForm(k *loop.Kernel) form {
	f := form{work: k, symbols: k.Symbols(), layout: native.LayoutOf(k)}
	if len(k.Body) == 1 {
		if l, ok := k.Body[0].(*loop.Loop); ok && l.Range == loop.Global {
			f.span, f.weights = l, weights{}
			f.weights.add(l.Body)
		}
	}
	return f
}

// loops compiles a kernel of loops.
func (c *compiler) loops(k *loop.Kernel) (kernel, error) {
	k = loop.SplitRanges(loop.SplitRemainders(loop.TurnShort(loop.Across(loop.RowsFirst(loop.MoveBits(k))))))
	lk := &loopKernel{work: k, slab: c.slab, plain: newForm(k)}
	if c.machine {
		err := c.emit(lk)
		if err == nil {
			return lk, nil
		}
		if !errors.Is(err, native.ErrUnsupported) {
			return nil, err
		}
	}
	f, err := generic.Compile(k)
	if err != nil {
		return nil, err
	}
	lk.generic = f
	c.generic = append(c.generic, k.Name)
	return lk, nil
}

// bind computes how the Global loop is cut into tasks.
func (k *loopKernel) bind(r *binding) (jit.Step, error) {
	f := &k.plain
	if stream, err := k.streamsTo(r); err != nil {
		return nil, err
	} else if stream {
		f = &k.large
	}
	ptrs, err := f.scratch(r)
	if err != nil {
		return nil, err
	}
	s := &loopStep{kernel: k, form: f, status: r.status, lo: 0, hi: 1, chunk: 1}
	for _, size := range f.symbols {
		s.sizes = append(s.sizes, int64(r.env[size.Name]))
	}
	if f.span != nil {
		if s.lo, s.hi, err = f.work.Span(r.env); err != nil {
			return nil, err
		}
		s.chunk = chunk(s.hi-s.lo, cost(f.span.Body, f.weights, r.env), r.workers)
	}
	if k.generic != nil {
		return s, s.bindGeneric(r, ptrs)
	}
	s.bindCode(ptrs)
	return s, nil
}

// scratch gives every worker its pointers: shared params, and its own scratch.
func (f *form) scratch(r *binding) ([][]unsafe.Pointer, error) {
	total := 0
	at := make([]int, len(f.work.Params))
	for i, p := range f.work.Params {
		if p.Use != loop.Scratch {
			continue
		}
		n, err := p.Len.Eval(r.env)
		if err != nil {
			return nil, err
		}
		at[i] = total
		total += (n*p.DType.Size() + native.Padding + 63) &^ 63
	}
	spill := total
	total += f.spill
	ptrs := make([][]unsafe.Pointer, r.workers)
	var own []unsafe.Pointer
	if total > 0 {
		var err error
		if own, err = r.scratch(total); err != nil {
			return nil, err
		}
	}
	for w := range ptrs {
		ptrs[w] = make([]unsafe.Pointer, len(f.work.Params)+1) // the last is the spill area
		copy(ptrs[w], r.ptrs)
		for i, p := range f.work.Params {
			if p.Use == loop.Scratch {
				ptrs[w][i] = unsafe.Add(own[w], at[i])
			}
		}
		if f.spill > 0 { // else the area would lie behind the memory, where a pointer must not point
			ptrs[w][len(f.work.Params)] = unsafe.Add(own[w], spill)
		}
	}
	return ptrs, nil
}

// loopStep is a loopKernel in one run.
type loopStep struct {
	kernel        *loopKernel
	form          *form
	lo, hi, chunk int
	sizes         []int64
	status        []int64
	blocks        [][]uint64     // argument blocks of machine code, by worker
	args          []generic.Args // the same for closures
}

func (s *loopStep) flags() []int64 { return s.status }

func (s *loopStep) Tasks() int { return (s.hi - s.lo + s.chunk - 1) / s.chunk }

// Do runs a part of the Global loop.
func (s *loopStep) Do(worker, task int) error {
	start := s.lo + task*s.chunk
	end := min(start+s.chunk, s.hi)
	if s.kernel.generic != nil {
		s.args[worker].Start, s.args[worker].End = start, end
		return s.kernel.generic.Run(&s.args[worker])
	}
	b, l := s.blocks[worker], s.form.layout
	b[l.Start], b[l.End] = uint64(start), uint64(end)
	jit.Call(s.kernel.slab.entry(s.form.offset), unsafe.Pointer(&b[0]))
	return nil
}

// bindCode fills the argument blocks; ptrs are by worker and param.
func (s *loopStep) bindCode(ptrs [][]unsafe.Pointer) {
	l := s.form.layout
	s.blocks = make([][]uint64, len(ptrs))
	words := (l.Words + 15) &^ 15 // no false sharing
	all := make([]uint64, words*len(ptrs))
	for w := range s.blocks {
		b := all[w*words:][:words]
		if len(s.status) > 0 {
			b[l.Status] = uint64(uintptr(unsafe.Pointer(&s.status[0])))
		}
		params := len(s.form.work.Params)
		b[l.Spill] = uint64(uintptr(ptrs[w][params]))
		for i, p := range ptrs[w][:params] {
			b[l.Params+i] = uint64(uintptr(p))
		}
		for i, v := range s.sizes {
			b[l.Symbols+i] = uint64(v)
		}
		s.blocks[w] = b
	}
}

// move puts new addresses into the argument blocks, unless they may ask for the
// other form.
func (s *loopStep) move(r *binding, moved bool) bool {
	if s.kernel.generic != nil {
		return false
	}
	if !moved {
		return true
	}
	if s.kernel.streams != nil {
		return false
	}
	first := s.form.layout.Params
	for i, p := range s.form.work.Params {
		if p.Use == loop.Scratch {
			continue
		}
		at := uint64(uintptr(r.ptrs[i]))
		for _, b := range s.blocks {
			b[first+i] = at
		}
	}
	return true
}

func (s *loopStep) rest() {
	for i := range s.args {
		clear(s.args[i].Params)
	}
}

// bindGeneric makes the arguments of closures; ptrs are by worker and param.
func (s *loopStep) bindGeneric(r *binding, ptrs [][]unsafe.Pointer) error {
	s.args = make([]generic.Args, r.workers)
	for w := range s.args {
		params := make([][]byte, len(s.kernel.work.Params))
		for i, p := range s.kernel.work.Params {
			n, err := p.Len.Eval(r.env)
			if err != nil {
				return err
			}
			params[i] = unsafe.Slice((*byte)(ptrs[w][i]), n*p.DType.Size())
		}
		s.args[w] = generic.Args{Params: params, Sizes: s.sizes, Status: s.status}
	}
	return nil
}

const (
	// taskCost is what one call of machine code may take, in the units of
	// cost: short enough that a stop of the world never waits long for it.
	taskCost = 200_000
	// tasksPerWorker is how finely work is cut where it can be: a worker that
	// starts late, or shares its core, then costs little.
	tasksPerWorker = 4
	// smallWork is not worth a second worker.
	smallWork = 20_000
)

// chunk is how many iterations one task does.
func chunk(n, cost, workers int) int {
	if n <= 0 {
		return 1
	}
	most := max(1, taskCost/max(cost, 1))
	if workers > 1 && n*cost > smallWork {
		most = min(most, max(1, (n+workers*tasksPerWorker-1)/(workers*tasksPerWorker)), max(1, n))
	}
	return min(most, n)
}

// weights are the operations of expressions, roughly: counted once, as cost is
// asked for in every run.
type weights map[*loop.Expr]int

func (w weights) add(body []loop.Stmt) {
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			w.add(s.Body)
		case *loop.Set:
			w[s.Value] = operations(s.Value)
		case *loop.Acc:
			w[s.Value] = operations(s.Value)
		case *loop.Store:
			w[s.Value] = operations(s.Value)
		}
	}
}

// cost estimates the cycles of statements.
func cost(body []loop.Stmt, w weights, env ir.Env) int {
	const unknownTrips = 64
	total := 0
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			trips := unknownTrips
			if n, ok := extent(s, env); ok {
				trips = n
			} else if s.Range == loop.Vector {
				trips = 4096 // a block of a split loop
			}
			each := cost(s.Body, w, env)
			if s.Range == loop.Vector {
				trips = (trips + 15) / 16
			}
			total += trips*each + 4
		case *loop.Set:
			total += w[s.Value]
		case *loop.Acc:
			total += 1 + w[s.Value]
		case *loop.Store:
			total += 1 + w[s.Value]
		}
	}
	return min(total, 1<<40)
}

// extent is how often a loop runs, at most where it runs over one of several
// ranges.
func extent(l *loop.Loop, env ir.Env) (int, bool) {
	hi := l.Hi
	if l.Lo == nil {
		n, ok := size(hi, env)
		if !ok && isApply(hi, ir.Min) {
			n, ok = size(hi.Args[1], env) // at most, as a loop that runs once or not
		}
		return n, ok
	}
	if lo, ok := size(l.Lo, env); ok {
		n, ok := size(hi, env)
		return max(0, n-lo), ok
	}
	more := 0 // steps behind the end of the range, see loop.Stagger
	if isApply(hi, ir.Add) && isApply(hi.Args[0], ir.Min) {
		more, _ = size(hi.Args[1], env)
		hi = hi.Args[0]
	}
	for isApply(hi, ir.Min) {
		hi = hi.Args[0]
	}
	if !isApply(hi, ir.Add) || hi.Args[0] != l.Lo {
		return 0, false
	}
	n, ok := size(hi.Args[1], env)
	return n + more, ok
}

func isApply(e *loop.Expr, op ir.Op) bool { return e.Kind == loop.KindApply && e.Op == op }

// size evaluates what constants and sizes alone decide.
func size(e *loop.Expr, env ir.Env) (int, bool) {
	switch e.Kind {
	case loop.KindConst:
		return e.AsInt()
	case loop.KindSize:
		n, err := e.Size.Eval(env)
		return n, err == nil
	case loop.KindApply:
		if e.DType != ir.I64 || len(e.Args) != 2 {
			return 0, false
		}
		x, ok1 := size(e.Args[0], env)
		y, ok2 := size(e.Args[1], env)
		if !ok1 || !ok2 {
			return 0, false
		}
		switch e.Op {
		case ir.Add:
			return x + y, true
		case ir.Mul:
			return x * y, true
		case ir.Min:
			return min(x, y), true
		case ir.IDiv:
			return x / max(y, 1), x >= 0 && y > 0
		}
	}
	return 0, false
}

// operations weighs an expression.
func operations(e *loop.Expr) int {
	n := 0
	e.Walk(func(x *loop.Expr) {
		switch {
		case x.Kind == loop.KindLoad:
			n += 2
		case x.Kind == loop.KindApply && x.DType != ir.I64:
			n++
			switch x.Op {
			case ir.Exp, ir.Exp2, ir.Expm1, ir.Log, ir.Log2, ir.Log1p, ir.Sin, ir.Cos, ir.Atan, ir.Tanh, ir.Erf, ir.Pow:
				n += 20
			case ir.Div, ir.Sqrt, ir.Recip:
				n += 8
			}
		}
	})
	return n
}
