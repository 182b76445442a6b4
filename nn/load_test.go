package nn_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
)

// file is what a file of these tensors holds.
func file(t *testing.T, all ...safetensors.Tensor) *safetensors.File {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, all, nil); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Parse("a file", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// saved is a net's tensors by name.
func saved(t *testing.T, net any) map[string]safetensors.Tensor {
	t.Helper()
	params, err := nn.State(net)
	if err != nil {
		t.Fatal(err)
	}
	all, err := nn.Snapshot(context.Background(), params)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]safetensors.Tensor{}
	for _, x := range all {
		by[x.Name] = x
	}
	return by
}

func with(by map[string]safetensors.Tensor, change func(by map[string]safetensors.Tensor)) []safetensors.Tensor {
	change(by)
	var all []safetensors.Tensor
	for _, x := range by {
		all = append(all, x)
	}
	return all
}

func TestLoadStrict(t *testing.T) {
	ctx := context.Background()
	changes := map[string]func(by map[string]safetensors.Tensor){
		"1 missing: layers.0.bias":        func(by map[string]safetensors.Tensor) { delete(by, "layers.0.bias") },
		"1 missing: norm.running_var":     func(by map[string]safetensors.Tensor) { delete(by, "norm.running_var") },
		"1 unexpected: layers.2.weight":   func(by map[string]safetensors.Tensor) { x := by["scale"]; x.Name = "layers.2.weight"; by[x.Name] = x },
		"scale has shape [1 1], want [1]": func(by map[string]safetensors.Tensor) { x := by["scale"]; x.Shape = []int{1, 1}; by["scale"] = x },
		"scale is i32, want f32":          func(by map[string]safetensors.Tensor) { x := by["scale"]; x.DType = sinter.I32; by["scale"] = x },
		"num_batches_tracked is f64, want": func(by map[string]safetensors.Tensor) {
			x := by["norm.num_batches_tracked"]
			x.DType = sinter.F64
			by[x.Name] = x
		},
	}
	for want, change := range changes {
		m := newMLP(t, 1)
		before := values(t, m.Layers[0].Weight.Tensor())
		r, err := nn.Load(ctx, file(t, with(saved(t, newMLP(t, 2)), change)...), m, nn.LoadOptions{})
		var report *nn.LoadReport
		if !errors.As(err, &report) || report != r || r.Loaded != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
		if !slices.Equal(before, values(t, m.Layers[0].Weight.Tensor())) {
			t.Errorf("%q: the net has changed", want)
		}
	}
	// All kinds of differences in one error.
	by := saved(t, newMLP(t, 2))
	all := with(by, func(by map[string]safetensors.Tensor) {
		for _, change := range changes {
			change(by)
		}
	})
	m := newMLP(t, 1)
	if r, err := nn.Load(ctx, file(t, all...), m, nn.LoadOptions{}); err == nil || len(r.Missing) != 2 || len(r.Unexpected) != 1 || len(r.Wrong) != 2 {
		t.Errorf("%v: %+v", err, r)
	}
	r, err := nn.Load(ctx, file(t, all...), m, nn.LoadOptions{Lenient: true})
	if err != nil || r.Fits() || r.Loaded != 5 {
		t.Errorf("lenient: %v, %+v", err, r)
	}
	if text := r.Error(); !strings.Contains(text, "5 variables were loaded") || !strings.Contains(text, "2 missing") {
		t.Errorf("lenient: %s", text)
	}
	if whole, err := nn.Load(ctx, file(t, with(saved(t, newMLP(t, 2)), func(map[string]safetensors.Tensor) {})...), m, nn.LoadOptions{}); err != nil || !whole.Fits() || strings.Contains(whole.Error(), "does not hold") {
		t.Errorf("%v, %v", err, whole)
	}
	if !slices.Equal(values(t, m.Layers[1].Weight.Tensor()), values(t, newMLP(t, 2).Layers[1].Weight.Tensor())) {
		t.Error("lenient: what fits was not loaded")
	}
	if v := values(t, m.Scale.Tensor()); v[0] != 2 {
		t.Errorf("lenient: what does not fit was loaded: %v", v)
	}
}

