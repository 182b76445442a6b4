package temporal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
)

// Model is a trained net for use: it takes features as they are. In 8 bits, the
// matrices of its products are kept as bytes with a factor for each output,
// where the products compute in 8 bits.
type Model struct {
	sizes   Sizes
	tensors []safetensors.Tensor // as in a file
	program *sinter.Program
	device  *sinter.Device
}

// scaleSuffix names the factors of a matrix by its own name.
const scaleSuffix = ".scale"

// What a feature is brought to before the net sees it: less its mean, times its
// factor.
const (
	meanName   = "features.mean"
	factorName = "features.factor"
)

// Quantise makes a model of a net as it is now, in 8 bits.
func Quantise(ctx context.Context, net *Net, scale Scale, o sinter.Options) (*Model, error) {
	o.Precision = sinter.Int8
	return modelOf(ctx, net, scale, o)
}

// modelOf makes a model of a net as it is now, in f32 or Int8.
func modelOf(ctx context.Context, net *Net, scale Scale, o sinter.Options) (*Model, error) {
	state, err := nn.State(net.Module)
	if err != nil {
		return nil, err
	}
	floats, err := nn.Snapshot(ctx, state)
	if err != nil {
		return nil, err
	}
	factors := scale.factors()
	if o.Precision == sinter.Int8 {
		migrate(net.Sizes.Net, factors, floats)
	}
	tensors := featureTensors(scale.means(), factors)
	for _, t := range floats {
		if o.Precision != sinter.Int8 || !inBytes(t.Name, t.Shape) {
			tensors = append(tensors, t)
			continue
		}
		q, scales, err := quantise(t)
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, q, scales)
	}
	return newModel(net.Sizes, tensors, o)
}

// inBytes tells whether a weight is the matrix of a product that computes in 8
// bits: those with less than 16 rows or columns compute in f32.
func inBytes(name string, shape []int) bool {
	return len(shape) == 2 && min(shape[0], shape[1]) >= 16 && strings.HasSuffix(name, "weight") && !strings.HasPrefix(name, "position")
}

// quantise turns a matrix [outputs, inputs] into bytes: the largest of each row
// is 127 or -127.
func quantise(t safetensors.Tensor) (q, factors safetensors.Tensor, err error) {
	rows, columns := t.Shape[0], t.Shape[1]
	values := floatsOf(t.Data)
	bytes, scales := make([]byte, len(values)), make([]float32, rows)
	for i := range rows {
		row := values[i*columns : (i+1)*columns]
		var most float32
		for _, v := range row {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return q, factors, fmt.Errorf("weight %s has a %v: the net is of no use", t.Name, v)
			}
			most = max(most, v, -v)
		}
		// The smallest normal number keeps a row of zeros from dividing by 0.
		scales[i] = max(most/127, 0x1p-126)
		for j, v := range row {
			bytes[i*columns+j] = byte(int8(math.RoundToEven(float64(v / scales[i]))))
		}
	}
	q = safetensors.Tensor{Name: t.Name, DType: sinter.I8, Shape: t.Shape, Data: bytes}
	factors = safetensors.Tensor{Name: t.Name + scaleSuffix, DType: sinter.F32, Shape: []int{rows, 1}, Data: bytesOf(scales)}
	return q, factors, nil
}

// migrations are the matrices whose inputs are scaled by something before: by
// the features' factors where nothing is named, else by a norm.
var migrations = map[string][]struct{ matrix, norm string }{
	MLPName:         {{"hidden.weight", ""}},
	TransformerName: {{"block.self_attn.in_proj_weight", "block.norm1"}, {"block.linear1.weight", "block.norm2"}},
}

// migrate moves half of how large an input's weights are, in powers, to what
// scales the input: the product stays the same (SmoothQuant, Xiao et al.,
// 2022). A row has one step for all of its inputs in 8 bits, which the widest
// sets, and so those become the widest that decide, instead of those that the
// net has let go of.
func migrate(net string, factors []float32, weights []safetensors.Tensor) {
	data := func(name string) *[]byte {
		i := slices.IndexFunc(weights, func(t safetensors.Tensor) bool { return t.Name == name })
		return &weights[i].Data
	}
	for _, m := range migrations[net] {
		matrix := data(m.matrix)
		columns := len(factors)
		if m.norm != "" {
			columns = len(*data(m.norm + ".weight")) / 4
		}
		w := floatsOf(*matrix)
		moved := share(w, columns)
		for k := range w {
			w[k] /= moved[k%columns]
		}
		*matrix = bytesOf(w)
		if m.norm == "" {
			multiply(factors, moved)
			continue
		}
		for _, part := range []string{".weight", ".bias"} {
			at := data(m.norm + part)
			v := floatsOf(*at)
			multiply(v, moved)
			*at = bytesOf(v)
		}
	}
}

