package main

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/model"
	"github.com/sinterml/sinter/model/minilm"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/safetensors"
)

// tiny is the encoder of testdata/gen, with what its first block makes of the
// texts there.
type tiny struct {
	*tuned
	fsys      fs.FS
	file      *safetensors.File
	config    *config
	reference *safetensors.File
	data      pairsData
}

func openTiny(t *testing.T) *tiny {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	y := &tiny{fsys: os.DirFS("testdata/tiny")}
	var err error
	y.config, err = readConfig(y.fsys)
	must(err)
	y.file, err = safetensors.Open("testdata/tiny/model.safetensors")
	must(err)
	y.reference, err = safetensors.Open("testdata/tiny/reference.safetensors")
	must(err)
	t.Cleanup(func() { _, _ = y.file.Close(), y.reference.Close() })
	y.tuned, err = newTuned(y.file, y.config)
	must(err)
	e, err := model.OpenFS(y.fsys)
	must(err)
	defer e.Close()
	read := func(name string) []int32 {
		v, err := sinter.Values[int32](t.Context(), y.tensor(t, name))
		must(err)
		return v
	}
	for side, f := range map[string]**features{"query": &y.data.queries, "answer": &y.data.answers} {
		ids, offsets := read(side+".ids"), read(side+".offsets")
		var texts [][]int32
		for i, end := range offsets[1:] {
			texts = append(texts, ids[offsets[i]:end])
		}
		*f, err = newFeatures(t.Context(), e, y.config, texts)
		must(err)
		y.data.size = len(texts)
	}
	return y
}

func (y *tiny) tensor(t *testing.T, name string) sinter.Tensor {
	t.Helper()
	w, ok := y.reference.Tensor(name)
	if !ok {
		t.Fatalf("the reference has no %s", name)
	}
	return sinter.Weight(name, w.DType, w.Data, w.Shape...)
}

// batch is all pairs.
func (y *tiny) batch() map[string]sinter.Tensor {
	rows := make([]int, y.data.size)
	for i := range rows {
		rows[i] = i
	}
	in := y.data.queries.batch("query", rows)
	for name, x := range y.data.answers.batch("answer", rows) {
		in[name] = x
	}
	return in
}

// TestGradientsPyTorch compares the loss and every gradient with those of
// testdata/gen/make.py: within 1e-5 of the largest element.
func TestGradientsPyTorch(t *testing.T) {
	y := openTiny(t)
	loss := y.loss(y.data, &nn.Mode{Training: true})
	state, err := nn.State(y.tuned)
	if err != nil {
		t.Fatal(err)
	}
	var wrt []sinter.Tensor
	for _, p := range state {
		wrt = append(wrt, p.Variable.Tensor())
	}
	p, err := sinter.Compile(sinter.Capture(append(sinter.Grad(loss, wrt...), loss)...), sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	outs, err := p.Run(t.Context(), y.batch())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"loss"}
	for i := range state {
		names = append(names, "grad."+fileName("", state[i].Name))
	}
	outs = append(outs[len(outs)-1:], outs[:len(outs)-1]...)
	// That of a bias of keys is 0: it moves all scores of a query alike.
	for i, name := range names {
		got, err := sinter.Values[float64](t.Context(), outs[i].Cast(sinter.F64).Reshape(-1))
		if err != nil {
			t.Fatal(err)
		}
		want, err := sinter.Values[float64](t.Context(), y.tensor(t, name).Reshape(-1))
		if err != nil {
			t.Fatal(err)
		}
		largest := 0.0
		for _, x := range want {
			largest = max(largest, math.Abs(x))
		}
		if strings.HasSuffix(name, "key.bias") {
			largest = 1
		}
		for j := range want {
			if !(math.Abs(got[j]-want[j]) <= 1e-5*largest) {
				t.Errorf("%s[%d] is %v, want %v; the largest is %v", name, j, got[j], want[j], largest)
				break
			}
		}
	}
}

// TestSave trains the tiny encoder a little and opens the folder that it is
// saved to: its hidden states are those of the net in memory.
func TestSave(t *testing.T) {
	y := openTiny(t)
	opt, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(y.tuned), Method: optim.SGD{}})
	if err != nil {
		t.Fatal(err)
	}
	loss := y.loss(y.data, nil)
	updates, err := opt.Update(loss, sinter.Scalar(0.01))
	if err != nil {
		t.Fatal(err)
	}
	step, err := sinter.Compile(sinter.Capture(append(updates, loss)...), sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer step.Close()
	var losses []float32
	for range 5 {
		outs, err := step.Run(t.Context(), y.batch())
		if err != nil {
			t.Fatal(err)
		}
		v, err := sinter.Values[float32](t.Context(), outs[len(outs)-1])
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, v...)
	}
	if !(losses[4] < losses[0]) {
		t.Errorf("the loss does not fall: %v", losses)
	}
	dir := t.TempDir()
	if err := save(t.Context(), dir, y.fsys, y.file, y.config, y.tuned); err != nil {
		t.Fatal(err)
	}
	e, err := model.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ids, offsets := y.tensor(t, "query.ids"), y.tensor(t, "query.offsets")
	saved := sinter.SegmentMean(e.Forward(model.Inputs{IDs: ids, Offsets: offsets}).Hidden[y.config.Layers], offsets)
	in := y.batch()
	ours := y.embed(in["query.x"], in["query.offsets"], nil)
	far, err := sinter.Values[float32](t.Context(), saved.Sub(ours).Abs().Max())
	if err != nil || !(far[0] <= 1e-5) {
		t.Errorf("saved and trained differ by %v, %v", far, err)
	}
}

// TestRun trains the real encoder with few pairs: retrieval gets better.
func TestRun(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("takes a minute: set SINTER_CI=1")
	}
	o := options{out: filepath.Join(t.TempDir(), "model"), epochs: 1, batch: 32, rate: 2e-4, pairs: 320}
	before, after, err := run(t.Context(), t.Output(), minilm.FS, o)
	if err != nil {
		t.Fatal(err)
	}
	if after.rank < before.rank+0.01 {
		t.Errorf("before %v, after %v", before, after)
	}
}
