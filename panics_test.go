package sinter

import (
	"context"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// panics is a compiler that does.
type panics struct{ device.Compiler }

func (panics) CompileGraph(context.Context, *ir.Graph, device.Options) (device.Module, error) {
	panic("a fault of the compiler")
}

// recovered is what f panics with.
func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// TestCompilerPanics: nobody waits for a program that a panic, from which its caller
// recovered, has kept from being made.
func TestCompilerPanics(t *testing.T) {
	d, err := Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	x := Input("x", F32, N(4))
	compile := func() (err error) {
		p, err := compile(ctx, Capture(x.Add(x)), Options{Device: d})
		if err == nil {
			err = p.Close()
		}
		return err
	}
	well := d.compiler
	d.compiler = panics{well}
	if v := recovered(func() { _ = compile() }); v == nil {
		t.Fatal("no panic")
	}
	d.compiler = well
	if err := compile(); err != nil {
		t.Error(err)
	}
}
