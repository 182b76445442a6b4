package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/ir"
)

// Runner is a device that compiles what it runs.
type Runner interface {
	device.Device
	device.Compiler
}

// Failure is a case that a device fails. It wraps what went wrong: a Difference,
// or an error of the device.
type Failure struct {
	Case  string
	Env   ir.Env // sizes of the run; nil where it was none, or of a graph without symbols
	Graph string
	Err   error
}

func (e *Failure) Error() string {
	at := ""
	if e.Env != nil {
		at = fmt.Sprintf("at %v: ", e.Env)
	}
	return fmt.Sprintf("%s%v\n%s", at, e.Err, e.Graph)
}

func (e *Failure) Unwrap() error { return e.Err }

// Run runs the case on a device at each of its sizes, twice. What fails is a
// Failure.
func (c *Case) Run(ctx context.Context, d Runner, o device.Options) (err error) {
	if _, _, err := c.Prepare(); err != nil {
		return err
	}
	m, err := d.CompileGraph(ctx, c.graph, o)
	if err != nil {
		return &Failure{Case: c.Name, Graph: c.graph.String(), Err: fmt.Errorf("compiling: %w", err)}
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	for _, r := range c.runs {
		if err := c.runAt(ctx, d, m, r); err != nil {
			return &Failure{Case: c.Name, Env: r.Env, Graph: c.graph.String(), Err: err}
		}
	}
	return nil
}

func (c *Case) runAt(ctx context.Context, d Runner, m device.Module, r *Sample) error {
	got, err := Execute(ctx, d, m, c.graph, r)
	if err := c.judge(err); err != nil {
		return err
	}
	if c.Fails != nil {
		return nil
	}
	if err := c.Compare(got, r); err != nil {
		return err
	}
	again, err := Execute(ctx, d, m, c.graph, r)
	if err != nil {
		return fmt.Errorf("the second run: %w", err)
	}
	if err := SameBits(got, again); err != nil {
		return fmt.Errorf("the second run differs: %w", err)
	}
	return nil
}

// SameBits compares the outputs of two runs.
func SameBits(x, y [][]byte) error {
	for i := range x {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Errorf("output %d", i)
		}
	}
	return nil
}

// Execute runs a module with every buffer between canaries, where the device
// works on the host's memory, and makes sure that nothing but the outputs
// was written.
func Execute(ctx context.Context, d device.Device, m device.Module, g *ir.Graph, r *Sample) (outs [][]byte, err error) {
	b := &device.Bound{Module: m, Env: r.Env}
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
		if i < len(r.Leaves) { // before it is imported: from then on it may be read
			copy(data, r.Leaves[i])
		}
		buf, err := d.Import(data)
		if err != nil {
			return nil, err
		}
		if i < len(r.Leaves) {
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
	if err := Submit(ctx, d, b); err != nil {
		return nil, err
	}
	if outs, err = Contents(ctx, d, b.Outputs); err != nil {
		return nil, err
	}
	if err := guard.check(); err != nil {
		return nil, fmt.Errorf("leaves and then outputs: %w", err)
	}
	for i, leaf := range r.Leaves {
		start := guard.start(i)
		if !bytes.Equal(guard.room[start:guard.ends[i]], leaf) {
			return nil, fmt.Errorf("leaf %d was written", i)
		}
	}
	return outs, nil
}

// bufferSizes are the bytes of the leaves and then of the outputs.
func bufferSizes(g *ir.Graph, r *Sample) ([]int, error) {
	var sizes []int
	for _, leaf := range r.Leaves {
		sizes = append(sizes, len(leaf))
	}
	for _, o := range g.Outputs {
		n, err := o.Shape.Numel().Eval(r.Env)
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

// Submit runs b to its end.
func Submit(ctx context.Context, d device.Device, b *device.Bound) error {
	e, err := d.Submit(ctx, b)
	if err != nil {
		return err
	}
	return e.Wait(ctx)
}

// Contents copies what buffers hold.
func Contents(ctx context.Context, d device.Device, buffers []device.Buffer) ([][]byte, error) {
	var all [][]byte
	for _, buf := range buffers {
		data := make([]byte, buf.Size())
		if err := d.Copy(ctx, compile.HostBytes(data), buf); err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}
