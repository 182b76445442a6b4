package sinter

import (
	"context"
	"testing"
)

// What a call costs beside the work: tracing, hashing and binding.
func BenchmarkOverhead(b *testing.B) {
	for _, name := range []string{"interp", "cpu"} {
		d := open(b, name)
		ctx := WithDevice(context.Background(), d)
		b.Run(name+"/Values", func(b *testing.B) {
			x := Of([]float32{1, 2, 3, 4}, 4)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Values[float32](ctx, x.Mul(x).Add(x).Sum()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/Run", func(b *testing.B) {
			x := Input("x", F32, Sym("n", 1, 64))
			p := compileOn(b, d, x.Mul(x).Add(x).Sum())
			in := inputs{"x": Of([]float32{1, 2, 3, 4}, 4)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Run(ctx, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
