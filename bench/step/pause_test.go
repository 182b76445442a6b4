package step

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sinterml/sinter"
)

// BenchmarkAfterPause is a product of 512 x 512 x 512 in bytes, as one query of a service
// may have: the median of runs one after the other, and of runs after a pause, in which the
// threads that help went to sleep.
func BenchmarkAfterPause(b *testing.B) {
	const n = 512
	x := sinter.Input("x", sinter.U8, sinter.Dims(n, n)...)
	w := sinter.Weight("w", sinter.I8, make([]byte, n*n), n, n)
	inputs := map[string]sinter.Tensor{"x": sinter.Of(make([]uint8, n*n), n, n)}
	for _, threads := range []int{1, 2} {
		d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: threads})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { d.Close() })
		p := compile(b, sinter.Options{Device: d}, x.Cast(sinter.I32).MatMul(w.Cast(sinter.I32)))
		for _, pause := range []time.Duration{0, time.Millisecond} {
			b.Run(fmt.Sprintf("threads=%d/pause=%v", threads, pause), func(b *testing.B) {
				var spent []time.Duration
				for b.Loop() {
					if pause > 0 {
						time.Sleep(pause)
					}
					begin := time.Now()
					y, err := p.Run(context.Background(), inputs)
					if err != nil {
						b.Fatal(err)
					}
					spent = append(spent, time.Since(begin))
					y[0].Release()
				}
				slices.Sort(spent)
				b.ReportMetric(float64(spent[len(spent)/2].Microseconds()), "us-median/run")
			})
		}
	}
}
