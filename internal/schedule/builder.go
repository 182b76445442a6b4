package schedule

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// builder lowers one kernel: it turns nodes at an index into expressions over
// the kernel's params.
type builder struct {
	s      *partition
	name   string
	params []loop.Param
	bufs   []bufferKey // of each param; the zero key for scratch
	checks []nodeCheck
	bounds map[*loop.Var]ir.Dim
	memo   map[memoKey]*loop.Expr
	// local holds what the kernel itself has computed: given the index, the
	// value; nil where it has not been computed at that index.
	local          map[*ir.Node]func(idx []*loop.Expr) *loop.Expr
	nvars, nlocals int
	// hoist, where set, may keep the value e of an expanded node in a local.
	hoist func(n *ir.Node, idx []*loop.Expr, e *loop.Expr) *loop.Expr
}

// bufferKey names the memory of a node's output, or of what the parts of a
// reduction leave to be combined.
type bufferKey struct {
	node  *ir.Node
	out   int
	parts *partials
}

// content is what a buffer holds.
func (k bufferKey) content() (ir.DType, ir.Dim) {
	if k.parts != nil {
		return k.parts.dtype, k.parts.len
	}
	t := k.node.Out(k.out)
	return t.DType, t.Shape.Numel()
}

// nodeCheck is a Check before buffers are numbered; an integer division has no
// key.
type nodeCheck struct {
	op   ir.Op
	key  bufferKey
	size ir.Dim
}

// memoKey identifies a value by the place in the index slice it was asked for
// with; lowering hands the same slice down where the index is the same.
type memoKey struct {
	node  *ir.Node
	idx   **loop.Expr
	valid *loop.Expr
}

func (s *partition) newBuilder() *builder {
	return &builder{s: s, bounds: map[*loop.Var]ir.Dim{}, memo: map[memoKey]*loop.Expr{}, local: map[*ir.Node]func([]*loop.Expr) *loop.Expr{}}
}

// variable makes a loop variable that runs below size.
func (b *builder) variable(name string, size ir.Dim) *loop.Var {
	v := &loop.Var{Name: fmt.Sprintf("%s%d", name, b.nvars)}
	b.nvars++
	b.bounds[v] = size
	return v
}

// newLocal makes a local. Names count within the kernel, so that equal kernels
// of different nodes have equal texts.
func (b *builder) newLocal(name string, d ir.DType) *loop.Local {
	b.nlocals++
	return &loop.Local{Name: fmt.Sprintf("%s%d", name, b.nlocals), DType: d}
}

func (b *builder) bound(v *loop.Var) (ir.Dim, bool) { d, ok := b.bounds[v]; return d, ok }

// param finds or adds the param for a buffer.
func (b *builder) param(key bufferKey, use loop.Use) int {
	for i, k := range b.bufs {
		if k == key {
			if b.params[i].Use == loop.Read && use != loop.Read {
				b.params[i].Use = use
			}
			return i
		}
	}
	d, n := key.content()
	b.params = append(b.params, loop.Param{Name: fmt.Sprintf("p%d", len(b.params)), DType: d, Len: n, Use: use})
	b.bufs = append(b.bufs, key)
	return len(b.params) - 1
}

// scratch adds memory private to a worker.
func (b *builder) scratch(d ir.DType, n ir.Dim) int {
	b.params = append(b.params, loop.Param{Name: fmt.Sprintf("s%d", len(b.params)), DType: d, Len: n, Use: loop.Scratch})
	b.bufs = append(b.bufs, bufferKey{})
	return len(b.params) - 1
}

// key is where a node that isBuffer keeps its value.
func (s *partition) key(n *ir.Node) bufferKey {
	if n.Op == ir.Get {
		return bufferKey{node: n.In[0], out: n.Attr.Out}
	}
	return bufferKey{node: n}
}

// linear is the row-major position of idx in shape.
func linear(idx []*loop.Expr, shape ir.Shape) *loop.Expr {
	sum := loop.Int(0)
	for i, st := range shape.Strides() {
		// An index that data tells is kept for its check, though it is 0.
		if !shape[i].IsConst(1) || idx[i].Kind == loop.KindIndex {
			sum = loop.AddIndex(sum, loop.MulIndex(idx[i], loop.SizeOf(st)))
		}
	}
	return sum
}

// store puts value into the buffer of n at idx.
func (b *builder) store(n *ir.Node, idx []*loop.Expr, value *loop.Expr) *loop.Store {
	return &loop.Store{Param: b.param(bufferKey{node: n}, loop.Write), Index: b.s.place(n, idx), Value: value}
}

// value is n's element at idx. Where valid is given and false the result does
// not matter, and no memory may be read.
func (b *builder) value(n *ir.Node, idx []*loop.Expr, valid *loop.Expr) (*loop.Expr, error) {
	var at **loop.Expr
	if len(idx) > 0 {
		at = &idx[0]
	}
	key := memoKey{n, at, valid}
	if e, ok := b.memo[key]; ok {
		return e, nil
	}
	var e *loop.Expr
	var err error
	if have := b.local[n]; have != nil {
		e = have(idx)
	}
	switch {
	case e != nil:
	case b.s.isBuffer(n):
		e = b.load(n, b.s.place(n, idx), valid)
	default:
		e, err = b.compute(n, idx, valid)
	}
	if err != nil {
		return nil, err
	}
	b.memo[key] = e
	return e, nil
}

