package optim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/reftest"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/safetensors"
)

// gpt is GPT-2 over its published names of weights, which are [in, out].
type gpt struct {
	Layers  int     `json:"n_layer"`
	Heads   int     `json:"n_head"`
	Width   int     `json:"n_embd"`
	Epsilon float64 `json:"layer_norm_epsilon"`
	params  map[string]*sinter.Variable
}

func (m *gpt) p(name string) sinter.Tensor { return m.params["transformer."+name].Tensor() }

func (m *gpt) linear(x sinter.Tensor, name string) sinter.Tensor {
	return x.MatMul(m.p(name + ".weight")).Add(m.p(name + ".bias"))
}

func (m *gpt) norm(x sinter.Tensor, name string) sinter.Tensor {
	return sinter.LayerNorm(x, m.p(name+".weight"), m.p(name+".bias"), m.Epsilon)
}

// logits of ids [batch, tokens]: [batch, tokens, vocabulary].
func (m *gpt) logits(ids sinter.Tensor) sinter.Tensor {
	batch, _ := ids.Dim(0).Const()
	tokens, _ := ids.Dim(1).Const()
	x := m.p("wte.weight").Take(ids, 0).Add(m.p("wpe.weight").Slice(sinter.Range{Stop: tokens}))
	for i := range m.Layers {
		at := fmt.Sprintf("h.%d.", i)
		qkv := m.linear(m.norm(x, at+"ln_1"), at+"attn.c_attn").Reshape(batch, tokens, 3, m.Heads, m.Width/m.Heads).Permute(2, 0, 3, 1, 4)
		y, _ := sinter.Attention(qkv.Index(0, 0), qkv.Index(0, 1), qkv.Index(0, 2), sinter.AttentionOptions{Causal: true})
		x = x.Add(m.linear(y.Permute(0, 2, 1, 3).Reshape(batch, tokens, m.Width), at+"attn.c_proj"))
		x = x.Add(m.linear(m.linear(m.norm(x, at+"ln_2"), at+"mlp.c_fc").GELUTanh(), at+"mlp.c_proj"))
	}
	return m.norm(x, "ln_f").MatMul(m.p("wte.weight").T())
}

// TestReferenceGPT2 compares logits, every gradient, and the losses of ten
// steps with PyTorch's.
func TestReferenceGPT2(t *testing.T) {
	dir := reftest.Dir(t, "train")
	var want struct{ Losses []float64 }
	m := &gpt{params: map[string]*sinter.Variable{}}
	for name, v := range map[string]any{"gpt2-tiny.json": &want, "gpt2-tiny.config.json": m} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(text, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	weights, err := safetensors.Open(filepath.Join(dir, "gpt2-tiny.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer weights.Close()
	reference, err := safetensors.Open(filepath.Join(dir, "gpt2-tiny.reference.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer reference.Close()
	var params []*sinter.Variable
	var wrt []sinter.Tensor
	names := slices.Sorted(slices.Values(weights.Names()))
	for _, name := range names {
		v := sinter.NewVariable(name, weight(t, weights, name))
		m.params[name] = v
		params, wrt = append(params, v), append(wrt, v.Tensor())
	}
	all := weight(t, reference, "ids")
	tokens, _ := all.Dim(1).Const()
	ids, next := all.Slice(sinter.Range{}, sinter.Range{Stop: tokens - 1}), all.Slice(sinter.Range{}, sinter.Range{Start: 1})
	logits := m.logits(ids)
	loss := sinter.CrossEntropy(logits, next, sinter.CrossEntropyOptions{})
	opt, err := optim.New(optim.Options{}, optim.Group{Params: params, Method: optim.AdamW{Beta2: 0.95, WeightDecay: 0.1}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	first, err := sinter.Compile(sinter.Capture(append([]sinter.Tensor{logits}, sinter.Grad(loss, wrt...)...)...), sinter.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	outs, err := first.Run(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	within(t, outs[0], weight(t, reference, "logits"), "logits", 2e-5)
	for i, name := range names {
		within(t, outs[i+1], weight(t, reference, "grad."+name), name, 1e-5)
	}
	updates, err := opt.Update(loss, sinter.Scalar(1e-3))
	if err != nil {
		t.Fatal(err)
	}
	step, err := sinter.Compile(sinter.Capture(append([]sinter.Tensor{loss}, updates...)...), sinter.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	defer step.Close()
	for i, want := range want.Losses {
		outs, err := step.Run(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sinter.Values[float32](ctx, outs[0])
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(float64(got[0])-want) <= 1e-5*want) {
			t.Errorf("loss of step %d is %v, want %v", i, got[0], want)
		}
	}
}

// within compares with a share of the largest element.
func within(t *testing.T, got, want sinter.Tensor, name string, share float64) {
	t.Helper()
	g, err := sinter.Values[float64](context.Background(), got.Cast(sinter.F64).Reshape(-1))
	if err != nil {
		t.Fatal(err)
	}
	w, err := sinter.Values[float64](context.Background(), want.Reshape(-1))
	if err != nil {
		t.Fatal(err)
	}
	largest := 0.0
	for _, x := range w {
		largest = max(largest, math.Abs(x))
	}
	for i := range w {
		if !(math.Abs(g[i]-w[i]) <= share*largest) {
			t.Errorf("%s[%d] is %v, want %v; the largest is %v", name, i, g[i], w[i], largest)
			return
		}
	}
}
