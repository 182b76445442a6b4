package temporal

import (
	"bytes"
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/safetensors"
)

// testFile is a small model as a file.
func testFile(t testing.TB, sizes Sizes) []byte {
	t.Helper()
	net, err := New(sizes, 1)
	if err != nil {
		t.Fatal(err)
	}
	one := Moments{0.5, 2}
	m, err := Quantise(context.Background(), net, Scale{one, one, one}, sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	file, err := m.File()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFileRefuses(t *testing.T) {
	good, err := safetensors.Parse("good", testFile(t, Sizes{Net: MLPName, Outputs: Classes, Hidden: 16}))
	if err != nil {
		t.Fatal(err)
	}
	at := func(all []safetensors.Tensor, name string) *safetensors.Tensor {
		return &all[slices.IndexFunc(all, func(t safetensors.Tensor) bool { return t.Name == name })]
	}
	for name, c := range map[string]struct {
		change func(all []safetensors.Tensor, metadata map[string]string) []safetensors.Tensor
		say    string
	}{
		"another format": {func(all []safetensors.Tensor, m map[string]string) []safetensors.Tensor {
			m["format"] = "sinter temporal 2"
			return all
		}, "export it anew"},
		"no sizes": {func(all []safetensors.Tensor, m map[string]string) []safetensors.Tensor {
			delete(m, "hidden")
			return all
		}, "hidden"},
		"another net": {func(all []safetensors.Tensor, m map[string]string) []safetensors.Tensor {
			m["net"] = "lstm"
			return all
		}, `no net "lstm"`},
		"a net that is too large": {func(all []safetensors.Tensor, m map[string]string) []safetensors.Tensor {
			m["hidden"] = "1000000000"
			return all
		}, "hidden units of 1000000000"},
		"other sizes": {func(all []safetensors.Tensor, m map[string]string) []safetensors.Tensor {
			m["hidden"] = "17"
			return all
		}, "hidden.weight"},
		"a tensor less": {func(all []safetensors.Tensor, m map[string]string) []safetensors.Tensor { return all[1:] }, "missing"},
		"a tensor more": {func(all []safetensors.Tensor, m map[string]string) []safetensors.Tensor {
			return append(all, safetensors.Tensor{Name: "more", DType: sinter.I8, Shape: []int{1}, Data: []byte{1}})
		}, "tensors, want"},
		"another type": {func(all []safetensors.Tensor, m map[string]string) []safetensors.Tensor {
			at(all, "hidden.weight").DType = sinter.U8
			return all
		}, "hidden.weight"},
		"a weight that is no number": {func(all []safetensors.Tensor, m map[string]string) []safetensors.Tensor {
			at(all, "out.bias").Data = bytesOf([]float32{0, float32(math.NaN()), 0})
			return all
		}, "out.bias: element 1 is NaN"},
		"a factor of 0": {func(all []safetensors.Tensor, m map[string]string) []safetensors.Tensor {
			at(all, "hidden.weight.scale").Data = make([]byte, 4*16)
			return all
		}, "hidden.weight.scale: element 0 is 0"},
	} {
		t.Run(name, func(t *testing.T) {
			var all []safetensors.Tensor
			for _, n := range good.Names() {
				x, _ := good.Tensor(n)
				all = append(all, x)
			}
			metadata := maps.Clone(good.Metadata())
			all = c.change(all, metadata)
			var file bytes.Buffer
			if err := safetensors.Write(&file, all, metadata); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "model")
			if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := Open(path, sinter.Options{})
			if err == nil {
				m.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %q", err, c.say)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if _, err := Open(path, sinter.Options{}); err == nil {
		t.Error("a file that is not there is no error")
	}
	whole := testFile(t, DefaultSizes(TransformerName, Classes))
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, sinter.Options{}); err == nil {
		t.Error("a file that was cut is no error")
	}
	if _, err := (&Model{}).Predict(context.Background(), make([]float32, Features)); err == nil {
		t.Error("the zero Model predicts")
	}
}

// Whatever the bytes, what is read has every tensor of its sizes, whole.
func FuzzRead(f *testing.F) {
	for _, sizes := range []Sizes{
		{Net: MLPName, Outputs: Classes, Hidden: 16}, {Net: MLPName, Outputs: 1, Hidden: 1},
		{Net: TransformerName, Outputs: 1, Patch: 16, Width: 16, Heads: 1, Inner: 1},
	} {
		f.Add(testFile(f, sizes))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sizes, tensors, err := read("fuzz", data)
		if err != nil {
			return
		}
		if err := sizes.check(); err != nil {
			t.Error(err)
		}
		for _, x := range tensors {
			n := x.DType.Size()
			for _, d := range x.Shape {
				n *= d
			}
			if n != len(x.Data) {
				t.Errorf("%s%v has %d bytes", x.Name, x.Shape, len(x.Data))
			}
		}
	})
}
