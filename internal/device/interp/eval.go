package interp

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
)

// run is one evaluation of a graph.
type run struct {
	graph  *ir.Graph
	env    ir.Env
	leaves [][]byte
	bounds bool
}

// call is one node while it is evaluated. The outputs are allocated, with
// memory that is all zero.
type call struct {
	*ir.Node
	env    ir.Env
	leaves [][]byte
	in     []*value
	out    []*value
}

// rule is how the interpreter does one operation.
type rule struct {
	eval func(c *call) error
	// wide operations compute on f16 and bf16 as f32: operands are widened
	// before, results rounded after. The others move elements as they are.
	wide bool
	// alias is 1 + the operand whose elements the result is, under its own
	// shape; such a rule has no eval. 0: none.
	alias int
	bound func(c *call) // sets err of the outputs from in and out; nil: exact, or done by eval
}

// newRun checks what was bound against the graph.
func newRun(g *ir.Graph, env ir.Env, leaves [][]byte) (*run, error) {
	for _, s := range g.Symbols() {
		v, ok := env[s.Name]
		if !ok {
			return nil, fmt.Errorf("interp: size %q is not bound", s.Name)
		}
		if int64(v) < s.Min || int64(v) > s.Max {
			return nil, fmt.Errorf("interp: size %q is %d, outside [%d, %d]", s.Name, v, s.Min, s.Max)
		}
	}
	if len(leaves) != len(g.Leaves) {
		return nil, fmt.Errorf("interp: %d leaves bound, the graph has %d", len(leaves), len(g.Leaves))
	}
	r := &run{graph: g, env: env, leaves: leaves}
	for i, l := range g.Leaves {
		shape, err := l.Type.Shape.Eval(env)
		if err != nil {
			return nil, fmt.Errorf("interp: leaf %q: %w", l.Name, err)
		}
		if want := numel(shape) * l.Type.DType.Size(); len(leaves[i]) != want {
			return nil, fmt.Errorf("interp: leaf %q has %d bytes, %v%v needs %d", l.Name, len(leaves[i]), l.Type.DType, shape, want)
		}
	}
	return r, nil
}

// evaluate computes the nodes in order and returns the graph's outputs. A
// value is dropped after its last use.
func (r *run) evaluate(ctx context.Context) ([]*value, error) {
	uses := make([]int, len(r.graph.Nodes))
	for _, n := range r.graph.Nodes {
		for _, in := range n.In {
			uses[in.ID]++
		}
	}
	for _, o := range r.graph.Outputs {
		uses[o.ID]++
	}
	done := make([][]*value, len(r.graph.Nodes))
	for _, n := range r.graph.Nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in := make([]*value, len(n.In))
		for i, x := range n.In {
			in[i] = done[x.ID][0]
			if n.Op == ir.Get {
				in[i] = done[x.ID][n.Attr.Out]
			}
		}
		out, err := r.node(n, in)
		if err != nil {
			return nil, fmt.Errorf("interp: node %d: %w", n.ID, err)
		}
		done[n.ID] = out
		for _, x := range n.In {
			if uses[x.ID]--; uses[x.ID] == 0 {
				done[x.ID] = nil
			}
		}
	}
	outs := make([]*value, len(r.graph.Outputs))
	for i, o := range r.graph.Outputs {
		outs[i] = done[o.ID][0]
	}
	return outs, nil
}

// node evaluates n.
func (r *run) node(n *ir.Node, in []*value) ([]*value, error) {
	rl := rules[n.Op]
	if rl.alias == 0 && rl.eval == nil {
		return nil, fmt.Errorf("the interpreter has no rule for %v", n.Op)
	}
	if n.Op == ir.Scatter && n.Attr.Mode == "set" {
		rl.wide = false // elements are moved as they are
	}
	c := &call{Node: n, env: r.env, leaves: r.leaves, in: in}
	for i := range n.Op.Outputs() {
		t := n.Out(i)
		shape, err := t.Shape.Eval(r.env)
		if err != nil {
			return nil, err
		}
		if rl.alias > 0 {
			x := in[rl.alias-1]
			c.out = []*value{{t: t.DType, shape: shape, data: x.data, err: x.err}}
			if r.bounds && rl.bound != nil {
				rl.bound(c)
			}
			return c.out, nil
		}
		if rl.wide && narrow(t.DType) {
			t.DType = ir.F32
		}
		v, err := newValue(t.DType, shape)
		if err != nil {
			return nil, err
		}
		c.out = append(c.out, v)
	}
	if rl.wide {
		return r.wide(rl, c)
	}
	if err := rl.eval(c); err != nil {
		return nil, err
	}
	if r.bounds && rl.bound != nil {
		rl.bound(c)
	}
	return c.out, nil
}

// wide evaluates an operation in the types that arithmetic is done in.
func (r *run) wide(rl rule, c *call) ([]*value, error) {
	stored := c.in
	c.in = make([]*value, len(stored))
	for i, x := range stored {
		w, err := widened(x)
		if err != nil {
			return nil, err
		}
		c.in[i] = w
	}
	if err := rl.eval(c); err != nil {
		return nil, err
	}
	for i, w := range c.out {
		if t := c.Out(i).DType; narrow(t) {
			v, err := narrowed(w, t)
			if err != nil {
				return nil, err
			}
			c.out[i] = v
		}
	}
	if r.bounds && rl.bound != nil {
		c.in = stored
		rl.bound(c)
	}
	return c.out, nil
}

// aligned is p where its address suits elements of the given size, else a
// copy that does: weights may lie anywhere in a file.
func aligned(p []byte, size int) ([]byte, error) {
	if uintptr(unsafe.Pointer(unsafe.SliceData(p)))%uintptr(size) == 0 {
		return p, nil
	}
	q, err := allocate(len(p))
	if err != nil {
		return nil, err
	}
	copy(q, p)
	return q, nil
}

// kernels is the arithmetic of one dtype.
type kernels interface {
	unary(c *call) error
	binary(c *call) error
	compare(c *call)
	reduce(c *call)
	extreme(c *call) error
	argExtreme(c *call) error
	cast(out, x *value)
	iota(out *value, axis int)
	scatterAdd(c *call, at []int)
	matMul(c *call)
	conv(c *call)
	sort(c *call)
	scan(c *call)
	segmentReduce(c *call, offsets []int32)
}

var kernelsOf = map[ir.DType]kernels{
	ir.F32: floats[float32]{}, ir.F64: floats[float64]{},
	ir.I8: integers[int8]{}, ir.I16: integers[int16]{}, ir.I32: integers[int32]{}, ir.I64: integers[int64]{},
	ir.U8: integers[uint8]{}, ir.U16: integers[uint16]{}, ir.U32: integers[uint32]{}, ir.U64: integers[uint64]{},
	ir.Bool: integers[uint8]{}, // 0 or 1
}

// numbers is what floats and integers do alike. A is the type that sums and
// products are accumulated in: float64, or the integer type itself, in which
// they wrap.
type numbers[T, A number] struct{}

type floats[T float] struct{ numbers[T, float64] }

type integers[T integer] struct{ numbers[T, T] }

// with calls f with the kernels of operand i's dtype.
func with(i int, f func(k kernels, c *call) error) func(c *call) error {
	return func(c *call) error { return f(kernelsOf[c.in[i].t], c) }
}

// run0 adapts a kernel that cannot fail.
func run0(f func(k kernels, c *call)) func(c *call) error {
	return with(0, func(k kernels, c *call) error { f(k, c); return nil })
}
