package launch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter"
)

// attentions are programs whose work depends on who sees whom.
func attentions() map[string]sinter.Tensor {
	const heads, width = 2, 8
	input := func(name string, dims ...int) sinter.Tensor {
		return sinter.Input(name, sinter.F32, sinter.Dims(dims...)...)
	}
	q, k, v := input("q", 9, heads, width), input("k", 14, heads, width), input("v", 14, heads, width)
	ragged := sinter.AttentionOptions{QOffsets: sinter.Input("qo", sinter.I32, sinter.N(4)), KOffsets: sinter.Input("ko", sinter.I32, sinter.N(4))}
	all := map[string]sinter.Tensor{}
	for name, o := range map[string]sinter.AttentionOptions{
		"all": ragged, "causal": {Causal: true, QOffsets: ragged.QOffsets, KOffsets: ragged.KOffsets}, "window": {Window: 2, QOffsets: ragged.QOffsets, KOffsets: ragged.KOffsets},
	} {
		all[name], _ = sinter.Attention(q, k, v, o)
	}
	grad, _ := sinter.Attention(q, k, v, sinter.AttentionOptions{Causal: true, Window: 3, QOffsets: ragged.QOffsets, KOffsets: ragged.KOffsets})
	all["gradient"] = sinter.Grad(grad.Sum(), q)[0]
	dq, dk, dv := input("dq", 2, heads, 7, width), input("dk", 2, heads, 5, width), input("dv", 2, heads, 5, width)
	all["dense"], _ = sinter.Attention(dq, dk, dv, sinter.AttentionOptions{Causal: true, Window: 4})
	return all
}

// attended is what kernels of attention did in a run of y on d.
func attended(t *testing.T, d *sinter.Device, y sinter.Tensor) (products float64) {
	t.Helper()
	p := compileOn(t, d, y)
	in := map[string]sinter.Tensor{}
	for _, i := range p.Info().Inputs {
		switch i.Name {
		case "qo":
			in[i.Name] = sinter.Of([]int32{0, 3, 3, 9}, 4)
		case "ko":
			in[i.Name] = sinter.Of([]int32{0, 2, 6, 14}, 4)
		default:
			in[i.Name] = sinter.Full(sinter.F32, 0.5, i.Shape...)
		}
	}
	prof := &sinter.Profile{}
	if _, err := p.Run(sinter.WithProfile(t.Context(), prof), in); err != nil {
		t.Fatal(err)
	}
	for _, k := range prof.Kernels() {
		if strings.Contains(k.Name, "attention") {
			products += k.Products
		}
	}
	return products
}

// Kernels of attention have as much to do as on the processor.
func TestProfileOfAttention(t *testing.T) {
	d, _ := openCounting(t)
	cpu, err := sinter.OpenCPU(sinter.CPUOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	for name, y := range attentions() {
		if got, want := attended(t, d, y), attended(t, cpu, y); got != want || want == 0 {
			t.Errorf("%s: %v operations, on the cpu %v", name, got, want)
		}
	}
}

// A profile of a device has the kernels of each run from many goroutines, draws
// them, and has no part of what is computed once of a weight.
func TestProfileOfDevice(t *testing.T) {
	d, c := openCounting(t)
	const m, k, n = 8, 64, 48
	x := sinter.Input("x", sinter.F32, sinter.Dims(m, k)...)
	w := sinter.Weight("w", sinter.F32, make([]byte, 4*k*n), k, n)
	p := compileOn(t, d, x.MatMul(w.Exp().Div(w.Exp().Sum(0))), x.Exp().Sum(1))
	in := map[string]sinter.Tensor{"x": sinter.Of(make([]float32, m*k), m, k)}
	prof := &sinter.Profile{}
	const goroutines, runs = 3, 2
	var wait sync.WaitGroup
	for range goroutines {
		wait.Go(func() {
			for range runs {
				if _, err := p.Run(sinter.WithProfile(context.Background(), prof), in); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	kernels := prof.Kernels()
	if len(kernels) != p.Info().Kernels || p.Info().Constant != 1 {
		t.Fatalf("%d kernels in the profile, a run has %+v: %+v", len(kernels), p.Info(), kernels)
	}
	products, drawn := 0.0, 0.0
	for _, k := range kernels {
		if k.Runs != goroutines*runs || !k.Apart {
			t.Errorf("%+v", k)
		}
		products += k.Products
		drawn += float64(k.Time) / 1e3
	}
	if want := float64(goroutines * runs * 2 * m * k * n); products != want {
		t.Errorf("%v operations of products, want %v", products, want)
	}
	var b bytes.Buffer
	if err := prof.WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct{ Dur float64 }
	}
	if err := json.Unmarshal(b.Bytes(), &trace); err != nil || len(trace.TraceEvents) != goroutines*runs*len(kernels) {
		t.Fatalf("%d events: %v", len(trace.TraceEvents), err)
	}
	for _, e := range trace.TraceEvents {
		drawn -= e.Dur
	}
	if !(math.Abs(drawn) <= 1) {
		t.Errorf("the timeline differs from the table by %v us", drawn)
	}
	var page bytes.Buffer
	if err := p.HTML(&page, sinter.HTMLOptions{Profile: prof, Limits: sinter.Limits{Copies: []sinter.CopyRate{{Bytes: 1, Rate: 1e9}}}}); err != nil || !strings.Contains(page.String(), `"timeline"`) {
		t.Errorf("a page of %d bytes, %v", page.Len(), err)
	}
	c.since()
	if _, err := p.Run(t.Context(), in); err != nil { // as ever
		t.Fatal(err)
	}
	if calls := c.since(); calls["run of 2"] != 1 {
		t.Errorf("a plain run afterwards: %v", calls)
	}
}

// What cannot be done at once, or not at all, is said.
func TestProfileRefused(t *testing.T) {
	d, _ := openCounting(t)
	x := sinter.Of([]float32{1, 2}, 2)
	ctx := sinter.WithProfile(sinter.WithTuning(t.Context(), &sinter.Tuning{}), &sinter.Profile{})
	if _, err := sinter.Values[float32](sinter.WithDevice(ctx, d), x.Exp()); err == nil || !strings.Contains(err.Error(), "WithTuning") {
		t.Errorf("tuned and timed: %v", err)
	}
	interp, err := sinter.Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	defer interp.Close()
	ctx = sinter.WithDevice(sinter.WithProfile(t.Context(), &sinter.Profile{}), interp)
	if _, err := sinter.Values[float32](ctx, x.Exp()); !errors.Is(err, sinter.ErrNoClock) {
		t.Errorf("on the referee: %v", err)
	}
	if l, err := interp.Limits(t.Context()); err != nil || len(l.Operations) != 0 || l.Bandwidth != 0 {
		t.Errorf("limits of the referee: %+v, %v", l, err)
	}
}
