package main

import (
	"context"
	"testing"
)

// BenchmarkStartup measures what the program does.
func BenchmarkStartup(b *testing.B) {
	binary, err := build(context.Background(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for _, dtype := range []string{"int8", "f32"} {
		b.Run(dtype, func(b *testing.B) {
			var r row
			for b.Loop() {
				if r, err = measure(context.Background(), binary, dtype); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(1e9*r.Seconds, "ns/op")
			b.ReportMetric(float64(r.Peak)/1e6, "peak-MB")
		})
	}
}
