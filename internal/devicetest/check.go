package devicetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// check runs a case at each of its sizes, twice.
func (s *subject) check(ctx context.Context, c *Case) (err error) {
	if err := c.prepare(); err != nil {
		return err
	}
	m, err := s.two.CompileGraph(ctx, c.graph, s.compile)
	if err != nil {
		return fmt.Errorf("compiling: %w\n%v", err, c.graph)
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	for _, r := range c.runs {
		if err := s.checkRun(ctx, c, r, m); err != nil {
			return fmt.Errorf("at %v: %w\n%v", r.env, err, c.graph)
		}
	}
	return nil
}

func (s *subject) checkRun(ctx context.Context, c *Case, r *sample, m device.Module) error {
	got, err := execute(ctx, s.two, m, c.graph, r)
	if err := c.judge(err); err != nil {
		return err
	}
	if c.Fails != nil {
		return nil
	}
	if err := c.compare(got, r); err != nil {
		return err
	}
	again, err := execute(ctx, s.two, m, c.graph, r)
	if err != nil {
		return fmt.Errorf("the second run: %w", err)
	}
	if err := sameBits(got, again); err != nil {
		return fmt.Errorf("the second run differs: %w", err)
	}
	return nil
}

func sameBits(x, y [][]byte) error {
	for i := range x {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Errorf("output %d", i)
		}
	}
	return nil
}

// execute runs a module with every buffer between canaries, where the device
// works on the host's memory, and makes sure that nothing but the outputs
// was written.
func execute(ctx context.Context, d device.Device, m device.Module, g *ir.Graph, r *sample) (outs [][]byte, err error) {
	b := &device.Bound{Module: m, Env: r.env}
	defer func() {
		for _, buf := range append(b.Leaves, b.Outputs...) {
			err = errors.Join(err, buf.Close())
		}
	}()
	sizes, err := bufferSizes(g, r)
	if err != nil {
		return nil, err
	}
	guard := newGuarded(sizes)
	for i, n := range sizes {
		data := guard.block(n)
		buf, err := d.Import(data)
		if err != nil {
			return nil, err
		}
		if i < len(r.leaves) {
			copy(data, r.leaves[i])
			b.Leaves = append(b.Leaves, buf)
			continue
		}
		if !inPlace(buf, data) { // a copy would not come back
			if err := buf.Close(); err != nil {
				return nil, err
			}
			if buf, err = d.Alloc(n); err != nil {
				return nil, err
			}
		}
		b.Outputs = append(b.Outputs, buf)
	}
	if err := submit(ctx, d, b); err != nil {
		return nil, err
	}
	for _, o := range b.Outputs {
		out := make([]byte, o.Size())
		if err := d.Copy(ctx, hostBuffer(out), o); err != nil {
			return nil, err
		}
		outs = append(outs, out)
	}
	if err := guard.check(); err != nil {
		return nil, fmt.Errorf("leaves and then outputs: %w", err)
	}
	for i, leaf := range r.leaves {
		start := guard.start(i)
		if !bytes.Equal(guard.room[start:guard.ends[i]], leaf) {
			return nil, fmt.Errorf("leaf %d was written", i)
		}
	}
	return outs, nil
}

// bufferSizes are the bytes of the leaves and then of the outputs.
func bufferSizes(g *ir.Graph, r *sample) ([]int, error) {
	var sizes []int
	for _, leaf := range r.leaves {
		sizes = append(sizes, len(leaf))
	}
	for _, o := range g.Outputs {
		n, err := o.Shape.Numel().Eval(r.env)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, n*o.DType.Size())
	}
	return sizes, nil
}

func inPlace(b device.Buffer, data []byte) bool {
	have := b.Bytes()
	return len(data) > 0 && len(have) == len(data) && unsafe.SliceData(have) == unsafe.SliceData(data)
}

func submit(ctx context.Context, d device.Device, b *device.Bound) error {
	e, err := d.Submit(ctx, b)
	if err != nil {
		return err
	}
	return e.Wait(ctx)
}

// hostBuffer is Go memory as the target of a copy.
type hostBuffer []byte

func (b hostBuffer) Size() int     { return len(b) }
func (b hostBuffer) Bytes() []byte { return b }
func (b hostBuffer) Retain()       {}
func (b hostBuffer) Close() error  { return nil }

// compare finds the first element that is further from the referee's than
// twice the bound: the referee itself may be off by one.
func (c *Case) compare(got [][]byte, r *sample) error {
	for i, o := range c.graph.Outputs {
		for k := range len(r.want[i]) / o.DType.Size() {
			x, y := element(o.DType, got[i], k), element(o.DType, r.want[i], k)
			if x == y || !c.Exact && near(o.DType, x, y, 2*r.bounds[i][k]) {
				continue
			}
			if !o.DType.IsFloat() {
				return fmt.Errorf("output %d, element %d is %d, want %d", i, k, ir.Int(o.DType, x), ir.Int(o.DType, y))
			}
			return fmt.Errorf("output %d, element %d is %v (%#x), want %v (%#x) within %v", i, k,
				ir.Float(o.DType, x), x, ir.Float(o.DType, y), y, 2*r.bounds[i][k])
		}
	}
	return nil
}

// near compares floats. Zeros without an error have a sign.
func near(d ir.DType, x, y uint64, bound float64) bool {
	if !d.IsFloat() {
		return math.IsInf(bound, 1) // an index that errors may have moved
	}
	f, g := ir.Float(d, x), ir.Float(d, y)
	if math.IsNaN(f) && math.IsNaN(g) || math.IsInf(bound, 1) {
		return true
	}
	return bound > 0 && math.Abs(f-g) <= bound
}
