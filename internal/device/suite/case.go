package suite

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/ir"
)

// Case describes one computation.
type Case struct {
	Name string
	// Build makes the graph and says what the leaves hold.
	Build func(b *Builder) []*ir.Node
	// Sizes are the values of the graph's symbols, one run each, the largest
	// last; nil is one run of a graph without symbols.
	Sizes []ir.Env
	// Exact asks for equal bits, the payloads of NaN included: for what moves
	// elements.
	Exact bool
	// Flops is what one run computes, for benchmarks; nil: not worth timing.
	Flops func(env ir.Env) float64
	// Fails tells whether an error is the one that every run must end with;
	// nil: none may.
	Fails func(err error) error

	once  sync.Once
	err   error // of preparing
	graph *ir.Graph
	runs  []*Sample
}

// Sample is one run of a case: what goes in and what must come out.
type Sample struct {
	Env    ir.Env
	Leaves [][]byte
	Want   [][]byte    // the referee's outputs
	Bounds [][]float64 // how far the referee may be from the truth, by element
}

// Builder makes the graph of a case. The first error is kept and reported by
// the case; nodes are nil from then on.
type Builder struct {
	graph *ir.Builder
	fills map[string]Fill
	err   error
}

// Leaf adds a leaf of the given kind that holds what fill draws.
func (b *Builder) Leaf(kind ir.Op, d ir.DType, fill Fill, shape ...ir.Dim) *ir.Node {
	l := ir.Leaf{Kind: kind, Name: "x" + strconv.Itoa(len(b.fills)), Type: ir.Type{DType: d, Shape: shape}}
	if kind != ir.Input {
		l.Storage = new(byte) // leaves are equal only if they share it
	}
	b.fills[l.Name] = fill
	n, err := b.graph.AddLeaf(l)
	return b.keep(n, err)
}

// Input adds a leaf of kind Input.
func (b *Builder) Input(d ir.DType, fill Fill, shape ...ir.Dim) *ir.Node {
	return b.Leaf(ir.Input, d, fill, shape...)
}

// Add adds a node.
func (b *Builder) Add(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
	if b.err != nil {
		return nil
	}
	n, err := b.graph.Add(op, a, in...)
	return b.keep(n, err)
}

// Full makes a constant of the given shape.
func (b *Builder) Full(d ir.DType, v float64, shape ...ir.Dim) *ir.Node {
	bits, err := ir.Bits(d, v)
	if err != nil {
		return b.keep(nil, err)
	}
	ones := make(ir.Shape, len(shape))
	for i := range ones {
		ones[i] = ir.N(1)
	}
	n := b.Add(ir.Const, ir.Attr{DType: d, Value: bits})
	return b.Add(ir.Expand, ir.Attr{Shape: shape}, b.Add(ir.Reshape, ir.Attr{Shape: ones}, n))
}

func (b *Builder) keep(n *ir.Node, err error) *ir.Node {
	if b.err == nil {
		b.err = err
	}
	if b.err != nil {
		return nil
	}
	return n
}

// build makes the graph and notes what its leaves hold, by number.
func (c *Case) build() (*ir.Graph, []Fill, error) {
	b := &Builder{graph: ir.NewBuilder(nil), fills: map[string]Fill{}}
	outs := c.Build(b)
	if b.err != nil {
		return nil, nil, fmt.Errorf("building the graph: %w", b.err)
	}
	g := b.graph.Finish(outs...)
	fills := make([]Fill, len(g.Leaves))
	for i, l := range g.Leaves {
		fills[i] = b.fills[l.Name]
	}
	return g, fills, ir.Check(g)
}

// Prepare builds the case and asks the referee for the results, once for all
// devices.
func (c *Case) Prepare() (*ir.Graph, []*Sample, error) {
	c.once.Do(func() { c.err = c.prepare() })
	return c.graph, c.runs, c.err
}

func (c *Case) prepare() error {
	g, fills, err := c.build()
	if err != nil {
		return err
	}
	c.graph = g
	sizes := c.Sizes
	if sizes == nil {
		sizes = []ir.Env{nil}
	}
	name := fnv.New64()
	_, _ = name.Write([]byte(c.Name))
	for i, env := range sizes {
		r := &Sample{Env: env}
		rng := rand.New(rand.NewPCG(name.Sum64(), uint64(i)))
		for j, l := range g.Leaves {
			n, err := l.Type.Shape.Numel().Eval(env)
			if err != nil {
				return err
			}
			r.Leaves = append(r.Leaves, encode(l.Type.DType, fills[j](rng, l.Type.DType, n, env)))
		}
		r.Want, r.Bounds, err = interp.Evaluate(context.Background(), g, env, r.Leaves)
		if err := c.judge(err); err != nil {
			return fmt.Errorf("the referee at %v: %w", env, err)
		}
		c.runs = append(c.runs, r)
	}
	return nil
}

// judge compares the error of a run with the one that the case wants.
func (c *Case) judge(err error) error {
	switch {
	case c.Fails == nil:
		return err
	case err == nil:
		return fmt.Errorf("no error")
	}
	return c.Fails(err)
}

// encode turns the bits of elements into memory.
func encode(d ir.DType, elements []uint64) []byte {
	data := make([]byte, 0, len(elements)*d.Size())
	for _, e := range elements {
		switch d.Size() {
		case 1:
			data = append(data, byte(e))
		case 2:
			data = binary.LittleEndian.AppendUint16(data, uint16(e))
		case 4:
			data = binary.LittleEndian.AppendUint32(data, uint32(e))
		default:
			data = binary.LittleEndian.AppendUint64(data, e)
		}
	}
	return data
}

// element reads what encode wrote.
func element(d ir.DType, data []byte, i int) uint64 {
	switch d.Size() {
	case 1:
		return uint64(data[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(data[2*i:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return binary.LittleEndian.Uint64(data[8*i:])
}
