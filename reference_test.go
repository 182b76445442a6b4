package sinter_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/reftest"
	"github.com/sinterml/sinter/safetensors"
)

type referenceCase struct {
	Name, Op          string
	Attrs             json.RawMessage
	Inputs, Outputs   []string
	Grads, Cotangents []string
	Atol              map[string]float64
}

// referenceCases are what ops.json lists, with the file of their values.
type referenceCases struct {
	Rtol  float64
	Cases []referenceCase
	file  *safetensors.File
}

func openReferenceCases(t *testing.T) *referenceCases {
	t.Helper()
	dir := reftest.Dir(t, "ops")
	text, err := os.ReadFile(filepath.Join(dir, "ops.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := &referenceCases{}
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	if r.file, err = safetensors.Open(filepath.Join(dir, "ops.safetensors")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.file.Close() })
	return r
}

// TestReferenceOperators compares every operator with PyTorch in float64.
func TestReferenceOperators(t *testing.T) {
	ref := openReferenceCases(t)
	for name, d := range referenceDevices(t) {
		for _, noOpt := range [][]string{nil, {"all"}} {
			for _, c := range ref.Cases {
				t.Run(fmt.Sprint(name, noOpt, "/", c.Name), func(t *testing.T) {
					c.run(t, ref.file, ref.Rtol, sinter.Options{Device: d, NoOpt: noOpt, Check: true})
				})
			}
		}
	}
}

// referenceDevices are the referee and every instruction set of the processor.
func referenceDevices(t *testing.T) map[string]*sinter.Device {
	all := map[string]*sinter.Device{}
	add := func(name string, d *sinter.Device, err error) {
		if err != nil { // an instruction set that this processor lacks
			t.Logf("%s: %v", name, err)
			return
		}
		t.Cleanup(func() { _ = d.Close() })
		all[name] = d
	}
	d, err := sinter.Open("interp")
	add("interp", d, err)
	for _, isa := range []string{"amx-fp16", "amx", "avx512", "avx2", "neon", "generic"} {
		d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa})
		add(isa, d, err)
	}
	return all
}

// built is a case as a graph: its outputs, then gradients.
type built struct {
	tensors []sinter.Tensor
	want    []string // the names of what they are compared with
	special bool     // an input has a NaN
}

func (c *referenceCase) run(t *testing.T, file *safetensors.File, rtol float64, o sinter.Options) {
	t.Helper()
	b := c.build(t, file)
	outs, err := runAll(b.tensors, o)
	if err != nil {
		t.Fatal(err)
	}
	c.compare(t, file, rtol, b, outs)
}

// runAll computes tensors of weights by one program.
func runAll(tensors []sinter.Tensor, o sinter.Options) ([]sinter.Tensor, error) {
	p, err := sinter.Compile(sinter.Capture(tensors...), o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Run(context.Background(), nil)
}

// compare compares what the tensors of b came out as.
func (c *referenceCase) compare(t *testing.T, file *safetensors.File, rtol float64, b built, outs []sinter.Tensor) {
	t.Helper()
	for i, name := range b.want {
		if least, ok := cancelled[name]; ok {
			c.Atol[name] = max(c.Atol[name], least)
		}
		limit := tolerance{atol: c.Atol[name], rtol: rtol, special: b.special,
			exact: !approximate[c.Op], anyZero: c.Op == "maximum" || c.Op == "minimum"}
		compareReference(t, outs[i], find(t, file, name), limit)
	}
}

func (c *referenceCase) build(t *testing.T, file *safetensors.File) built {
	t.Helper()
	build := referenceOps[c.Op]
	if build == nil {
		t.Fatalf("no operator %q", c.Op)
	}
	var b built
	var in []sinter.Tensor
	for _, name := range c.Inputs {
		s := find(t, file, name)
		in = append(in, sinter.Weight(s.Name, s.DType, s.Data, s.Shape...))
		b.special = b.special || hasNaN(s)
	}
	var attrs referenceAttrs
	if err := json.Unmarshal(c.Attrs, &attrs); err != nil {
		t.Fatal(err)
	}
	b.tensors = build(in, attrs)
	if len(b.tensors) != len(c.Outputs) {
		t.Fatalf("%d outputs, want %d", len(b.tensors), len(c.Outputs))
	}
	b.tensors = append(b.tensors, c.gradients(t, file, in, b.tensors)...)
	b.want = slices.Concat(c.Outputs, c.Grads)
	return b
}

// cancelled are sums whose terms cancel beyond what the list allows for: limits
// are 2^-22 of the sum of absolute values, as they are elsewhere. PyTorch's own
// f32 is at 1.9e-7.
var cancelled = map[string]float64{"div.3/grad0": 20.88 * 0x1p-22}

// gradients are those that the case lists: of the sum of outputs by cotangents,
// gradN with respect to input N.
func (c *referenceCase) gradients(t *testing.T, file *safetensors.File, in, out []sinter.Tensor) []sinter.Tensor {
	var outputs, cotangents []sinter.Tensor
	for i, name := range c.Cotangents {
		s := find(t, file, name)
		ct := sinter.Weight(s.Name, s.DType, s.Data, s.Shape...)
		outputs, cotangents = append(outputs, out[i]), append(cotangents, ct.Cast(out[i].DType()))
	}
	var wrt []sinter.Tensor
	for _, name := range c.Grads {
		var i int
		if _, err := fmt.Sscanf(path.Base(name), "grad%d", &i); err != nil || i >= len(in) {
			t.Fatalf("no input for %s", name)
		}
		wrt = append(wrt, in[i])
	}
	if len(wrt) == 0 {
		return nil
	}
	return sinter.VJP(outputs, cotangents, wrt...)
}

func find(t *testing.T, file *safetensors.File, name string) safetensors.Tensor {
	t.Helper()
	s, ok := file.Tensor(name)
	if !ok {
		t.Fatalf("no tensor %q", name)
	}
	return s
}

// hasNaN tells whether an F32 input has NaN, as all cases of special values do.
func hasNaN(s safetensors.Tensor) bool {
	for i := 0; s.DType == sinter.F32 && i < len(s.Data); i += 4 {
		if f := math.Float32frombits(binary.LittleEndian.Uint32(s.Data[i:])); f != f {
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
	special    bool // NaN among the inputs: by the bits
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
