package compile

import (
	"context"
	"errors"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// Runner is a device that compiles graphs.
type Runner interface {
	device.Device
	device.Compiler
}

// FindDivision tells which division by zero a run of g met. Its kernel has only
// told that there was one, somewhere in an expression: a program of nothing but
// the divisors finds it.
func FindDivision(ctx context.Context, d Runner, g *ir.Graph, b *device.Bound) (err error) {
	g, ops, err := Divisors(g)
	if err != nil {
		return err
	}
	look, err := d.CompileGraph(ctx, g, device.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, look.Close()) }()
	again := &device.Bound{Module: look, Env: b.Env}
	for _, l := range g.Leaves {
		again.Leaves = append(again.Leaves, b.Leaves[l.Number])
	}
	for _, o := range g.Outputs {
		n, err := o.Shape.Numel().Eval(b.Env)
		if err != nil {
			return err
		}
		zeros, err := d.Alloc(n)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, zeros.Close()) }()
		again.Outputs = append(again.Outputs, zeros)
	}
	run, err := d.Submit(ctx, again)
	if err == nil {
		err = run.Wait(ctx)
	}
	if err != nil {
		return err
	}
	for i, zeros := range again.Outputs {
		found := make(HostBytes, zeros.Size())
		if err := d.Copy(ctx, found, zeros); err != nil {
			return err
		}
		if at := slices.Index(found, 1); at >= 0 {
			return &device.DivisionError{Op: ops[i].String(), At: at}
		}
	}
	return errors.New("an integer was divided by zero while the program ran: was the memory changed by others?")
}

// HostBytes is memory of Go as a buffer, to be copied to or from.
type HostBytes []byte

func (b HostBytes) Size() int     { return len(b) }
func (b HostBytes) Bytes() []byte { return b }
func (b HostBytes) Retain()       {}
func (b HostBytes) Close() error  { return nil }
