package nn_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
)

type tensors = map[string]sinter.Tensor

// pytorchCase is a layer, or none, and how it is called.
type pytorchCase struct {
	net     any
	forward func(in tensors, m *nn.Mode) []sinter.Tensor
	eval    bool
}

func one(f func(x sinter.Tensor) sinter.Tensor) func(in tensors, m *nn.Mode) []sinter.Tensor {
	return func(in tensors, _ *nn.Mode) []sinter.Tensor { return []sinter.Tensor{f(in["x"])} }
}

func inMode(f func(x sinter.Tensor, m *nn.Mode) sinter.Tensor) func(in tensors, m *nn.Mode) []sinter.Tensor {
	return func(in tensors, m *nn.Mode) []sinter.Tensor { return []sinter.Tensor{f(in["x"], m)} }
}

func list(x ...sinter.Tensor) []sinter.Tensor { return x }

func pytorchCases() map[string]pytorchCase {
	all := map[string]pytorchCase{}
	layers(all)
	sequences(all)
	losses(all)
	return all
}

func layers(all map[string]pytorchCase) {
	linear := &nn.Linear{In: 5, Out: 3}
	all["linear"] = pytorchCase{net: linear, forward: one(linear.Forward)}
	plain := &nn.Linear{In: 5, Out: 3, NoBias: true}
	all["linear no bias"] = pytorchCase{net: plain, forward: one(plain.Forward)}
	padding := 2
	for name, e := range map[string]*nn.Embedding{"embedding": {Count: 7, Width: 4}, "embedding padding": {Count: 7, Width: 4, Padding: &padding}} {
		all[name] = pytorchCase{net: e, forward: func(in tensors, _ *nn.Mode) []sinter.Tensor { return list(e.Forward(in["ids"])) }}
	}
	all["rotary"] = pytorchCase{forward: one(func(x sinter.Tensor) sinter.Tensor { return nn.Rotary{}.Rotate(x, sinter.Tensor{}) })}
	all["rotary interleaved"] = pytorchCase{forward: one(func(x sinter.Tensor) sinter.Tensor {
		return nn.Rotary{Base: 500, Interleaved: true}.Rotate(x, sinter.Of([]int32{7, 8, 9, 10, 11}, 5))
	})}
	for name, l := range map[string]*nn.LayerNorm{"layer norm": {Width: 6}, "layer norm no bias": {Width: 6, Eps: 1e-3, NoBias: true}, "layer norm plain": {Width: 6, NoAffine: true}} {
		all[name] = pytorchCase{net: l, forward: one(l.Forward)}
	}
	for name, l := range map[string]*nn.RMSNorm{"rms norm": {Width: 6}, "rms norm plain": {Width: 6, Eps: 1e-2, NoAffine: true}} {
		all[name] = pytorchCase{net: l, forward: one(l.Forward)}
	}
	for name, l := range map[string]*nn.GroupNorm{"group norm": {Groups: 2, Channels: 6}, "group norm plain": {Groups: 6, Channels: 6, Eps: 1e-2, NoAffine: true}} {
		all[name] = pytorchCase{net: l, forward: one(l.Forward)}
	}
	for name, l := range map[string]*nn.BatchNorm{"batch norm": {Channels: 4}, "batch norm twice": {Channels: 3, Momentum: 0.4, Eps: 1e-3},
		"batch norm cumulative": {Channels: 3, Cumulative: true, NoAffine: true}, "batch norm eval": {Channels: 3}} {
		all[name] = pytorchCase{net: l, eval: strings.HasSuffix(name, "eval"), forward: func(in tensors, m *nn.Mode) []sinter.Tensor {
			ys := list(l.Forward(in["x"], m))
			if y, ok := in["y"]; ok {
				ys = append(ys, l.Forward(y, m))
			}
			return ys
		}}
	}
	for name, l := range map[string]*nn.Conv1d{"conv1d": {In: 4, Out: 6, Kernel: 3, Stride: 2, Padding: 1, Groups: 2},
		"conv1d same": {In: 2, Out: 3, Kernel: 2, Dilation: 3, Same: true, NoBias: true}} {
		all[name] = pytorchCase{net: l, forward: one(l.Forward)}
	}
	for name, l := range map[string]*nn.Conv2d{"conv2d": {In: 3, Out: 4, Kernel: []int{3, 2}, Stride: []int{1, 2}, Padding: []int{1, 0}, Dilation: []int{2, 1}},
		"conv2d plain": {In: 2, Out: 4, Kernel: []int{3}, Groups: 2, NoBias: true}} {
		all[name] = pytorchCase{net: l, forward: one(l.Forward)}
	}
	for name, l := range map[string]*nn.ConvTranspose1d{"conv transposed 1d": {In: 4, Out: 6, Kernel: 3, Stride: 2, Padding: 1, OutputPadding: 1, Groups: 2},
		"conv transposed 1d plain": {In: 2, Out: 3, Kernel: 2, Dilation: 3, NoBias: true}} {
		all[name] = pytorchCase{net: l, forward: one(l.Forward)}
	}
	for name, l := range map[string]*nn.ConvTranspose2d{
		"conv transposed 2d":       {In: 3, Out: 4, Kernel: []int{3, 2}, Stride: []int{1, 2}, Padding: []int{1, 0}, OutputPadding: []int{0, 1}, Dilation: []int{2, 1}},
		"conv transposed 2d plain": {In: 4, Out: 2, Kernel: []int{4}, Stride: []int{2}, Padding: []int{1}, Groups: 2, NoBias: true}} {
		all[name] = pytorchCase{net: l, forward: one(l.Forward)}
	}
	all["adaptive"] = pytorchCase{forward: one(func(x sinter.Tensor) sinter.Tensor { return nn.AdaptiveAvgPool(x, 3, 2) })}
	all["adaptive one"] = pytorchCase{forward: one(func(x sinter.Tensor) sinter.Tensor { return nn.AdaptiveAvgPool(x, 1) })}
}

