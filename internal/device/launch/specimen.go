package launch

import (
	"context"
	"errors"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

const specimenRow = 1024 // elements of a row

// builder adds what is measured to a graph.
type builder func(*ir.Builder, *ir.Node) (*ir.Node, error)

// copies doubles its input; multiplyAdds multiplies and adds it so often.
func copies(b *ir.Builder, x *ir.Node) (*ir.Node, error) { return b.Add(ir.Add, ir.Attr{}, x, x) }

func multiplyAdds(links int) builder {
	return func(b *ir.Builder, x *ir.Node) (*ir.Node, error) {
		y := x
		for range links {
			product, err := b.Add(ir.Mul, ir.Attr{}, y, x)
			if err != nil {
				return nil, err
			}
			if y, err = b.Add(ir.Add, ir.Attr{}, product, x); err != nil {
				return nil, err
			}
		}
		return y, nil
	}
}

// specimen has a program of one kernel over so many rows, by which the device is
// measured, and a session of it that is bound. It gives the operations of a run.
func (d *Device) specimen(ctx context.Context, build builder, rows int, use func(*session) error) (operations float64, err error) {
	m, err := d.specimenProgram(ctx, build, rows)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	s, err := m.newSession(nil, false)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.end(false)) }()
	run := &device.Bound{Module: m}
	for _, to := range []*[]device.Buffer{&run.Leaves, &run.Outputs} {
		buf, err := d.newBuffer(4 * rows * specimenRow)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, buf.Close()) }()
		if err := d.backend.Write(buf.mem, 0, slices.Repeat([]byte{0, 0, 0, 63}, rows*specimenRow)); err != nil { // 0.5
			return 0, err
		}
		*to = append(*to, buf)
	}
	if err := s.bind(ctx, run); err != nil {
		return 0, err
	}
	cost, err := m.plan.Kernels[0].Cost(nil)
	if err != nil {
		return 0, err
	}
	return cost.Operations, use(s)
}

func (d *Device) specimenProgram(ctx context.Context, build builder, rows int) (*module, error) {
	b := ir.NewBuilder(nil)
	x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(rows, specimenRow)}})
	if err != nil {
		return nil, err
	}
	y, err := build(b, x)
	if err != nil {
		return nil, err
	}
	m, err := d.CompileGraph(ctx, b.Finish(y), device.Options{NoOpt: []string{"tuning"}})
	if err != nil {
		return nil, err
	}
	return m.(*module), nil
}