// A file may be closed, and gone, once it is loaded.
func TestLoadKeepsNothingOfTheFile(t *testing.T) {
	ctx := context.Background()
	from, to := newMLP(t, 2), newMLP(t, 1)
	path := filepath.Join(t.TempDir(), "net.safetensors")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(nn.Save(ctx, w, from, map[string]string{"epoch": "3"}), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Metadata()["epoch"] != "3" {
		t.Errorf("metadata %v", f.Metadata())
	}
	if _, err := nn.Load(ctx, f, to, nn.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), os.Truncate(path, 0)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(values(t, from.Layers[0].Weight.Tensor()), values(t, to.Layers[0].Weight.Tensor())) {
		t.Error("other values")
	}
}

func TestLoadConvertsAndRenames(t *testing.T) {
	ctx := context.Background()
	m := &nn.Linear{In: 1, Out: 3}
	if err := nn.Init(m, nn.Options{}); err != nil {
		t.Fatal(err)
	}
	half := []byte{0x80, 0x3f, 0x00, 0x40, 0xc0, 0xbf} // bf16 1, 2, -1.5
	double := make([]byte, 24)
	f := file(t, safetensors.Tensor{Name: "model.w", DType: sinter.BF16, Shape: []int{3, 1}, Data: half}, safetensors.Tensor{Name: "model.b", DType: sinter.F64, Shape: []int{3}, Data: double})
	rename := func(name string) string { return "model." + name[:1] }
	if _, err := nn.Load(ctx, f, m, nn.LoadOptions{Rename: rename}); err != nil {
		t.Fatal(err)
	}
	if got := values(t, m.Weight.Tensor()); !slices.Equal(got, []float64{1, 2, -1.5}) {
		t.Errorf("weights %v", got)
	}
	if got := values(t, m.Bias.Tensor()); !slices.Equal(got, make([]float64, 3)) {
		t.Errorf("bias %v", got)
	}
}

func TestLoadRefusesTiedThatDiffer(t *testing.T) {
	m := &struct {
		A nn.Linear `weight:"a"`
		B nn.Linear `weight:"b"`
	}{nn.Linear{In: 1, Out: 1, NoBias: true}, nn.Linear{In: 1, Out: 1, NoBias: true}}
	if err := nn.Init(m, nn.Options{}); err != nil {
		t.Fatal(err)
	}
	by := saved(t, m)
	m.B.Weight = m.A.Weight
	_, err := nn.Load(context.Background(), file(t, with(by, func(map[string]safetensors.Tensor) {})...), m, nn.LoadOptions{})
	if err == nil || !strings.Contains(err.Error(), "b.weight has other values than a.weight") {
		t.Error(err)
	}
	// One of the names is enough.
	if _, err := nn.Load(context.Background(), file(t, by["b.weight"]), m, nn.LoadOptions{}); err != nil {
		t.Error(err)
	}
}

func TestSaveEveryDType(t *testing.T) {
	ctx := context.Background()
	var all []nn.Param
	want := map[string]float64{}
	for dt := sinter.F32; dt.Valid(); dt++ {
		x := sinter.Of([]float32{1}, 1).Cast(dt)
		all = append(all, nn.Param{Name: dt.String(), Variable: sinter.NewVariable(dt.String(), x)})
		want[dt.String()] = 1
	}
	tensors, err := nn.Snapshot(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	if len(tensors) < 13 {
		t.Errorf("%d dtypes", len(tensors))
	}
	for _, x := range tensors {
		if v := values(t, weight(x)); len(v) != 1 || v[0] != want[x.Name] {
			t.Errorf("%s: %v", x.Name, v)
		}
	}
	nan := sinter.NewVariable("nan", sinter.Of([]float32{float32(math.NaN())}))
	if _, err := nn.Restore(ctx, file(t, tensors...), []nn.Param{{Name: "nan", Variable: nan}}, nn.LoadOptions{}); err == nil {
		t.Error("a file without the name")
	}
	if _, err := nn.Restore(ctx, file(t), []nn.Param{{Name: "none"}}, nn.LoadOptions{}); err == nil {
		t.Error("a nil variable")
	}
}

// meddling has a file written to once a run asks whether it is cancelled.
type meddling struct {
	context.Context
	meddle func()
}

func (c meddling) Err() error { c.meddle(); return c.Context.Err() }

// A file that is written to while its values are read is an error, though it was
// as opened when reading began.
func TestLoadWhileWritten(t *testing.T) {
	v := sinter.NewVariable("v", sinter.Of([]float32{1}, 1))
	params := []nn.Param{{Name: "v", Variable: v}}
	name := filepath.Join(t.TempDir(), "v.safetensors")
	var b bytes.Buffer
	if err := safetensors.Write(&b, []safetensors.Tensor{{Name: "v", DType: sinter.F32, Shape: []int{1}, Data: []byte{0, 0, 0, 64}}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	meddle := sync.OnceFunc(func() {
		w, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = w.Write([]byte("more"))
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Error(err)
		}
	})
	_, err = nn.Restore(meddling{t.Context(), meddle}, f, params, nn.LoadOptions{})
	if f.Intact() == nil {
		t.Skip("files are read into memory here")
	}
	if _, damaged := errors.AsType[*safetensors.Error](err); !damaged || !strings.Contains(err.Error(), "load them again") {
		t.Errorf("a file that was written to while it was read: %v", err)
	}
}