func sequences(all map[string]pytorchCase) {
	for name, l := range map[string]*nn.MultiHeadAttention{"attention": {Width: 8, Heads: 2}, "attention causal": {Width: 8, Heads: 4, NoBias: true, Causal: true},
		"attention grouped":  {Width: 8, Heads: 4, KVHeads: 2, Causal: true, Rotary: &nn.Rotary{}},
		"attention separate": {Width: 8, Heads: 4, KVHeads: 1, Causal: true, Rotary: &nn.Rotary{}, Separate: true, Window: 2}} {
		all[name] = pytorchCase{net: l, forward: inMode(l.Forward)}
	}
	cross := &nn.MultiHeadAttention{Width: 8, Heads: 2}
	all["attention cross"] = pytorchCase{net: cross, forward: func(in tensors, m *nn.Mode) []sinter.Tensor {
		return list(cross.Attend(in["q"], nn.AttentionInput{Key: in["k"], Value: in["v"], Mask: in["mask"]}, m))
	}}
	for name, l := range map[string]*nn.TransformerBlock{"block post": {Width: 8, Heads: 2, Inner: 12, PostNorm: true, Activation: sinter.Tensor.ReLU},
		"block pre": {Width: 8, Heads: 2, Eps: 1e-3}, "block causal": {Width: 8, Heads: 4, Inner: 12, Causal: true, NoBias: true}} {
		all[name] = pytorchCase{net: l, forward: inMode(l.Forward)}
	}
	for name, l := range map[string]*nn.LSTM{"lstm": {nn.Recurrent{In: 3, Hidden: 4}},
		"lstm deep": {nn.Recurrent{In: 3, Hidden: 4, Layers: 2, NoBias: true, BatchFirst: true, Bidirectional: true}}} {
		all[name] = pytorchCase{net: l, forward: func(in tensors, m *nn.Mode) []sinter.Tensor { return list(l.Forward(in["x"], in["h"], in["c"], m)) }}
	}
	for name, l := range map[string]*nn.GRU{"gru": {nn.Recurrent{In: 3, Hidden: 4}}, "gru no bias": {nn.Recurrent{In: 3, Hidden: 4, NoBias: true}},
		"gru deep": {nn.Recurrent{In: 3, Hidden: 4, Layers: 2, BatchFirst: true, Bidirectional: true}}} {
		all[name] = pytorchCase{net: l, forward: func(in tensors, m *nn.Mode) []sinter.Tensor { return list(l.Forward(in["x"], in["h"], m)) }}
	}
}

