package launchtest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/ir"
)

// Chain is a plan of about so many kernels.
func Chain(t testing.TB, products int) *ir.Graph {
	t.Helper()
	b := ir.NewBuilder(nil)
	must := func(n *ir.Node, err error) *ir.Node {
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	x := must(b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(8, 8)}}))
	for range products {
		x = must(b.Add(ir.MatMul, ir.Attr{}, x, x))
	}
	return b.Finish(x)
}

// BenchmarkSubmit is what a run of a program of 50 kernels costs on the host:
// d's driver does nothing.
func BenchmarkSubmit(b *testing.B, d *launch.Device) {
	b.Helper()
	ctx := context.Background()
	m, err := d.CompileGraph(ctx, Chain(b, 50), device.Options{})
	if err != nil {
		b.Fatal(err)
	}
	run := &device.Bound{Module: m}
	for _, to := range []*[]device.Buffer{&run.Leaves, &run.Outputs} {
		buf, err := d.Alloc(256)
		if err != nil {
			b.Fatal(err)
		}
		*to = append(*to, buf)
	}
	b.ReportAllocs()
	for b.Loop() {
		e, err := d.Submit(ctx, run)
		if err == nil {
			err = e.Wait(ctx)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(m.Info().Kernels), "kernels")
}

// SubmitChain runs a program of five kernels. wants is a part of the error that
// is to come, if one is.
func SubmitChain(t *testing.T, d *launch.Device, wants string) {
	t.Helper()
	ctx := context.Background()
	m, err := d.CompileGraph(ctx, Chain(t, 5), device.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	y, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Submit(ctx, &device.Bound{Module: m, Leaves: []device.Buffer{x}, Outputs: []device.Buffer{y}})
	if err == nil {
		err = e.Wait(ctx)
	}
	if wants == "" && err != nil || wants != "" && (err == nil || !strings.Contains(err.Error(), wants)) {
		t.Errorf("error %v, want %q", err, wants)
	}
	if err := errors.Join(x.Close(), y.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}
