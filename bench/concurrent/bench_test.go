package main

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkConcurrent measures what the program does: the rates of several
// callers and of a batch of all their texts, and how long a caller waits.
func BenchmarkConcurrent(b *testing.B) {
	for _, dtype := range dtypes {
		for _, tokens := range lengths {
			b.Run(fmt.Sprintf("%s/%d", dtype.name, tokens), func(b *testing.B) {
				var r row
				for b.Loop() {
					var err error
					if r, err = measure(context.Background(), dtype.precision, tokens, 3); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(r.Rate, "texts/s")
				b.ReportMetric(r.Ratio, "of-a-batch")
				b.ReportMetric(1e3*r.P50, "p50-ms")
				b.ReportMetric(1e3*r.P99, "p99-ms")
				b.ReportMetric(float64(r.Peak)/1e6, "peak-MB")
				b.ReportMetric(0, "ns/op") // of the measurement: no figure
			})
		}
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 0.99: 5, 1: 5} {
		if got := quantile(values, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}
