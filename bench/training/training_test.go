package training_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench/training"
)

// BenchmarkStep is a step of each net; GFLOP/s count its products.
func BenchmarkStep(b *testing.B) {
	for _, net := range training.Nets() {
		for _, p := range []sinter.Precision{sinter.F32, sinter.BF16} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%v/%d", net.Name, p, threads), func(b *testing.B) { benchmarkStep(b, net, p, threads) })
			}
		}
	}
}

func benchmarkStep(b *testing.B, net training.Net, p sinter.Precision, threads int) {
	d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: os.Getenv("SINTER_CPU"), Threads: threads})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	step, err := net.Step(training.Options{})
	if err != nil {
		b.Fatal(err)
	}
	program, err := sinter.Compile(step.Graph, sinter.Options{Device: d, Precision: p})
	if err != nil {
		b.Fatal(err)
	}
	defer program.Close()
	run := func() {
		outs, err := program.Run(context.Background(), step.Inputs)
		if err != nil {
			b.Fatal(err)
		}
		for _, o := range outs {
			o.Release()
		}
	}
	for range 3 {
		run()
	}
	for b.Loop() {
		run()
	}
	b.ReportMetric(net.Flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// TestSteps trains each net but the largest for a few steps on the same batch:
// the loss falls.
func TestSteps(t *testing.T) {
	for _, net := range training.Nets() {
		if net.Name == "gpt6" {
			continue // a second a step where no machine code can be made
		}
		t.Run(net.Name, func(t *testing.T) {
			step, err := net.Step(training.Options{ClipNorm: 1})
			if err != nil {
				t.Fatal(err)
			}
			program, err := sinter.Compile(step.Graph, sinter.Options{Check: true})
			if err != nil {
				t.Fatal(err)
			}
			defer program.Close()
			losses, err := step.Losses(context.Background(), program, 8)
			if err != nil {
				t.Fatal(err)
			}
			if !(losses[7] < losses[0]-0.02) {
				t.Errorf("losses %v do not fall", losses)
			}
		})
	}
}
