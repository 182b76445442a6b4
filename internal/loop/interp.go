package loop

import (
	"encoding/binary"
	"fmt"
	"math"

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
	in := &interp{k: k, args: args}
	body, err := in.translate()
	if err != nil {
		return err
	}
	if err := in.checkArgs(); err != nil {
		return err
	}
	return in.run(body)
}

// interp runs statements over bits. What an expression, a variable or a local is
// has a place in vals.
type interp struct {
	k      *Kernel
	args   *Args
	vals   []uint64
	params []elements
}

// elements are those of a buffer.
type elements struct {
	data    []byte
	size, n int
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
		in.params = append(in.params, elements{in.args.Buffers[i], p.DType.Size(), len(in.args.Buffers[i]) / p.DType.Size()})
	}
	return nil
}

func (in *interp) run(body []action) error {
	for i := range body {
		a := &body[i]
		if err := in.compute(a.code); err != nil {
			return err
		}
		if err := in.act(a); err != nil {
			return err
		}
	}
	return nil
}

// act does what is left of a statement whose expressions are computed.
func (in *interp) act(a *action) error {
	switch s := a.stmt.(type) {
	case *Loop:
		return in.loop(s, a)
	case *Set:
		in.vals[a.to] = in.vals[a.value]
	case *Acc:
		in.vals[a.to] = a.fn(in.vals[a.to], in.vals[a.value], 0)
	case *Store:
		if in.vals[a.valid] == 0 {
			return nil
		}
		b, err := in.element(s.Param, int64(in.vals[a.to]))
		if err != nil {
			return err
		}
		putBits(b, in.vals[a.value])
	}
	return nil
}

func (in *interp) loop(l *Loop, a *action) error {
	lo, hi := int64(in.vals[a.lo]), int64(in.vals[a.hi])
	if l.Range == Global {
		start, end := int64(in.args.Start), int64(in.args.End)
		if start < lo || end > max(hi, lo) {
			return in.errorf("iterations %d to %d are outside the loop's %d to %d", start, end, lo, hi)
		}
		lo, hi = start, end
	}
	for v := lo; v < hi; v++ {
		in.vals[a.to] = uint64(v)
		if err := in.run(a.body); err != nil {
			return err
		}
	}
	return nil
}

// element is the bytes of one element of a param.
func (in *interp) element(param int, index int64) ([]byte, error) {
	p := &in.params[param]
	if uint64(index) >= uint64(p.n) {
		return nil, in.errorf("index %d of param %s is outside its %d elements", index, in.k.Params[param].Name, p.n)
	}
	return p.data[int(index)*p.size:][:p.size], nil
}

// compute runs the instructions of a statement.
func (in *interp) compute(code []instruction) error {
	vals := in.vals
	for i := range code {
		c := &code[i]
		switch c.task {
		case taskAdd:
			vals[c.to] = vals[c.x] + vals[c.y]
		case taskMul:
			vals[c.to] = vals[c.x] * vals[c.y]
		case taskFMA:
			vals[c.to] = uint64(math.Float32bits(FMA32(float(vals[c.x]), float(vals[c.y]), float(vals[c.z]))))
		case taskDivide:
			if vals[c.y] == 0 {
				return in.errorf("%v by zero", c.e.Op)
			}
			fallthrough
		case taskApply:
			vals[c.to] = c.fn(vals[c.x], vals[c.y], vals[c.z])
		case taskLoad:
			vals[c.to] = 0
			if vals[c.y] == 0 {
				continue
			}
			b, err := in.element(c.e.Param, int64(vals[c.x]))
			if err != nil {
				return err
			}
			vals[c.to] = getBits(b)
		case taskIndex:
			x := int64(vals[c.x])
			if x < 0 || x >= c.size {
				in.args.Status[c.e.Slot] = 1
				x = max(0, min(x, c.size-1))
			}
			vals[c.to] = uint64(x)
		}
	}
	return nil
}

func float(bits uint64) float32 { return math.Float32frombits(uint32(bits)) }

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