func losses(all map[string]pytorchCase) {
	ignored := 1
	for name, r := range map[string]sinter.Reduction{"mean": sinter.ReduceMean, "sum": sinter.ReduceSum, "none": sinter.ReduceNone} {
		all["nll "+name] = pytorchCase{forward: func(in tensors, _ *nn.Mode) []sinter.Tensor {
			return list(nn.NLL(in["x"], in["t"], nn.NLLOptions{Weights: in["w"], IgnoreIndex: &ignored, Reduction: r}))
		}}
		all["cross entropy "+name] = pytorchCase{forward: func(in tensors, _ *nn.Mode) []sinter.Tensor {
			return list(sinter.CrossEntropy(in["x"], in["t"], sinter.CrossEntropyOptions{Weights: in["w"], IgnoreIndex: &ignored, LabelSmoothing: 0.2, Reduction: r}))
		}}
		all["cross entropy weighted "+name] = pytorchCase{forward: func(in tensors, _ *nn.Mode) []sinter.Tensor {
			return list(sinter.CrossEntropy(in["x"], in["t"], sinter.CrossEntropyOptions{Weights: in["w"], Reduction: r}))
		}}
		all["kl "+name] = pytorchCase{forward: func(in tensors, _ *nn.Mode) []sinter.Tensor {
			return list(nn.KL(in["x"], in["t"], nn.KLOptions{Reduction: r}))
		}}
		all["bce "+name] = pytorchCase{forward: func(in tensors, _ *nn.Mode) []sinter.Tensor {
			return list(nn.BCE(in["x"], in["t"], nn.BCEOptions{Weights: in["w"], Positive: in["p"], Reduction: r}))
		}}
	}
	all["kl log"] = pytorchCase{forward: func(in tensors, _ *nn.Mode) []sinter.Tensor {
		return list(nn.KL(in["x"], in["t"], nn.KLOptions{LogTarget: true, PerRow: true}))
	}}
	all["nll tokens"] = pytorchCase{forward: func(in tensors, _ *nn.Mode) []sinter.Tensor { return list(nn.NLL(in["x"], in["t"], nn.NLLOptions{})) }}
	all["infonce"] = pytorchCase{forward: func(in tensors, _ *nn.Mode) []sinter.Tensor {
		return list(nn.InfoNCE(in["a"], in["b"], nn.InfoNCEOptions{}))
	}}
	all["infonce symmetric"] = pytorchCase{forward: func(in tensors, _ *nn.Mode) []sinter.Tensor {
		return list(nn.InfoNCE(in["a"], in["b"], nn.InfoNCEOptions{Temperature: 0.5, Symmetric: true}))
	}}
}

// TestPyTorch compares outputs, every gradient and the running statistics of
// layers and losses with PyTorch's, in f64.
func TestPyTorch(t *testing.T) {
	f, err := safetensors.Open("testdata/layers.safetensors") // made by testdata/gen/layers.py
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases := pytorchCases()
	seen := map[string]bool{}
	for _, name := range f.Names() {
		c, _, _ := strings.Cut(name, "/")
		seen[c] = true
	}
	for name := range cases {
		if !seen[name] {
			t.Errorf("there is no reference for %q", name)
		}
	}
	for name := range seen {
		t.Run(name, func(t *testing.T) {
			c, ok := cases[name]
			if !ok {
				t.Fatal("no such case")
			}
			c.compare(t, f, name+"/")
		})
	}
}

// below collects the tensors of a file whose names begin with a prefix.
func below(f *safetensors.File, prefix string) (all []safetensors.Tensor) {
	for _, name := range f.Names() {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			x, _ := f.Tensor(name)
			x.Name = rest
			all = append(all, x)
		}
	}
	return all
}

func weight(x safetensors.Tensor) sinter.Tensor {
	return sinter.Weight(x.Name, x.DType, x.Data, x.Shape...)
}

// load initialises the case's net and gives it PyTorch's state, strictly.
func (c pytorchCase) load(t *testing.T, f *safetensors.File, prefix string) {
	t.Helper()
	if c.net != nil {
		c.loadAs(t, f, prefix, sinter.F64)
	}
}

