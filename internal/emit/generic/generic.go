// Package generic turns kernels into Go closures that work on blocks of 256
// lanes: what runs where no machine code can be generated, and the dtypes
// that machine code leaves out. Scalar meaning is that of package loop.
package generic

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// blockLanes is how many lanes of a Vector loop run at once: enough to make
// the calls cheap, few enough for a statement's values to stay in the first
// cache. It is a multiple of sumLanes, so that sums do not depend on it.
const blockLanes = 256

// Args is what one launch of a kernel is given.
type Args struct {
	Params     [][]byte // one a param
	Sizes      []int64  // values of the kernel's Symbols, in that order
	Start, End int      // iterations of the Global loop to run: Start <= v < End
	Status     []int64  // one a slot; an Index that clamps sets its word to 1
}

// Func is a compiled kernel. It may run many times at once.
type Func struct {
	name    string
	params  []loop.Param
	slots   int
	symbols []ir.Symbol
	dims    []ir.Dim
	vars    int
	regs    []home
	temps   int // bytes of values that live for one statement
	kept    int // bytes of the others
	code    []step
	pool    sync.Pool
}

// step is one instruction over registers.
type step func(s *state)

// home is where a register's own memory lies.
type home struct {
	temp   bool
	offset int
}

// register is a value: one element, or one for each lane of the block. It
// lies in its home, or where a load found it.
type register struct {
	p unsafe.Pointer
	n int // elements
}

// from is what lies behind the first n elements of type d.
func (g register) from(n int, d ir.DType) register {
	return register{unsafe.Add(g.p, n*d.Size()), g.n - n}
}

// state is one run.
type state struct {
	f     *Func
	args  *Args
	err   error // the first
	lanes int   // of the block, 1 to blockLanes
	sizes []int64
	vars  []int64 // of a Vector loop the first lane's
	regs  []register
	homes []unsafe.Pointer
	env   ir.Env
	wide  *[blockLanes]float32 // 16-bit floats on their way through a cast
}

// Run runs a launch. After an error the buffers hold parts of the result.
func (f *Func) Run(args *Args) error {
	switch {
	case len(args.Params) != len(f.params):
		return f.errorf("%d buffers for %d params", len(args.Params), len(f.params))
	case len(args.Sizes) != len(f.symbols):
		return f.errorf("%d sizes for %d symbols", len(args.Sizes), len(f.symbols))
	case len(args.Status) < f.slots:
		return f.errorf("%d status words for %d slots", len(args.Status), f.slots)
	}
	s, _ := f.pool.Get().(*state)
	if s == nil {
		s = f.newState()
	}
	s.args = args
	for i, sym := range f.symbols {
		s.env[sym.Name] = int(args.Sizes[i])
	}
	for i, d := range f.dims {
		n, err := d.Eval(s.env)
		if err != nil {
			return f.errorf("%w", err)
		}
		s.sizes[i] = int64(n)
	}
	s.run(f.code)
	err := s.err
	// The pool must not keep the caller's buffers alive.
	clear(s.regs)
	s.args, s.err = nil, nil
	f.pool.Put(s)
	return err
}

func (f *Func) newState() *state {
	s := &state{f: f, sizes: make([]int64, len(f.dims)), vars: make([]int64, f.vars),
		regs: make([]register, len(f.regs)), homes: make([]unsafe.Pointer, len(f.regs)), env: ir.Env{}, wide: new([blockLanes]float32)}
	memory := make([]uint64, (f.temps+f.kept)/8+1)
	for i, h := range f.regs {
		at := h.offset
		if !h.temp {
			at += f.temps
		}
		s.homes[i] = unsafe.Pointer(&memory[at/8])
	}
	return s
}

func (f *Func) errorf(format string, args ...any) error {
	return fmt.Errorf("kernel %q: "+format, append([]any{f.name}, args...)...)
}

func (s *state) run(code []step) {
	for _, st := range code {
		st(s)
	}
}

// fail keeps the first error. Steps go on with whatever values there are until
// the loop around looks.
func (s *state) fail(format string, args ...any) {
	if s.err == nil {
		s.err = s.f.errorf(format, args...)
	}
}

func (s *state) outside(param int, index int64) {
	p := &s.f.params[param]
	s.fail("index %d of param %s is outside its %d elements", index, p.Name, len(s.args.Params[param])/p.DType.Size())
}

// word is a type to move elements in: only their size matters.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

// view is the value of register r.
func view[T loop.Number](s *state, r int) []T {
	g := s.regs[r]
	return unsafe.Slice((*T)(g.p), g.n)
}

// scalar is the value of register r where it is one i64.
func scalar(s *state, r int) int64 { return view[int64](s, r)[0] }

// define readies register r for n elements in its home, whose room the
// compiler has seen to.
func define[T loop.Number](s *state, r, n int) []T {
	s.regs[r] = register{s.homes[r], n}
	return unsafe.Slice((*T)(s.homes[r]), n)
}

// elements is a param's buffer as T.
func elements[T word](s *state, param int) []T {
	b := s.args.Params[param]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(T(0))))
}

// count is the elements of a value.
func (s *state) count(lanes bool) int {
	if lanes {
		return s.lanes
	}
	return 1
}