// share is the root of the largest weight of each column.
func share(w []float32, columns int) []float32 {
	most := make([]float32, columns)
	for k, v := range w {
		most[k%columns] = max(most[k%columns], v, -v)
	}
	least := slices.Max(most) * 0x1p-20 // of what counts at all
	for j, m := range most {
		most[j] = float32(math.Sqrt(float64(max(m, least))))
		if most[j] == 0 { // all weights are 0
			most[j] = 1
		}
	}
	return most
}

func multiply(v, by []float32) {
	for i := range v {
		v[i] *= by[i]
	}
}

// means and factors are a scale by feature.
func (s Scale) means() []float32 {
	all := make([]float32, Features)
	for j := range all {
		all[j] = float32(s.of(j).Mean)
	}
	return all
}

func (s Scale) factors() []float32 {
	all := make([]float32, Features)
	for j := range all {
		all[j] = float32(1 / s.of(j).Deviation)
	}
	return all
}

func featureTensors(means, factors []float32) []safetensors.Tensor {
	return []safetensors.Tensor{
		{Name: meanName, DType: sinter.F32, Shape: []int{Features}, Data: bytesOf(means)},
		{Name: factorName, DType: sinter.F32, Shape: []int{Features}, Data: bytesOf(factors)},
	}
}

// newModel compiles what tensors say.
func newModel(s Sizes, tensors []safetensors.Tensor, o sinter.Options) (*Model, error) {
	m := &Model{sizes: s, tensors: tensors, device: o.Device}
	x := sinter.Input("x", sinter.F32, sinter.Sym("n", 1, 1<<20), sinter.N(Features))
	x = x.Sub(m.weight(meanName)).Mul(m.weight(factorName))
	var err error
	m.program, err = sinter.Compile(sinter.Capture(forward(s, m.weight, x)), o)
	return m, err
}

// weight is a tensor by its name, as floats.
func (m *Model) weight(name string) sinter.Tensor {
	find := func(name string) (sinter.Tensor, bool) {
		i := slices.IndexFunc(m.tensors, func(t safetensors.Tensor) bool { return t.Name == name })
		if i < 0 {
			return sinter.Fail(fmt.Errorf("no weight %q", name)), false
		}
		t := m.tensors[i]
		return sinter.Weight(t.Name, t.DType, t.Data, t.Shape...), true
	}
	w, _ := find(name)
	if factors, ok := find(name + scaleSuffix); ok {
		return w.Cast(sinter.F32).Mul(factors)
	}
	return w
}

var errZeroModel = errors.New("the zero Model predicts nothing: make one with Quantise or Open")

// Predict gives the net's outputs for features of so many rows, one after the
// other.
func (m *Model) Predict(ctx context.Context, features []float32) ([]float32, error) {
	if m == nil || m.program == nil {
		return nil, errZeroModel
	}
	if len(features) == 0 || len(features)%Features != 0 {
		return nil, fmt.Errorf("%d numbers are no rows of %d features", len(features), Features)
	}
	if m.device != nil {
		ctx = sinter.WithDevice(ctx, m.device)
	}
	x := sinter.Of(features, len(features)/Features, Features)
	out, err := m.program.Run(ctx, map[string]sinter.Tensor{"x": x})
	if err != nil {
		return nil, err
	}
	defer out[0].Release()
	return sinter.Values[float32](ctx, out[0])
}

// Outputs is how many numbers Predict gives for a row.
func (m *Model) Outputs() int { return m.sizes.Outputs }

// Close frees the model.
func (m *Model) Close() error {
	if m == nil || m.program == nil {
		return errZeroModel
	}
	return m.program.Close()
}

func floatsOf(data []byte) []float32 {
	v := make([]float32, len(data)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return v
}

func bytesOf(v []float32) []byte {
	data := make([]byte, 0, 4*len(v))
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return data
}
