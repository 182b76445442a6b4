package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
)

// BenchmarkCases is `sinter bench gemm|fused|attention|embed` as Go benchmarks, by the
// same protocol: rates, and the share of what the machine allows. Names go on
// with the case, its shape, number format, instruction set and threads:
//
//	go test -run xxx -bench Cases/embed/embed/8x128/int8/avx512 ./cmd/sinter
func BenchmarkCases(b *testing.B) {
	ctx := context.Background()
	for _, group := range []struct {
		name  string
		cases func(*app, context.Context, *benchRun) error
	}{{"gemm", (*app).benchGemm}, {"fused", (*app).benchFused}, {"attention", (*app).benchAttention}, {"embed", (*app).benchEmbed}} {
		b.Run(group.name, func(b *testing.B) {
			run := benchmarkRun(b)
			if err := group.cases(run.app, ctx, run); err != nil {
				b.Fatal(err)
			}
			if err := run.closeDevices(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// benchmarkRun makes every case of a benchmark a Go benchmark.
func benchmarkRun(b *testing.B) *benchRun {
	a := &app{settings: settings{device: "auto", json: true}}
	run := &benchRun{app: a, isas: bench.ISAs(), dtypes: cpuDTypes(), threads: []int{1}, end: time.Now().Add(time.Hour), devices: map[deviceKey]*sinter.Device{}}
	if all := runtime.GOMAXPROCS(0); all > 1 {
		run.threads = append(run.threads, all)
	}
	run.timed = func(ctx context.Context, c bench.Case, limit time.Duration) ([]bench.Row, error) {
		for _, threads := range c.Threads {
			one := c
			one.Threads = []int{threads}
			shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(c.Shape), "[]"), " ", "x")
			b.Run(fmt.Sprintf("%s/%s/%s/%s/%d", c.Name, shape, c.DType, c.ISA, threads), func(b *testing.B) {
				var rows []bench.Row
				for b.Loop() {
					var err error
					if rows, err = bench.Measure(ctx, one, limit); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(1e9*rows[0].Seconds, "ns/op")
				b.ReportMetric(rows[0].Rate, rows[0].Unit)
				b.ReportMetric(rows[0].Share, "share")
			})
		}
		return nil, nil
	}
	return run
}

// BenchmarkCompile traces and compiles the model, on a fresh device and where
// the program is known.
func BenchmarkCompile(b *testing.B) {
	a := &app{settings: settings{device: "auto"}}
	m, err := a.openModel()
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	for _, isa := range bench.ISAs() {
		b.Run(isa, func(b *testing.B) {
			var cold, warm float64
			for b.Loop() {
				c, w, err := a.timeCompile(m, isa)
				if err != nil {
					b.Fatal(err)
				}
				cold, warm = cold+c, warm+w
			}
			b.ReportMetric(1e3*cold/float64(b.N), "cold-ms")
			b.ReportMetric(1e3*warm/float64(b.N), "warm-ms")
		})
	}
}

// A device that is not the processor is measured as what it is, without a bound.
func TestBenchEmbedElsewhere(t *testing.T) {
	a := &app{settings: settings{device: "interp", json: true, model: tiny(t, nil)}}
	run := &benchRun{app: a, dtypes: []string{"f32"}, threads: []int{0}, end: time.Now().Add(time.Hour), devices: map[deviceKey]*sinter.Device{}}
	if err := a.benchOther(benchFlags{devices: true}, run); err != nil {
		t.Fatal(err)
	}
	cases := 0
	run.timed = func(ctx context.Context, c bench.Case, _ time.Duration) ([]bench.Row, error) {
		cases++
		if c.ISA != "interp" || c.Flops != 0 || c.Read+c.Written != 0 || !slices.Equal(c.Threads, []int{0}) {
			t.Errorf("%+v", c)
		}
		if c.Shape[1] > 12 {
			return nil, nil // long texts take long on it
		}
		rows, err := bench.Measure(ctx, c, time.Millisecond)
		if err != nil || len(rows) != 1 || rows[0].Bound != 0 || !(rows[0].Rate > 0) || !(rows[0].Accuracy >= 0.9999) {
			t.Errorf("%+v, %v", rows, err)
		}
		return rows, err
	}
	if err := a.benchEmbed(t.Context(), run); err != nil || cases != len(embedShapes) {
		t.Errorf("%d cases, %v", cases, err)
	}
}

// Attentions are what they are taken for: their results are those of a query in
// float64.
func TestBenchAttention(t *testing.T) {
	isa := bench.ISAs()[0]
	run := &benchRun{app: &app{}, isas: []string{isa, bench.Generic}, dtypes: cpuDTypes(), threads: []int{1}, end: time.Now().Add(time.Hour), devices: map[deviceKey]*sinter.Device{}}
	var cases []string
	run.timed = func(ctx context.Context, c bench.Case, _ time.Duration) ([]bench.Row, error) {
		cases = append(cases, fmt.Sprintf("%s %v %s %v", c.Name, c.Shape, c.DType, c.ISA == isa))
		if c.ISA != isa || c.Flops > 5e9 {
			return nil, nil
		}
		limit := map[string]float64{"f32": 1e-6, "bf16": 4e-3}[c.DType]
		if off, err := c.Accuracy(ctx, 1); err != nil || !(off > 0 && off < limit) {
			t.Errorf("%s %v %s: off by %v, %v", c.Name, c.Shape, c.DType, off, err)
		}
		return nil, nil
	}
	if err := errors.Join(run.app.benchAttention(t.Context(), run), run.closeDevices()); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 2*len(attentionShapes)+2 || cases[0] != "attention [8 12 128 32] f32 true" || !slices.Contains(cases, "attention-causal [1 8 2048 128] bf16 true") {
		t.Errorf("%q", cases)
	}
}

// What was measured before a case failed is printed, with the error.
func TestBenchFails(t *testing.T) {
	for _, measured := range []int{0, 2} {
		var out, errs bytes.Buffer
		a := &app{settings: settings{device: "cpu", json: true}, stdout: &out, stderr: &errs}
		broken := errors.New("the third is broken")
		err := a.bench(t.Context(), benchFlags{}, func(ctx context.Context, b *benchRun) error {
			return errors.Join(b.add(make([]bench.Row, measured)...), broken)
		})
		if !errors.Is(err, broken) {
			t.Errorf("bench ended with %v", err)
		}
		if measured == 0 {
			if out.Len() > 0 {
				t.Errorf("a report of nothing: %s", &out)
			}
			continue
		}
		var r bench.Report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil || len(r.Results) != measured || r.Error != broken.Error() || r.Machine.CPU == "" {
			t.Errorf("%v: %s", err, &out)
		}
	}
}
