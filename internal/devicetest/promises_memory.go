package devicetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// misfits: too few buffers, missing ones, wrong sizes.
func misfits(f *fixture) error {
	refused := func(what string, change func(b *device.Bound)) error {
		b := &device.Bound{Module: f.m, Env: f.b.Env, Leaves: slices.Clone(f.b.Leaves), Outputs: slices.Clone(f.b.Outputs)}
		change(b)
		if err := suite.Submit(context.Background(), f, b); err == nil {
			return fmt.Errorf("%s: no error", what)
		}
		return nil
	}
	large, err := f.Alloc(f.b.Leaves[0].Size() + 4)
	if err != nil {
		return err
	}
	empty, err := f.Alloc(0)
	if err != nil {
		return err
	}
	return errors.Join(
		refused("a large leaf", func(b *device.Bound) { b.Leaves[0] = large }),
		refused("an empty leaf", func(b *device.Bound) { b.Leaves[0] = empty }),
		refused("no leaf", func(b *device.Bound) { b.Leaves[0] = nil }),
		refused("too few leaves", func(b *device.Bound) { b.Leaves = b.Leaves[:0] }),
		refused("a large output", func(b *device.Bound) { b.Outputs[0] = large }),
		refused("an empty output", func(b *device.Bound) { b.Outputs[0] = empty }),
		refused("no output", func(b *device.Bound) { b.Outputs[0] = nil }),
		refused("too few outputs", func(b *device.Bound) { b.Outputs = b.Outputs[:1] }),
		refused("no module", func(b *device.Bound) { b.Module = nil }),
		large.Close(), empty.Close(), f.run())
}

// outOfBounds: what proves that an index is inside trusts the bounds of sizes.
func outOfBounds(f *fixture) error {
	for _, env := range []ir.Env{nil, {"N": 3}, {"N": -1, "M": 5}, {"N": 3, "M": 0}, {"N": 1 << 40, "M": 5}, {"N": 1 << 62, "M": 1 << 62}} {
		b := *f.b
		b.Env = env
		if err := suite.Submit(context.Background(), f, &b); err == nil {
			return fmt.Errorf("sizes %v: no error", env)
		}
	}
	return f.run()
}

func (s *subject) foreign() error {
	c, err := caseNamed("softmax")
	if err != nil {
		return err
	}
	m, err := s.one.CompileGraph(context.Background(), c.graph, s.compile)
	if err != nil {
		return err
	}
	r := c.runs[0]
	b, err := bind(s.two, foreignModule{m}, c.graph, r)
	if err != nil {
		return err
	}
	refused := error(nil)
	if err := suite.Submit(context.Background(), s.two, b); err == nil {
		refused = errors.New("a module of another kind ran")
	}
	errs := []error{refused, m.Close()}
	for _, buf := range append(b.Leaves, b.Outputs...) {
		errs = append(errs, buf.Close())
	}
	return errors.Join(errs...)
}

// foreignModule is a module that no device has made.
type foreignModule struct{ device.Module }

func retained(f *fixture) error {
	x := f.b.Leaves[0]
	x.Retain()
	if err := x.Close(); err != nil {
		return err
	}
	return f.run()
}

func copies(f *fixture) error {
	ctx := context.Background()
	data := []byte("nineteen bytes long")
	x, err := f.Alloc(len(data))
	if err != nil {
		return err
	}
	y, err := f.Import(bytes.Clone(data))
	if err != nil {
		return err
	}
	short, err := f.Alloc(3)
	if err != nil {
		return err
	}
	back := make([]byte, len(data))
	if err := errors.Join(f.Copy(ctx, x, y), f.Copy(ctx, compile.HostBytes(back), x)); err != nil {
		return err
	}
	if !bytes.Equal(back, data) {
		return fmt.Errorf("copied %q, want %q", back, data)
	}
	if f.Copy(ctx, short, x) == nil || f.Copy(ctx, x, short) == nil {
		return errors.New("a copy between buffers of two sizes")
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.Copy(done, x, y); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a cancelled copy: %v", err)
	}
	return errors.Join(x.Close(), y.Close(), short.Close())
}

func givenBack(f *fixture) error {
	before := f.Stats()
	const size = 1 << 20
	x, err := f.Alloc(size)
	if err != nil {
		return err
	}
	if in := f.Stats(); in.Allocated < before.Allocated+size || in.Peak < in.Allocated {
		return fmt.Errorf("with %d bytes more, %+v became %+v", size, before, in)
	}
	if err := x.Close(); err != nil {
		return err
	}
	for range 20 {
		if err := f.run(); err != nil {
			return err
		}
	}
	if after := f.Stats(); after.Allocated != before.Allocated {
		return fmt.Errorf("%d bytes in use, %d before", after.Allocated, before.Allocated)
	}
	if x, err := f.Alloc(-1); err == nil {
		return errors.Join(errors.New("-1 bytes were allocated"), x.Close())
	}
	if x, err := f.Alloc(1 << 60); err == nil {
		return errors.Join(errors.New("2^60 bytes were allocated"), x.Close())
	}
	return nil
}

// addresses: tensors in files begin anywhere.
func (s *subject) addresses() error {
	for _, name := range []string{"softmax", "linear layer wide", "attention causal f32", "sort f32", "gather rows of a table"} {
		c, err := caseNamed(name)
		if err != nil {
			return err
		}
		m, err := s.two.CompileGraph(context.Background(), c.graph, s.compile)
		if err != nil {
			return err
		}
		r := c.runs[len(c.runs)-1]
		if effort.Less() {
			r = s.last(c)
		}
		moved := &suite.Sample{Env: maps.Clone(r.Env), Want: r.Want, Bounds: r.Bounds}
		b := &device.Bound{Module: m, Env: r.Env}
		for i, leaf := range r.Leaves {
			room := make([]byte, len(leaf)+128)
			data := room[1+2*i : 1+2*i+len(leaf)]
			copy(data, leaf)
			buf, err := s.two.Import(data)
			if err != nil {
				return err
			}
			b.Leaves = append(b.Leaves, buf)
		}
		outs, err := bind(s.two, m, c.graph, moved)
		if err != nil {
			return err
		}
		b.Outputs = outs.Outputs
		if err := suite.Submit(context.Background(), s.two, b); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		got, err := (&fixture{Runner: s.two, b: b}).outputs()
		if err == nil {
			err = c.Compare(got, r)
		}
		for _, buf := range append(b.Leaves, b.Outputs...) {
			err = errors.Join(err, buf.Close())
		}
		if err = errors.Join(err, m.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
