package sinter_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/reftest"
	"github.com/sinterml/sinter/safetensors"
)

// devices are what TestReference runs on: all must agree with the reference.
var devices = []string{"interp"}

type referenceCase struct {
	Name, Op        string
	Attrs           json.RawMessage
	Inputs, Outputs []string
	Atol            map[string]float64
}

// TestReferenceOperators compares every operator with PyTorch in float64.
func TestReferenceOperators(t *testing.T) {
	dir := reftest.Dir(t, "ops")
	text, err := os.ReadFile(filepath.Join(dir, "ops.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Rtol  float64
		Cases []referenceCase
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Open(filepath.Join(dir, "ops.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, name := range devices {
		d, err := sinter.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list.Cases {
			t.Run(name+"/"+c.Name, func(t *testing.T) { c.run(t, d, file, list.Rtol) })
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (c *referenceCase) run(t *testing.T, d *sinter.Device, file *safetensors.File, rtol float64) {
	ctx := sinter.WithDevice(context.Background(), d)
	build := referenceOps[c.Op]
	if build == nil {
		t.Fatalf("no operator %q", c.Op)
	}
	var in []sinter.Tensor
	special := false
	for _, name := range c.Inputs {
		s := find(t, file, name)
		in = append(in, sinter.Weight(s.Name, s.DType, s.Data, s.Shape...))
		special = special || hasSpecial(s)
	}
	var attrs referenceAttrs
	if err := json.Unmarshal(c.Attrs, &attrs); err != nil {
		t.Fatal(err)
	}
	outs, err := sinter.Eval(ctx, build(in, attrs)...)
	if err != nil {
		t.Fatal(err)
	}
	if len(outs) != len(c.Outputs) {
		t.Fatalf("%d outputs, want %d", len(outs), len(c.Outputs))
	}
	for i, name := range c.Outputs {
		limit := tolerance{atol: c.Atol[name], rtol: rtol, special: special,
			exact: !approximate[c.Op], anyZero: c.Op == "maximum" || c.Op == "minimum"}
		compareReference(t, outs[i], find(t, file, name), limit)
	}
}

func find(t *testing.T, file *safetensors.File, name string) safetensors.Tensor {
	t.Helper()
	s, ok := file.Tensor(name)
	if !ok {
		t.Fatalf("no tensor %q", name)
	}
	return s
}

// hasSpecial tells whether an F32 input has infinities or NaN.
func hasSpecial(s safetensors.Tensor) bool {
	for i := 0; s.DType == sinter.F32 && i < len(s.Data); i += 4 {
		f := math.Float32frombits(binary.LittleEndian.Uint32(s.Data[i:]))
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return true
		}
	}
	return false
}

// approximate are the operators whose results on special values are rounded:
// the reference's own f32 there is not always the nearest.
var approximate = map[string]bool{"exp": true, "erf": true, "sigmoid": true, "tanh": true, "softmax": true}

// tolerance is how results are compared.
type tolerance struct {
	atol, rtol float64
	special    bool // infinities and NaN among the inputs: by the bits
	exact      bool // finite results too
	anyZero    bool // PyTorch's maximum of 0 and -0 is the first operand, ours is 0
}

func (l tolerance) accepts(got, want float64) bool {
	if !l.special {
		return got == want || math.Abs(got-want) <= l.atol+l.rtol*math.Abs(want)
	}
	a, b := float32(got), float32(want)
	switch {
	case math.Float32bits(a) == math.Float32bits(b), a != a && b != b:
		return true
	case b == 0:
		return l.anyZero && a == 0
	}
	return !l.exact && math.Abs(got-want) <= l.rtol*math.Abs(want)
}

func compareReference(t *testing.T, got sinter.Tensor, want safetensors.Tensor, limit tolerance) {
	t.Helper()
	shape := got.Shape()
	if len(shape) != len(want.Shape) {
		t.Fatalf("%s: shape %v, want %v", want.Name, shape, want.Shape)
	}
	for i, n := range want.Shape {
		if !shape[i].IsConst(n) {
			t.Fatalf("%s: shape %v, want %v", want.Name, shape, want.Shape)
		}
	}
	if want.DType == sinter.I64 {
		values, err := sinter.Values[int64](context.Background(), got.Cast(sinter.I64))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if w := int64(binary.LittleEndian.Uint64(want.Data[8*i:])); v != w {
				t.Fatalf("%s[%d] = %d, want %d", want.Name, i, v, w)
			}
		}
		return
	}
	values, err := sinter.Values[float64](context.Background(), got.Cast(sinter.F64))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		w := math.Float64frombits(binary.LittleEndian.Uint64(want.Data[8*i:]))
		if !limit.accepts(v, w) {
			t.Fatalf("%s[%d] = %v, want %v: %+v", want.Name, i, v, w, limit)
		}
	}
}
