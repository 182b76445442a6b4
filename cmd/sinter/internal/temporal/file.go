package temporal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
)

// A file of a model is safetensors: int8 matrices with their factors, all else
// in f32, and what kind of net it is in the metadata.
const (
	formatKey = "format"
	format    = "sinter temporal 1" // the number changes with what a file means

)

// fields are the sizes as metadata has them.
func (s *Sizes) fields() map[string]*int {
	f := map[string]*int{"outputs": &s.Outputs}
	switch s.Net {
	case MLPName:
		f["hidden"] = &s.Hidden
	case TransformerName:
		f["patch"], f["width"], f["heads"], f["inner"] = &s.Patch, &s.Width, &s.Heads, &s.Inner
	}
	return f
}

// File is a model in 8 bits as a file that Open reads.
func (m *Model) File() ([]byte, error) {
	if m == nil || m.program == nil {
		return nil, errZeroModel
	}
	metadata := map[string]string{formatKey: format, "net": m.sizes.Net}
	for key, n := range m.sizes.fields() {
		metadata[key] = strconv.Itoa(*n)
	}
	var file bytes.Buffer
	err := safetensors.Write(&file, m.tensors, metadata)
	return file.Bytes(), err
}

// maxFileSize is far above what a model of the largest sizes of use has.
const maxFileSize = 64 << 20

// Open reads a model from a file.
func Open(path string, o sinter.Options) (*Model, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxFileSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileSize {
		return nil, fmt.Errorf("%s is larger than %d bytes: it is no model of this kind", path, maxFileSize)
	}
	sizes, tensors, err := read(path, data)
	if err != nil {
		return nil, err
	}
	o.Precision = sinter.Int8
	return newModel(sizes, tensors, o)
}

// read takes a model from a file that anybody may have written: sizes are
// bounded before anything is made of them, and every tensor is compared with
// them.
func read(name string, data []byte) (Sizes, []safetensors.Tensor, error) {
	fail := func(err error) (Sizes, []safetensors.Tensor, error) {
		return Sizes{}, nil, fmt.Errorf("%s is no model of this kind: %w", name, err)
	}
	f, err := safetensors.Parse(name, data)
	if err != nil {
		return Sizes{}, nil, err
	}
	sizes, err := readSizes(f.Metadata())
	if err != nil {
		return fail(err)
	}
	want, err := sizes.expected()
	if err != nil {
		return fail(err)
	}
	tensors := make([]safetensors.Tensor, 0, len(want))
	for _, w := range want {
		t, ok := f.Tensor(w.Name)
		if err := matches(t, ok, w); err != nil {
			return fail(fmt.Errorf("tensor %s: %w", w.Name, err))
		}
		tensors = append(tensors, t)
	}
	if n := len(f.Names()); n != len(want) {
		return fail(fmt.Errorf("%d tensors, want %d: save it anew", n, len(want)))
	}
	return sizes, tensors, nil
}

func readSizes(metadata map[string]string) (Sizes, error) {
	s := Sizes{Net: metadata["net"]}
	if got := metadata[formatKey]; got != format {
		return s, fmt.Errorf("its format is %.40q, want %q: export it anew", got, format)
	}
	for key, at := range s.fields() {
		n, err := strconv.Atoi(metadata[key])
		if err != nil {
			return s, fmt.Errorf("metadata %s is %.40q, no number", key, metadata[key])
		}
		*at = n
	}
	if err := s.check(); err != nil {
		return s, err
	}
	return s, nil
}

// expected lists the tensors that a model has, without data.
func (s Sizes) expected() ([]safetensors.Tensor, error) {
	net, err := New(s, 0)
	if err != nil {
		return nil, err
	}
	state, err := nn.State(net.Module)
	if err != nil {
		return nil, err
	}
	all := featureTensors(nil, nil)
	for _, p := range state {
		t := safetensors.Tensor{Name: p.Name, DType: sinter.F32}
		for _, d := range p.Variable.Tensor().Shape() {
			n, _ := d.Const()
			t.Shape = append(t.Shape, n)
		}
		if inBytes(t.Name, t.Shape) {
			t.DType = sinter.I8
			all = append(all, safetensors.Tensor{Name: t.Name + scaleSuffix, DType: sinter.F32, Shape: []int{t.Shape[0], 1}})
		}
		all = append(all, t)
	}
	return all, nil
}

// matches compares a tensor of a file with what it has to be.
func matches(t safetensors.Tensor, there bool, want safetensors.Tensor) error {
	switch {
	case !there:
		return errors.New("it is missing")
	case t.DType != want.DType || fmt.Sprint(t.Shape) != fmt.Sprint(want.Shape):
		return fmt.Errorf("it is %v%v, want %v%v", t.DType, t.Shape, want.DType, want.Shape)
	case t.DType != sinter.F32:
		return nil
	}
	positive := strings.HasSuffix(t.Name, scaleSuffix)
	for i, v := range floatsOf(t.Data) {
		if v != v || math.IsInf(float64(v), 0) || positive && v < 0x1p-126 {
			return fmt.Errorf("element %d is %v", i, v)
		}
	}
	return nil
}
