package sinter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench/training"
	"github.com/sinterml/sinter/internal/inspect"
)

// documentOf is what a page shows.
func documentOf(t *testing.T, page []byte) *inspect.Document {
	t.Helper()
	_, rest, found := bytes.Cut(page, []byte(`id="document">`))
	data, _, ended := bytes.Cut(rest, []byte("</script>"))
	if !found || !ended {
		t.Fatal("the page has no document")
	}
	var d inspect.Document
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// The page of a program shows the sizes that are asked for, and the runs of a
// profile, those of this program alone.
func TestProgramHTML(t *testing.T) {
	d := openCPU(t, sinter.CPUOptions{})
	p, err := sinter.Compile(heads(), sinter.Options{Device: d})
	if err != nil {
		t.Fatal(err)
	}
	other, err := sinter.Compile(sinter.Capture(sinter.Input("x", sinter.F32, sinter.N(4)).Exp()), sinter.Options{Device: d})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	o := sinter.HTMLOptions{Title: "<heads>", Sizes: map[string]int{"n": 100}, Profile: &sinter.Profile{}, Limits: sinter.Limits{Operations: map[string]float64{"f32": 1e10}}}
	ctx := sinter.WithProfile(context.Background(), o.Profile)
	if _, err := other.Run(ctx, map[string]sinter.Tensor{"x": sinter.Of(make([]float32, 4), 4)}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := p.Run(ctx, map[string]sinter.Tensor{"x": sinter.Of(make([]float32, 6400), 100, 64)}); err != nil {
			t.Fatal(err)
		}
	}
	var page bytes.Buffer
	if err := p.HTML(&page, o); err != nil {
		t.Fatal(err)
	}
	doc := documentOf(t, page.Bytes())
	if doc.Title != o.Title || *doc.Symbols[0].At != 100 || len(doc.Kernels) != 3 || doc.Run == nil {
		t.Fatalf("title %q, symbols %v, %d kernels, run %v", doc.Title, doc.Symbols, len(doc.Kernels), doc.Run)
	}
	if k := doc.Run.Kernels[1]; k.Format != "f32" || k.ByMemory || k.Read < 4*100*64 {
		t.Errorf("what limits the product: %+v", k)
	}
	slow := o
	slow.Limits.Bandwidth, slow.Limits.Cache = 1, 10
	var again bytes.Buffer
	if err := p.HTML(&again, slow); err != nil || !documentOf(t, again.Bytes()).Run.Kernels[1].ByMemory {
		t.Errorf("a byte a second from memory does not limit the product: %v", err)
	}
	for _, rate := range []float64{math.Inf(1), math.NaN(), -1} {
		slow.Limits.Bandwidth = rate
		if err := p.HTML(io.Discard, slow); err == nil || !strings.Contains(err.Error(), "Limits") {
			t.Errorf("a bandwidth of %v: %v", rate, err)
		}
	}
	if r := doc.Run; r.Runs != 3 || len(r.Kernels) != 3 || len(r.Timeline) != 3 || r.Seconds <= 0 || r.Kernels[1].Share <= 0 {
		t.Errorf("measured: %+v", r)
	}
	if k := doc.Kernels[1]; k.Products != 2*100*48*64 || doc.Codes[k.Code].Loops == "" {
		t.Errorf("the product: %+v", k)
	}
	if dot := p.DOT(); strings.Count(dot, "subgraph") != 3 || !strings.Contains(dot, "tooltip=") {
		t.Errorf("a drawing without the kernels, or why they are several:\n%s", dot)
	}
	for name, size := range map[string]int{"m": 3, "n": 0} {
		if err := p.HTML(io.Discard, sinter.HTMLOptions{Sizes: map[string]int{name: size}}); err == nil {
			t.Errorf("size %s may be %d", name, size)
		}
	}
	if err := p.HTML(nil, o); err == nil {
		t.Error("no writer is no error")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.HTML(io.Discard, o); !errors.Is(err, sinter.ErrClosed) {
		t.Errorf("a closed program: %v", err)
	}
	if err := (&sinter.Program{}).HTML(io.Discard, o); err == nil {
		t.Error("the zero Program is no error")
	}
}

// Least takes the time of the arithmetic, or of moving more than the cache holds.
func TestLimits(t *testing.T) {
	l := sinter.Limits{Operations: map[string]float64{"f32": 1e9, "bf16": 2e9}, Bandwidth: 1e9, Cache: 1000}
	for _, test := range []struct {
		kernel sinter.KernelProfile
		want   float64
	}{
		{sinter.KernelProfile{Runs: 1, Operations: 3e9}, 3},
		{sinter.KernelProfile{Runs: 1, Products: 4e9, Format: "bf16", Operations: 1e9}, 3},
		{sinter.KernelProfile{Runs: 1, Operations: 1e9, Read: 4e9, Written: 1e9}, 5},
		{sinter.KernelProfile{Runs: 1e7, Operations: 1e9, Read: 4e9, Written: 1e9}, 1},
		{sinter.KernelProfile{Runs: 1, Products: 1e9, Format: "int8"}, 0},
	} {
		if got := l.Least(test.kernel).Seconds(); got != test.want {
			t.Errorf("%+v: %v seconds, want %v", test.kernel, got, test.want)
		}
	}
}

// Least takes the rate of the largest copy that touches no more.
func TestLimitsOfCopies(t *testing.T) {
	copies := []sinter.CopyRate{{Bytes: 100, Rate: 1}, {Bytes: 1000, Rate: 10}, {Bytes: 10000, Rate: 2}}
	l := sinter.Limits{Operations: map[string]float64{"f32": 1000}, Bandwidth: 1e9, Copies: copies}
	for _, test := range []struct {
		kernel sinter.KernelProfile
		want   float64
	}{
		{sinter.KernelProfile{Runs: 1, Read: 40, Written: 10}, 50},
		{sinter.KernelProfile{Runs: 1, Read: 500}, 500},
		{sinter.KernelProfile{Runs: 2, Read: 2000}, 200},
		{sinter.KernelProfile{Runs: 1, Read: 20000, Operations: 1}, 10000},
		{sinter.KernelProfile{Runs: 1, Read: 20000, Operations: 2e7}, 20000},
		{sinter.KernelProfile{Read: 100}, 0},
	} {
		if got := l.Least(test.kernel).Seconds(); got != test.want {
			t.Errorf("%+v: %v seconds, want %v", test.kernel, got, test.want)
		}
	}
	p, err := sinter.Compile(sinter.Capture(sinter.Input("x", sinter.F32, sinter.N(3)).Exp()), sinter.Options{Device: openCPU(t, sinter.CPUOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, wrong := range []sinter.CopyRate{{Bytes: math.NaN(), Rate: 1}, {Bytes: 1, Rate: math.Inf(1)}, {Bytes: -1, Rate: 1}, {Bytes: 1, Rate: -1}} {
		if err := p.HTML(io.Discard, sinter.HTMLOptions{Limits: sinter.Limits{Copies: []sinter.CopyRate{wrong}}}); err == nil {
			t.Errorf("%+v is no error", wrong)
		}
	}
	if err := p.HTML(io.Discard, sinter.HTMLOptions{Limits: sinter.Limits{Copies: []sinter.CopyRate{copies[1], copies[0]}}}); err == nil {
		t.Error("copies in any order are no error")
	}
}

// Pages of training steps, the largest programs there are, stay small, and fold
// the layers of forward, backward and optimizer.
func TestPageOfAStep(t *testing.T) {
	net, err := training.Find("gpt6")
	if err != nil {
		t.Fatal(err)
	}
	step, err := net.Step(training.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := sinter.Compile(step.Graph, sinter.Options{Device: openCPU(t, sinter.CPUOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var page bytes.Buffer
	if err := p.HTML(&page, sinter.HTMLOptions{}); err != nil {
		t.Fatal(err)
	}
	if page.Len() > 3<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
	doc := documentOf(t, page.Bytes())
	if doc.Memory == nil || doc.Memory.Live[doc.Memory.Peak] < 100<<20 {
		t.Errorf("memory: %+v", doc.Memory)
	}
	layers := 0
	for _, r := range doc.Stages[0].Repeats {
		if len(r.Starts) == 1+net.Sizes.Layers || len(r.Starts) == net.Sizes.Layers {
			layers++
		}
	}
	if layers < 3 {
		t.Errorf("the trace repeats %+v", doc.Stages[0].Repeats)
	}
}

// The page says what was asked for, though a program in Int4 computes products as
// written, of weights that were packed.
func TestProgramHTMLPrecision(t *testing.T) {
	x, w := sinter.Input("x", sinter.F32, sinter.N(2), sinter.N(16)), sinter.Of(make([]float32, 16*16), 16, 16)
	for precision, want := range map[sinter.Precision]string{0: "f32", sinter.TF32: "tf32", sinter.F16: "f16", sinter.Int8: "int8", sinter.Int4: "int4"} {
		p, err := sinter.Compile(sinter.Capture(x.MatMul(w)), sinter.Options{Device: openCPU(t, sinter.CPUOptions{}), Precision: precision})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var b bytes.Buffer
		if err := p.HTML(&b, sinter.HTMLOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := documentOf(t, b.Bytes()).Precision; got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
