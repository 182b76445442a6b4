package training_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench/training"
)

// BenchmarkTurnProducts is a step of the perceptron on one thread, for several batches: its
// time, and that as a share of the time without the pass that turns products, in turns.
func BenchmarkTurnProducts(b *testing.B) {
	d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for _, batch := range []int{16, 64, 128} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			var sides [2]func() time.Duration
			for i, off := range [][]string{nil, {"turn-products"}} {
				step, err := training.Net{Name: "mlp", Batch: batch}.Step(training.Options{})
				if err != nil {
					b.Fatal(err)
				}
				p, err := sinter.Compile(step.Graph, sinter.Options{Device: d, NoOpt: off})
				if err != nil {
					b.Fatal(err)
				}
				defer p.Close()
				sides[i] = func() time.Duration {
					begin := time.Now()
					for range 10 {
						if err := p.Step(context.Background(), step.Inputs); err != nil {
							b.Fatal(err)
						}
					}
					return time.Since(begin)
				}
			}
			var turned, plain time.Duration
			for b.Loop() {
				turned += sides[0]()
				plain += sides[1]()
			}
			b.ReportMetric(float64(turned.Microseconds())/float64(10*b.N), "us/step")
			b.ReportMetric(float64(turned)/float64(plain), "share")
		})
	}
}
