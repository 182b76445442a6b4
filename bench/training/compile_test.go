package training_test

import (
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench/training"
)

// BenchmarkCompile traces a step of the largest GPT with its gradient and
// compiles it.
func BenchmarkCompile(b *testing.B) {
	net, err := training.Find("gpt6")
	if err != nil {
		b.Fatal(err)
	}
	var traced time.Duration
	for b.Loop() {
		d, err := sinter.Open("cpu") // which has no program kept
		if err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		step, err := net.Step(training.Options{ClipNorm: 1})
		if err != nil {
			b.Fatal(err)
		}
		traced += time.Since(begin)
		program, err := sinter.Compile(step.Graph, sinter.Options{Device: d})
		if err != nil {
			b.Fatal(err)
		}
		program.Close()
		d.Close()
	}
	b.ReportMetric(float64(traced.Milliseconds())/float64(b.N), "ms-trace/op")
}