func (c pytorchCase) loadAs(t *testing.T, f *safetensors.File, prefix string, dt sinter.DType) {
	t.Helper()
	if err := nn.Init(c.net, nn.Options{DType: dt}); err != nil {
		t.Fatal(err)
	}
	start := below(f, prefix+"state/")
	if all, err := nn.State(c.net); err != nil && len(start) == 0 && len(all) == 0 {
		return // a layer without weights
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, start, nil); err != nil {
		t.Fatal(err)
	}
	own, err := safetensors.Parse(prefix+"state", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nn.Load(context.Background(), own, c.net, nn.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	// What is saved is what PyTorch has saved, to the byte.
	var again bytes.Buffer
	if err := nn.Save(context.Background(), &again, c.net, nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Bytes(), b.Bytes()) {
		t.Error("saved, it is another file")
	}
}

func (c pytorchCase) compare(t *testing.T, f *safetensors.File, prefix string) {
	c.load(t, f, prefix)
	in, wrt := tensors{}, tensors{}
	for _, x := range below(f, prefix+"in/") {
		in[x.Name] = weight(x)
		wrt["gradin/"+x.Name] = in[x.Name]
	}
	for _, v := range nn.Params(c.net) {
		wrt["grad/"+v.Name()] = v.Tensor()
	}
	m := &nn.Mode{Training: !c.eval}
	outs := c.forward(in, m)
	want := map[string]sinter.Tensor{}
	loss := sinter.Scalar(0).Cast(sinter.F64)
	got := tensors{}
	for i, y := range outs {
		if y.Err() != nil {
			t.Fatal(y.Err())
		}
		got[fmt.Sprintf("out/%d", i)] = y
		flat := y.Reshape(-1)
		w := sinter.Iota(sinter.F64, 0, flat.Shape()...).Sin().Add(sinter.Scalar(1.5))
		loss = loss.Add(flat.Mul(w).Sum())
	}
	for _, kind := range []string{"out/", "grad/", "gradin/", "after/"} {
		for _, x := range below(f, prefix+kind) {
			want[kind+x.Name] = weight(x)
		}
	}
	var grads []string
	for name := range want {
		if strings.HasPrefix(name, "grad") {
			if _, ok := wrt[name]; !ok {
				t.Fatalf("the net has no %s", name)
			}
			grads = append(grads, name)
		} else if _, ok := got[name]; !ok && strings.HasPrefix(name, "out/") {
			t.Errorf("there is no %s", name)
		}
	}
	for name := range wrt {
		if strings.HasPrefix(name, "grad/") && !slices.Contains(grads, name) {
			t.Errorf("PyTorch has no %s", name)
		}
	}
	at := make([]sinter.Tensor, len(grads))
	for i, name := range grads {
		at[i] = wrt[name]
	}
	for i, g := range sinter.Grad(loss, at...) {
		got[grads[i]] = g
	}
	c.run(t, m, got, want)
}

// run computes everything in one program, as training would, and compares.
func (c pytorchCase) run(t *testing.T, m *nn.Mode, got, want tensors) {
	var names []string
	var outputs []sinter.Tensor
	for name, x := range got {
		names, outputs = append(names, name), append(outputs, x)
	}
	p, err := sinter.Compile(sinter.Capture(append(outputs, m.Updates()...)...), sinter.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	results, err := p.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		got[name] = results[i]
	}
	if all, err := nn.State(c.net); err == nil {
		for _, s := range all {
			if s.State {
				got["after/"+s.Name] = s.Variable.Tensor()
			}
		}
	}
	for name, w := range want {
		near(t, name, got[name], w, 1e-10)
	}
}

// near compares relative to the largest element, or to 1 if that is larger.
func near(t *testing.T, what string, got, want sinter.Tensor, tolerance float64) {
	t.Helper()
	if g, w := fmt.Sprint(got.Shape()), fmt.Sprint(want.Shape()); g != w {
		t.Errorf("%s has shape %s, want %s (%v)", what, g, w, got.Err())
		return
	}
	g, w := values(t, got), values(t, want)
	largest := 1.0
	for _, x := range w {
		largest = max(largest, math.Abs(x))
	}
	for i := range w {
		if !(math.Abs(g[i]-w[i]) <= tolerance*largest) {
			t.Errorf("%s[%d] is %v, want %v", what, i, g[i], w[i])
			return
		}
	}
}
