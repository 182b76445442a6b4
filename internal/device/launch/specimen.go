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

// copies doubles its input.
func copies(b *ir.Builder, x *ir.Node) (*ir.Node, error) { return b.Add(ir.Add, ir.Attr{}, x, x) }

// multiplyAdds has chains beside each other, each of so many multiply-adds.
func multiplyAdds(beside, links int) builder {
	return func(b *ir.Builder, x *ir.Node) (*ir.Node, error) {
		var err error
		add := func(op ir.Op, x, y *ir.Node) *ir.Node {
			if err != nil {
				return nil
			}
			var n *ir.Node
			n, err = b.Add(op, ir.Attr{}, x, y)
			return n
		}
		all := []*ir.Node{x}
		for i := range beside - 1 {
			all = append(all, add(ir.Add, all[i], x)) // no two are equal
		}
		for range links {
			for i, y := range all {
				all[i] = add(ir.Add, add(ir.Mul, y, x), x)
			}
		}
		sum := all[0]
		for _, y := range all[1:] {
			sum = add(ir.Add, sum, y)
		}
		return sum, err
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
