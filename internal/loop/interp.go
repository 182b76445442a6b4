package loop

import (
	"encoding/binary"
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// Args is what one launch of a kernel is given.
type Args struct {
	Buffers    [][]byte // one a param, little-endian, at least Len elements
	Sizes      ir.Env   // values of the symbols
	Start, End int      // iterations of the Global loop to run: Start <= v < End
	Status     []int64  // one a slot; an Index that clamps sets its word to 1
}

// Span is the range of the Global loop: what a launch may run a part of. It
// is 0, 0 for a kernel without one, which ignores Start and End.
func (k *Kernel) Span(env ir.Env) (lo, hi int, err error) {
	l := k.global()
	if l == nil {
		return 0, 0, nil
	}
	from := int64(0)
	if l.Lo != nil {
		if from, err = EvalIndex(l.Lo, env, nil); err != nil {
			return 0, 0, err
		}
	}
	to, err := EvalIndex(l.Hi, env, nil)
	return int(from), int(to), err
}

// global is the Global loop, nil if there is none.
func (k *Kernel) global() *Loop {
	if len(k.Body) == 1 {
		if l, ok := k.Body[0].(*Loop); ok && l.Range == Global {
			return l
		}
	}
	return nil
}

// Interpret runs a kernel one element after the other: the reference of every
// emitter. Every operand of an expression is evaluated, also those that Where
// or a Load's condition then leave unused. An access outside a buffer and an
// integer division by zero are errors.
func Interpret(k *Kernel, args *Args) error {
	if err := Check(k); err != nil {
		return err
	}
	in, err := newInterp(k, args)
	if err != nil {
		return err
	}
	if err := in.checkArgs(); err != nil {
		return err
	}
	return in.body(k.Body)
}

// interp evaluates expressions over bits. vals[i] holds for expression i
// while at[i] == step; each statement begins a new step.
type interp struct {
	k      *Kernel
	args   *Args
	ids    map[*Expr]int
	fns    []func(x, y, z uint64) uint64 // of KindApply
	sizes  []int64                       // of KindSize and KindIndex
	vals   []uint64
	at     []int
	step   int
	vars   map[*Var]int64
	locals map[*Local]uint64
}

func newInterp(k *Kernel, args *Args) (*interp, error) {
	in := &interp{k: k, args: args, ids: map[*Expr]int{}, vars: map[*Var]int64{}, locals: map[*Local]uint64{}}
	var failed error
	k.WalkExprs(func(e *Expr) {
		in.ids[e] = len(in.fns)
		var fn func(x, y, z uint64) uint64
		var size int
		var err error
		switch e.Kind {
		case KindSize, KindIndex:
			size, err = e.Size.Eval(args.Sizes)
		case KindApply:
			from := e.Args[0].DType
			if fn = Scalar(e.Op, from, e.DType); fn == nil {
				err = fmt.Errorf("%v of %v gives no %v", e.Op, from, e.DType)
			}
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("kernel %q: %w", k.Name, err)
		}
		in.fns = append(in.fns, fn)
		in.sizes = append(in.sizes, int64(size))
	})
	in.vals = make([]uint64, len(in.fns))
	in.at = make([]int, len(in.fns))
	return in, failed
}

func (in *interp) errorf(format string, args ...any) error {
	return fmt.Errorf("kernel %q: "+format, append([]any{in.k.Name}, args...)...)
}

func (in *interp) checkArgs() error {
	if len(in.args.Buffers) != len(in.k.Params) {
		return in.errorf("%d buffers for %d params", len(in.args.Buffers), len(in.k.Params))
	}
	if len(in.args.Status) < in.k.Slots {
		return in.errorf("%d status words for %d slots", len(in.args.Status), in.k.Slots)
	}
	for i, p := range in.k.Params {
		n, err := p.Len.Eval(in.args.Sizes)
		if err != nil {
			return in.errorf("param %s: %w", p.Name, err)
		}
		if have := len(in.args.Buffers[i]) / p.DType.Size(); have < n {
			return in.errorf("param %s holds %d elements, not %d", p.Name, have, n)
		}
	}
	return nil
}

// bounds evaluates a loop's range.
func (in *interp) bounds(l *Loop) (lo, hi int64, err error) {
	if l.Lo != nil {
		b, err := in.eval(l.Lo)
		if err != nil {
			return 0, 0, err
		}
		lo = int64(b)
	}
	b, err := in.eval(l.Hi)
	return lo, int64(b), err
}

func (in *interp) body(body []Stmt) error {
	for _, s := range body {
		in.step++
		if err := in.stmt(s); err != nil {
			return err
		}
	}
	return nil
}

func (in *interp) stmt(s Stmt) error {
	switch s := s.(type) {
	case *Loop:
		return in.loop(s)
	case *Set:
		v, err := in.eval(s.Value)
		in.locals[s.Local] = v
		return err
	case *Acc:
		v, err := in.eval(s.Value)
		d := s.Local.DType
		in.locals[s.Local] = Scalar(s.Op, d, d)(in.locals[s.Local], v, 0)
		return err
	case *Store:
		return in.store(s)
	}
	return in.errorf("unknown statement %T", s)
}

func (in *interp) loop(l *Loop) error {
	lo, hi, err := in.bounds(l)
	if err != nil {
		return err
	}
	if l.Range == Global {
		start, end := int64(in.args.Start), int64(in.args.End)
		if start < lo || end > max(hi, lo) {
			return in.errorf("iterations %d to %d are outside the loop's %d to %d", start, end, lo, hi)
		}
		lo, hi = start, end
	}
	for v := lo; v < hi; v++ {
		in.vars[l.Var] = v
		if err := in.body(l.Body); err != nil {
			return err
		}
	}
	return nil
}

func (in *interp) store(s *Store) error {
	index, err := in.eval(s.Index)
	if err != nil {
		return err
	}
	value, err := in.eval(s.Value)
	if err != nil {
		return err
	}
	if s.Valid != nil {
		if valid, err := in.eval(s.Valid); err != nil || valid == 0 {
			return err
		}
	}
	b, err := in.element(s.Param, int64(index))
	if err != nil {
		return err
	}
	putBits(b, value)
	return nil
}

// element is the bytes of one element of a param.
func (in *interp) element(param int, index int64) ([]byte, error) {
	b, p := in.args.Buffers[param], &in.k.Params[param]
	n := p.DType.Size()
	if index < 0 || index >= int64(len(b)/n) {
		return nil, in.errorf("index %d of param %s is outside its %d elements", index, p.Name, len(b)/n)
	}
	return b[int(index)*n:][:n], nil
}

func (in *interp) eval(e *Expr) (uint64, error) {
	id := in.ids[e]
	if in.at[id] == in.step {
		return in.vals[id], nil
	}
	var arg [3]uint64
	for i, a := range e.Args {
		v, err := in.eval(a)
		if err != nil {
			return 0, err
		}
		arg[i] = v
	}
	v, err := in.value(e, id, arg)
	in.vals[id], in.at[id] = v, in.step
	return v, err
}

// value computes e from its operands.
func (in *interp) value(e *Expr, id int, arg [3]uint64) (uint64, error) {
	switch e.Kind {
	case KindConst:
		return e.Bits, nil
	case KindSize:
		return uint64(in.sizes[id]), nil
	case KindVar:
		return uint64(in.vars[e.Var]), nil
	case KindLocal:
		return in.locals[e.Local], nil
	case KindLoad:
		if len(e.Args) == 2 && arg[1] == 0 {
			return 0, nil
		}
		b, err := in.element(e.Param, int64(arg[0]))
		if err != nil {
			return 0, err
		}
		return getBits(b), nil
	case KindIndex:
		x := int64(arg[0])
		if x < 0 || x >= in.sizes[id] {
			in.args.Status[e.Slot] = 1
			x = max(0, min(x, in.sizes[id]-1))
		}
		return uint64(x), nil
	case KindApply:
		if (e.Op == ir.IDiv || e.Op == ir.Mod) && arg[1] == 0 {
			return 0, in.errorf("%v by zero", e.Op)
		}
		return in.fns[id](arg[0], arg[1], arg[2]), nil
	}
	return 0, in.errorf("unknown expression kind %d", e.Kind)
}

func getBits(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func putBits(b []byte, v uint64) {
	switch len(b) {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, v)
	}
}
