package devicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// inPlace runs programs that assign variables step after step, on memory of its
// own for each new value and over the old values where the device says that it
// may: the bits are the same, and nothing else is written.
func (s *subject) inPlace() error {
	for _, c := range suite.InPlace {
		g, err := ir.Parse("graph" + c.Graph)
		if err == nil {
			err = s.overwrites(g)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

func (s *subject) overwrites(g *ir.Graph) (err error) {
	m, err := s.two.CompileGraph(context.Background(), g, s.compile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	in := m.Info().InPlace
	if !slices.Contains(in, true) {
		return nil
	}
	r := &suite.Sample{}
	for i, l := range g.Leaves {
		n, _ := l.Type.Shape.Numel().Const()
		r.Leaves = append(r.Leaves, eighths(n, l.Type.DType, i))
	}
	apart, err := bind(s.two, m, g, r)
	if err != nil {
		return err
	}
	own, err := bind(s.two, m, g, r)
	if err != nil {
		return err
	}
	over := &device.Bound{Module: m, Leaves: own.Leaves, Outputs: slices.Clone(own.Outputs)}
	for i, o := range g.Outputs {
		if in[i] {
			over.Outputs[i] = over.Leaves[o.Attr.Leaf]
		}
	}
	defer func() {
		for _, buf := range slices.Concat(apart.Leaves, apart.Outputs, own.Leaves, own.Outputs) {
			err = errors.Join(err, buf.Close())
		}
	}()
	steps := 3
	if s.slow && effort.Less() {
		steps = 2
	}
	for step := range steps {
		if err := s.step(g, apart, over); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	return nil
}

// step runs one step of both and compares all that they have afterwards.
func (s *subject) step(g *ir.Graph, apart, over *device.Bound) error {
	ctx := context.Background()
	for _, b := range []*device.Bound{apart, over} {
		if err := suite.Submit(ctx, s.two, b); err != nil {
			return err
		}
		for i, o := range g.Outputs { // new values become those of the next step
			if to := b.Leaves[o.Attr.Leaf]; o.Op == ir.Assign && to != b.Outputs[i] {
				if err := s.two.Copy(ctx, to, b.Outputs[i]); err != nil {
					return err
				}
			}
		}
	}
	read := func(b *device.Bound) ([][]byte, error) {
		return suite.Contents(ctx, s.two, slices.Concat(b.Leaves, b.Outputs))
	}
	want, err := read(apart)
	if err != nil {
		return err
	}
	got, err := read(over)
	if err != nil {
		return err
	}
	return suite.SameBits(want, got)
}

// eighths is n different numbers of a type, or indices that are right.
func eighths(n int, d ir.DType, seed int) []byte {
	data := make([]byte, n*d.Size())
	for i := range n {
		v := float64((i+seed)*7919%n)/8 - 3
		if d.IsInt() {
			v = float64(i % 30)
		}
		x, _ := ir.Bits(d, v)
		for b := range d.Size() {
			data[i*d.Size()+b] = byte(x >> (8 * b))
		}
	}
	return data
}
