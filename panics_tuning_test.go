//go:build !static

package sinter

import (
	"context"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device/cuda"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/tune"
)

// TestTuningPanics: a run whose observer panics has ended for those who wait for its
// variables and for its program.
func TestTuningPanics(t *testing.T) {
	api := (&cutest.Fake{Compute: true}).API()
	all, err := api.Devices()
	if err != nil {
		t.Fatal(err)
	}
	dev, err := cuda.New(api, all[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	store := tune.Open(t.TempDir(), tune.Machine{Kind: "cuda", Device: "x", Driver: "y"})
	if err := store.Add(t.Context(), tune.Limits{Rate: 1e9, Bandwidth: []tune.Bandwidth{{Bytes: 1e6, Rate: 1e9}}, Measured: time.Now()}, nil); err != nil {
		t.Fatal(err)
	}
	dev.KeepTuning(store)
	d := &Device{name: "cuda", dev: dev, compiler: dev, kind: "cuda", copies: true}
	v := NewVariable("v", Full(F32, 1, N(4), N(4)).Add(Full(F32, 1, N(4), N(4))))
	p, err := Compile(Capture(v.Assign(v.Tensor().Mul(Scalar(2)))), Options{Device: d})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Step(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	tuning := &Tuning{Progress: func(int, int) { panic("the caller's") }}
	if got := recovered(func() { _ = p.Step(WithTuning(t.Context(), tuning), nil) }); got != "the caller's" {
		t.Fatalf("recovered %v", got)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if _, err := Values[float32](ctx, v.Tensor()); err != nil {
		t.Error("reading the variable:", err)
	}
	if err := p.Step(ctx, nil); err != nil {
		t.Error("the next step:", err)
	}
	if n := p.users.count; n != 0 {
		t.Errorf("%d runs of the program are under way", n)
	}
}
