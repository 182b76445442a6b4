package flat

import (
	"fmt"
	"math/bits"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Args lists the arguments of k: 64 bits each, in order.
func Args(k *entry.Kernel) []entry.Arg { return k.Args(sizesOf(k)) }

// sizesOf lists the sizes that are no constants, each once.
func sizesOf(k *entry.Kernel) []ir.Dim {
	var all []ir.Dim
	add := func(d ir.Dim) {
		if _, ok := d.Const(); ok {
			return
		}
		for _, have := range all {
			if have.Equal(d) {
				return
			}
		}
		all = append(all, d)
	}
	k.Work.WalkExprs(func(e *loop.Expr) {
		if e.Kind == loop.KindSize || e.Kind == loop.KindIndex {
			add(e.Size)
		}
	})
	if g := k.Gemm; g != nil {
		add(g.Rows)
		add(g.Cols)
		add(g.K)
	}
	if a := k.Attended; a != nil {
		for _, d := range attendedSizes(a) {
			add(d)
		}
	}
	return all
}

// Write has b write k.
func Write(k *entry.Kernel, b Builder) error {
	w := &writer{Builder: b, k: k, groups: k.Groups(), vars: map[*loop.Var]Value{}, once: map[*loop.Local]Value{}, locals: map[*loop.Local]Var{}, parts: map[uint32]part{}, rounded: map[uint32]rounded{}}
	w.alone = !w.groups
	w.barriers = entry.NewBarriers(k)
	w.begin()
	switch {
	case k.Attended != nil:
		w.changing = changing(append(k.Attended.Epilogue[:len(k.Attended.Epilogue):len(k.Attended.Epilogue)], k.Attended.Sums...))
		if a, ok := b.(Attender); ok {
			w.attend(a)
		} else {
			w.fail("no way to multiply the matrices of an attention")
		}
	case k.Gemm == nil:
		w.changing = changing(k.Work.Body)
		w.top(k.Work.Body)
	case w.groups:
		w.changing = changing(k.Gemm.Epilogue)
		if m, ok := b.(Multiplier); ok && m.Multiplies(k) {
			w.blocks(m.Multiply)
		} else {
			w.product()
		}
	default:
		w.fail("a product is the work of a group here, not of a work-item")
	}
	if w.err != nil {
		return fmt.Errorf("kernel %s: %w", k.Work.Name, w.err)
	}
	return nil
}

// writer walks one kernel.
type writer struct {
	Builder
	k        *entry.Kernel
	err      error
	groups   bool // work-items of a group share the work
	alone    bool // inside of an Item loop, or there is none
	barriers *entry.Barriers

	item, worker      Value
	start, end, chunk Value
	rows              Value // of a task of a product
	sizes             []size
	params            []Memory
	own               map[int][]Var // of params that work-items have in registers
	status            Memory
	vars              map[*loop.Var]Value
	changing          map[*loop.Local]bool  // those that have a Var
	once              map[*loop.Local]Value // the others
	locals            map[*loop.Local]Var
	values            map[*loop.Expr]Value // that this statement has computed
	words             map[int][]Value      // that this list of statements has loaded, by entry.Wide.Group
	parts             map[uint32]part      // of words, by Value.ID
	rounded           map[uint32]rounded   // by Value.ID
}

type size struct {
	of    ir.Dim
	value Value
}

// fail keeps the first error.
func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// changing are the locals that get a value more than once.
func changing(body []loop.Stmt) map[*loop.Local]bool {
	seen, all := map[*loop.Local]bool{}, map[*loop.Local]bool{}
	var walk func(body []loop.Stmt)
	walk = func(body []loop.Stmt) {
		for _, s := range body {
			switch s := s.(type) {
			case *loop.Loop:
				walk(s.Body)
			case *loop.Set:
				all[s.Local] = all[s.Local] || seen[s.Local]
				seen[s.Local] = true
			case *loop.Acc:
				all[s.Local] = true
			}
		}
	}
	walk(body)
	return all
}

// begin reads the arguments and makes the memory.
func (w *writer) begin() {
	w.item = w.Item()
	if w.groups {
		w.worker = w.Group()
	} else {
		w.worker = w.add(w.mul(w.Group(), w.extend(w.Items())), w.extend(w.item))
	}
	w.params = make([]Memory, len(w.k.Work.Params))
	var address Value
	for i, a := range Args(w.k) {
		v := w.Arg(i)
		switch a.Kind {
		case entry.ArgBuffer:
			address = v
		case entry.ArgOffset:
			if a.Param < 0 {
				w.status = w.Buffer(w.element(address, v, ir.I32), ir.I32, Own)
				continue
			}
			p := w.k.Work.Params[a.Param]
			address = w.element(address, v, p.DType)
			if p.Use != loop.Scratch {
				w.params[a.Param] = w.Buffer(address, p.DType, w.access(a.Param))
			}
		case entry.ArgStride:
			d := w.k.Work.Params[a.Param].DType
			w.params[a.Param] = w.Buffer(w.element(address, w.mul(w.worker, v), d), d, w.access(a.Param))
		case entry.ArgSize:
			w.sizes = append(w.sizes, size{a.Size, v})
		case entry.ArgStart:
			w.start = v
		case entry.ArgEnd:
			w.end = v
		case entry.ArgChunk:
			w.chunk = v
		case entry.ArgRows:
			w.rows = v
		}
	}
	for i, p := range w.k.Work.Params {
		if p.Use != loop.Scratch || !w.k.Near[i] || w.k.Attended != nil {
			continue
		}
		if w.k.OwnOf(i) > 0 {
			w.makeOwn(i)
			continue
		}
		n, ok := p.Len.Const()
		if !ok {
			w.fail("scratch %s near by has no constant size", p.Name)
		}
		if w.groups {
			w.params[i] = w.Shared(p.DType, max(n, 1))
		} else {
			w.params[i] = w.Private(p.DType, max(n, 1))
		}
	}
}

// element is the address n elements behind another.
func (w *writer) element(address, n Value, d ir.DType) Value {
	return w.add(address, w.Op(Shl, I64, n, w.int(uint64(bits.TrailingZeros(uint(d.Size()))))))
}

// access says how work-items use a param.
func (w *writer) access(param int) Access {
	switch {
	case w.k.Work.Params[param].Use == loop.Read && !w.k.Shared(param):
		return ReadOnly
	case w.groups && w.barriers.Exchanges(param):
		return Exchanged
	}
	return Own
}

// size is the value of a dimension.
func (w *writer) size(d ir.Dim) Value {
	if n, ok := d.Const(); ok {
		return w.int(uint64(int64(n)))
	}
	for _, s := range w.sizes {
		if s.of.Equal(d) {
			return s.value
		}
	}
	w.fail("size %v is no argument", d)
	return w.int(0)
}

// top writes the iterations of the Global loop that a worker does, or all of a
// kernel without one.
func (w *writer) top(body []loop.Stmt) {
	var l *loop.Loop
	if len(body) == 1 {
		l, _ = body[0].(*loop.Loop)
	}
	if l == nil || l.Range != loop.Global {
		if w.groups { // of which there is one
			w.body(body)
			return
		}
		w.If(w.Op(Equal, Bool, w.worker, w.int(0)), func() { w.body(body) })
		return
	}
	from, to := w.share()
	w.repeat(l, from, to)
}

// share is the iterations of a worker.
func (w *writer) share() (from, to Value) {
	from = w.add(w.start, w.mul(w.worker, w.chunk))
	return from, w.least(w.add(from, w.chunk), w.end)
}

// repeat writes a loop.
func (w *writer) repeat(l *loop.Loop, from, to Value) {
	if !w.alone {
		w.barriers.Enter(l.Body)
	}
	w.For(from, to, 1, l.Range == loop.Unroll, func(i Value) {
		w.vars[l.Var] = i
		w.body(l.Body)
	})
	if !w.alone {
		w.barriers.Leave()
	}
}

func (w *writer) body(body []loop.Stmt) {
	w.words = map[int][]Value{}
	for i := 0; i < len(body); i++ {
		s := body[i]
		w.values = map[*loop.Expr]Value{}
		if n := w.wideStore(body[i:]); n > 0 {
			i += n - 1
			w.forget()
			continue
		}
		if !w.alone {
			switch w.barriers.Before(s) {
			case entry.Shared:
				w.Barrier(false)
			case entry.All:
				w.Barrier(true)
			}
		}
		switch s := s.(type) {
		case *loop.Loop:
			w.loop(s)
		case *loop.Set:
			w.set(s.Local, w.value(s.Value))
		case *loop.Acc:
			w.set(s.Local, w.value(loop.Apply(s.Op, s.Local.DType, s.Local.Ref(), s.Value)))
		case *loop.Store:
			w.store(s)
			w.forget()
		}
	}
}

func (w *writer) set(l *loop.Local, x Value) {
	if !w.changing[l] {
		w.once[l] = x
		return
	}
	v, ok := w.locals[l]
	if !ok {
		v = w.Var(x.Type)
		w.locals[l] = v
	}
	w.Set(v, x)
}

func (w *writer) loop(l *loop.Loop) {
	lo := w.int(0)
	if l.Lo != nil {
		lo = w.value(l.Lo)
	}
	if l.Range != loop.Item {
		w.repeat(l, lo, w.value(l.Hi))
		return
	}
	w.alone = true
	body := func() {
		w.vars[l.Var] = w.extend(w.item)
		w.body(l.Body)
	}
	if n, _ := l.Hi.AsInt(); n == w.k.Items {
		body()
	} else {
		w.If(w.Op(Less, Bool, w.item, w.Const(I32, uint64(n))), body)
	}
	w.alone = false
}

// store writes an element. What all work-items of a group would store, the first
// alone computes: the others might read what it has already written.
func (w *writer) store(s *loop.Store) {
	if !w.alone {
		w.alone = true
		w.If(w.Op(Equal, Bool, w.item, w.Const(I32, 0)), func() { w.store(s) })
		w.alone = false
		return
	}
	if w.k.OwnOf(s.Param) > 0 {
		w.storeOwn(s)
		return
	}
	index := w.value(s.Index)
	x := w.stored(w.value(s.Value))
	var valid Value
	if s.Valid != nil {
		valid = w.value(s.Valid)
	}
	w.Store(w.params[s.Param], index, x, valid)
}

// stored is a value as memory holds it.
func (w *writer) stored(x Value) Value {
	if x.Type == Bool {
		return w.Op(Select, I32, x, w.Const(I32, 1), w.Const(I32, 0))
	}
	return x
}
