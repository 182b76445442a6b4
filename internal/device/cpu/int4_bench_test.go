package cpu

import (
	"context"
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/int4"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
)

// BenchmarkPackedWeights times products of a few rows and of many in each number
// format, with the weights that a second finishes, and how fast they are read as
// they are kept.
func BenchmarkPackedWeights(b *testing.B) {
	ctx := context.Background()
	const k, n = 4096, 4096
	for _, m := range []int{1, 8, 64, 512} {
		for _, f := range []struct {
			name string
			p    ir.DType
			bits float64
		}{{"f32", 0, 32}, {"bf16", ir.BF16, 16}, {"int8", ir.I8, 8}, {"int4", 0, 4.5}} {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", m, n, k, f.name), func(b *testing.B) {
				g, err := ir.Parse(fmt.Sprintf("graph\nleaf 0 input \"x\" f32[%[1]d %[2]d]\nleaf 1 weight \"w\" f32[%[2]d %[3]d]\n%%x = input : f32[%[1]d %[2]d]\n%%w = weight leaf=1 : f32[%[2]d %[3]d]\n%%y = matmul %%x %%w : f32[%[1]d %[3]d]\nreturn %%y\n", m, k, n))
				if err != nil {
					b.Fatal(err)
				}
				values := [][]byte{make([]byte, 4*m*k), make([]byte, 4*k*n)}
				for i := 2; i < len(values[1]); i += 4 {
					values[1][i], values[1][i+1] = byte(i>>2), 0x3c
				}
				if f.name == "int4" {
					if g, values, err = suite.PackWeights(ctx, g, values, int4.Panels, rewrite.Options{}); err != nil {
						b.Fatal(err)
					}
				}
				run := prepared(b, g, values, f.p, 4*m*n)
				for b.Loop() {
					run()
				}
				perRun := b.Elapsed().Seconds() / float64(b.N)
				b.ReportMetric(k*n/perRun/1e9, "Gweights/s")
				b.ReportMetric(k*n*f.bits/8/perRun/1e9, "GB/s")
			})
		}
	}
}

// prepared is a program on one thread that has run once.
func prepared(b *testing.B, g *ir.Graph, values [][]byte, p ir.DType, outBytes int) func() {
	d, err := New(Options{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	m, err := d.CompileGraph(context.Background(), g, device.Options{Precision: p})
	if err != nil {
		b.Fatal(err)
	}
	bound := &device.Bound{Module: m}
	for _, v := range values {
		buf, err := d.Import(v)
		if err != nil {
			b.Fatal(err)
		}
		bound.Leaves = append(bound.Leaves, buf)
	}
	out, err := d.Alloc(outBytes)
	if err != nil {
		b.Fatal(err)
	}
	bound.Outputs = []device.Buffer{out}
	run := func() {
		e, err := d.Submit(context.Background(), bound)
		if err == nil {
			err = e.Wait(context.Background())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	run()
	return run
}
