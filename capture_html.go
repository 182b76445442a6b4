package sinter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/inspect"
	"github.com/sinterml/sinter/internal/inspect/page"
	"github.com/sinterml/sinter/internal/ir"
)

// HTML writes the graph as a page that needs nothing but itself: its operations
// with the values that are there by now, what each stage of compiling for the
// best device makes of them, kernels, memory and machine code. Sizes that a run
// would bring are about 128 in it. It compiles and never evaluates; where the
// graph cannot be compiled the page says why and shows it as it is.
//
// Program.HTML shows how a program was compiled, and what a Profile measured.
func (g *Graph) HTML(w io.Writer) error {
	if w == nil {
		return errNilWriter
	}
	return page.Write(w, g.document())
}

// document is what there is to see of g.
func (g *Graph) document() *inspect.Document {
	f := inspect.Facts{Precision: F32.String()}
	if err := g.Err(); err != nil {
		f.Missing = []string{err.Error()}
		return inspect.New(traced(&ir.Graph{}), f)
	}
	for _, v := range g.values {
		f.Values = append(f.Values, v.preview())
	}
	f.Env = usualSizes(g.graph)
	bare, _, leaves := split(g.graph)
	d, err := bestDevice()
	if err == nil {
		err = errors.Join(checkAssigns(bare, leaves), checkBindable(bare, leaves))
	}
	if err != nil {
		f.Missing = []string{"it cannot be compiled: " + err.Error()}
		return inspect.New(traced(g.graph), f)
	}
	return d.document(bare, device.Options{}, f)
}

// document is what there is to see of g when it is compiled.
func (d *Device) document(g *ir.Graph, o device.Options, f inspect.Facts) *inspect.Document {
	f.Device, f.Off = d.Name(), slices.Clone(o.NoOpt)
	c, err := d.look(g, o)
	if err != nil {
		f.Missing = append(f.Missing, err.Error())
	}
	return inspect.New(c, f)
}

// look compiles g once more, to be looked at. If the device cannot, the error
// says why, and there is g alone to be seen.
func (d *Device) look(g *ir.Graph, o device.Options) (*inspect.Compilation, error) {
	l, ok := d.compiler.(inspect.Looker)
	if !ok {
		return traced(g), fmt.Errorf("the device %s has no stages of its own to show", d.Name())
	}
	c, err := l.Look(context.Background(), g, o)
	if err != nil {
		return traced(g), fmt.Errorf("it cannot be compiled for %s: %w", d.Name(), err)
	}
	return c, nil
}

// traced is a compilation that has only just begun.
func traced(g *ir.Graph) *inspect.Compilation {
	c := &inspect.Compilation{}
	c.Begin(g)
	return c
}

// usualSizes are sizes for each symbol at which memory and work can be shown.
func usualSizes(g *ir.Graph) ir.Env {
	const usual = 128
	env := ir.Env{}
	for _, s := range g.Symbols() {
		env[s.Name] = int(min(max(usual, s.Min), s.Max))
	}
	return env
}