func (b *builder) load(n *ir.Node, at, valid *loop.Expr) *loop.Expr {
	return loop.Load(b.param(b.s.key(n), loop.Read), n.DType, at, valid)
}

// compute is the value of a node at idx whether or not it also has a buffer:
// what a root's own kernel does.
func (b *builder) compute(n *ir.Node, idx []*loop.Expr, valid *loop.Expr) (*loop.Expr, error) {
	switch {
	case n.Op.Pointwise():
		args := make([]*loop.Expr, len(n.In))
		for i, in := range n.In {
			a, err := b.value(in, idx, valid)
			if err != nil {
				return nil, err
			}
			args[i] = a
		}
		if n.Op == ir.IDiv || n.Op == ir.Mod {
			args[1] = b.divisor(n.Op, args[1], valid)
		}
		return loop.Apply(n.Op, n.DType, args...), nil
	case n.Op.Class() == ir.ClassMovement:
		return b.move(n, idx, valid)
	}
	switch n.Op {
	case ir.Const:
		return loop.Const(n.DType, n.Attr.Value), nil
	case ir.Iota:
		return castIndex(idx[n.Attr.Axis()], n.DType), nil
	case ir.Rand:
		return b.random(n, idx, valid)
	case ir.Gather:
		return b.gather(n, idx, valid)
	case ir.Contiguous:
		return b.value(n.In[0], idx, valid)
	case ir.Assign:
		return b.value(n.In[1], idx, valid)
	}
	return nil, fmt.Errorf("%v cannot be computed element by element", n)
}

// divisor guards an integer division: by zero sets a status word and divides
// by one.
func (b *builder) divisor(op ir.Op, y, valid *loop.Expr) *loop.Expr {
	if y.Kind == loop.KindConst && y.Bits != 0 {
		return y
	}
	zero := loop.Apply(ir.Equal, ir.Bool, y, loop.Const(y.DType, 0))
	bad := loop.And(valid, zero)
	b.checks = append(b.checks, nodeCheck{op: op})
	// An index into one element: 1 is outside, and clamps to 0.
	flag := loop.Index(loop.Apply(ir.Cast, ir.I64, bad), ir.N(1), len(b.checks)-1)
	one := loop.Apply(ir.Where, y.DType, zero, loop.Const(y.DType, 1), y)
	return loop.Apply(ir.Add, y.DType, one, loop.Apply(ir.Cast, y.DType, flag))
}

func castIndex(i *loop.Expr, d ir.DType) *loop.Expr {
	if d == ir.I64 {
		return i
	}
	return loop.Apply(ir.Cast, d, i)
}

// gather reads the operand at a place that data tells.
func (b *builder) gather(n *ir.Node, idx []*loop.Expr, valid *loop.Expr) (*loop.Expr, error) {
	i, err := b.value(n.In[1], idx, valid)
	if err != nil {
		return nil, err
	}
	axis := n.Attr.Axis()
	size := n.In[0].Shape[axis]
	at := append([]*loop.Expr(nil), idx...)
	at[axis] = loop.Index(castIndex64(i), size, b.check(n, size))
	if _, hi := size.Bounds(); hi == 0 {
		valid = loop.Const(ir.Bool, 0)
	}
	return b.value(n.In[0], at, valid)
}

func castIndex64(i *loop.Expr) *loop.Expr {
	if i.DType == ir.I64 {
		return i
	}
	return loop.Apply(ir.Cast, ir.I64, i)
}

// check takes a status word for the indices of n, which is a Gather or Scatter.
func (b *builder) check(n *ir.Node, size ir.Dim) int {
	base := n.In[1]
	for !b.s.isBuffer(base) {
		base = base.In[0] // needView has seen to it that these are views
	}
	key := b.s.key(base)
	for i, c := range b.checks {
		if c.key == key && c.size.Equal(size) {
			return i
		}
	}
	b.checks = append(b.checks, nodeCheck{n.Op, key, size})
	return len(b.checks) - 1
}

// nest wraps body in a loop over each var, the first outermost; the last one
// has range last, the others are serial.
func (b *builder) nest(vars []*loop.Var, last loop.Range, body []loop.Stmt) []loop.Stmt {
	for i := len(vars) - 1; i >= 0; i-- {
		r := loop.Serial
		if i == len(vars)-1 {
			r = last
		}
		body = []loop.Stmt{&loop.Loop{Var: vars[i], Hi: loop.SizeOf(b.bounds[vars[i]]), Range: r, Body: body}}
	}
	return body
}

// axes makes a variable for each axis of shape that want selects and an index
// that holds it; other axes, and axes of size 1, have index 0.
func (b *builder) axes(name string, shape ir.Shape, want func(axis int) bool) (vars []*loop.Var, idx []*loop.Expr) {
	idx = make([]*loop.Expr, len(shape))
	for i, d := range shape {
		idx[i] = loop.Int(0)
		if want(i) && !d.IsConst(1) {
			v := b.variable(name, d)
			vars = append(vars, v)
			idx[i] = v.Ref()
		}
	}
	return vars, idx
}

// merge writes the entries of from over the axes of into.
func merge(into, from []*loop.Expr, axes []int) []*loop.Expr {
	out := append([]*loop.Expr(nil), into...)
	for _, a := range axes {
		out[a] = from[a]
	}
	return out
}
