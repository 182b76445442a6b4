package sinter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/sinterml/sinter"
)

func TestProfile(t *testing.T) {
	d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const m, k, n = 8, 16, 32
	x, y := sinter.Input("x", sinter.F32, sinter.Dims(m, k)...), sinter.Input("y", sinter.F32, sinter.Dims(k, n)...)
	p, err := sinter.Compile(sinter.Capture(x.MatMul(y), x.Exp().Sum(1)), sinter.Options{Device: d})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	in := map[string]sinter.Tensor{"x": sinter.Of(make([]float32, m*k), m, k), "y": sinter.Of(make([]float32, k*n), k, n)}
	var prof sinter.Profile
	ctx := sinter.WithProfile(context.Background(), &prof)
	const goroutines, runs = 4, 5
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range runs {
				if _, err := p.Run(ctx, in); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if _, err := p.Run(context.Background(), in); err != nil { // not under the context
		t.Fatal(err)
	}
	kernels := prof.Kernels()
	if len(kernels) != p.Info().Kernels {
		t.Fatalf("%d kernels in the profile, the program has %d", len(kernels), p.Info().Kernels)
	}
	found := false
	for i, kernel := range kernels {
		if kernel.Number != i || kernel.Runs != goroutines*runs || kernel.Time <= 0 || kernel.Name == "" {
			t.Errorf("kernel %d: %+v", i, kernel)
		}
		if kernel.Name == "matmul" {
			found = true
			if want := float64(goroutines * runs * 2 * m * k * n); kernel.Products != want || kernel.Operations != 0 || kernel.Format != "f32" {
				t.Errorf("a product of %v multiplications and additions on %s, and %v operations; want %v", kernel.Products, kernel.Format, kernel.Operations, want)
			}
			if want := float64(goroutines * runs * 4 * (m*k + k*n)); kernel.Read != want {
				t.Errorf("a product read %v bytes, want %v", kernel.Read, want)
			}
		}
	}
	if !found {
		t.Errorf("no kernel is the product: %+v", kernels)
	}
	testTimeline(t, &prof, goroutines*runs*len(kernels))
}

// Events on one line of the timeline do not overlap.
func testTimeline(t *testing.T, p *sinter.Profile, want int) {
	var b bytes.Buffer
	if err := p.WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Name     string
			Ph       string
			Ts, Dur  float64
			Pid, Tid int
		}
	}
	if err := json.Unmarshal(b.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	if len(trace.TraceEvents) != want {
		t.Errorf("%d events, want %d", len(trace.TraceEvents), want)
	}
	ends := map[int]float64{}
	for _, e := range trace.TraceEvents {
		if e.Ph != "X" || e.Ts < 0 || e.Dur < 0 || e.Ts < ends[e.Tid]-0.002 {
			t.Errorf("event %+v begins before %v", e, ends[e.Tid])
		}
		ends[e.Tid] = e.Ts + e.Dur
	}
}

func TestProfileEmpty(t *testing.T) {
	for _, p := range []*sinter.Profile{nil, {}} {
		var b bytes.Buffer
		if err := p.WriteTrace(&b); err != nil || p.Kernels() != nil {
			t.Errorf("%v, %v", err, p.Kernels())
		}
		//lint:ignore SA1012 a nil context is a mistake that must not panic
		ctx := sinter.WithProfile(nil, p)
		if v, err := sinter.Values[float32](ctx, sinter.Of([]float32{1}, 1).Add(sinter.Scalar(1))); err != nil || v[0] != 2 {
			t.Error(v, err)
		}
	}
}

func ExampleProfile() {
	x := sinter.Of([]float32{1, 2, 3, 4}, 2, 2)
	var p sinter.Profile
	ctx := sinter.WithProfile(context.Background(), &p)
	if _, err := sinter.Values[float32](ctx, x.MatMul(x).ReLU()); err != nil {
		fmt.Println(err)
	}
	for _, k := range p.Kernels() {
		fmt.Println(k.Name, k.Runs, k.Read, "bytes read")
	}
	// Output: matmul_where 1 16 bytes read
}
