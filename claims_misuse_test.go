package sinter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/hub"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/model"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/safetensors"
	"github.com/sinterml/sinter/tokenizer"
	"github.com/sinterml/sinter/train"
)

// functions are the exported functions of the library, generic ones for one
// type. A test below finds what is missing here.
var functions = map[string]any{
	".Arange": sinter.Arange, ".Attention": sinter.Attention, ".AvgPool": sinter.AvgPool, ".BCEWithLogits": sinter.BCEWithLogits,
	".BatchNorm": sinter.BatchNorm, ".BatchNormTrain": sinter.BatchNormTrain, ".Capture": sinter.Capture, ".CheckGrad": sinter.CheckGrad, ".Checkpoint": sinter.Checkpoint, ".Compile": sinter.Compile,
	".Concat": sinter.Concat, ".Conv": sinter.Conv, ".ConvTranspose": sinter.ConvTranspose, ".CrossEntropy": sinter.CrossEntropy, ".CustomGrad": sinter.CustomGrad,
	".Devices": sinter.Devices, ".Dims": sinter.Dims, ".Einsum": sinter.Einsum, ".Eval": sinter.Eval, ".Eye": sinter.Eye, ".Fail": sinter.Fail,
	".Full": sinter.Full, ".Gather": sinter.Gather, ".Grad": sinter.Grad, ".GroupNorm": sinter.GroupNorm, ".Huber": sinter.Huber, ".IndexAdd": sinter.IndexAdd,
	".Input": sinter.Input, ".Iota": sinter.Iota, ".L1": sinter.L1, ".LSTM": sinter.LSTM, ".LayerNorm": sinter.LayerNorm,
	".Linear": sinter.Linear, ".MSE": sinter.MSE, ".MaxPool": sinter.MaxPool, ".N": sinter.N, ".NewBFloat16": sinter.NewBFloat16,
	".NewFloat16": sinter.NewFloat16, ".NewRand": sinter.NewRand, ".NewVariable": sinter.NewVariable, ".Of": sinter.Of[float32],
	".OneHot": sinter.OneHot, ".Ones": sinter.Ones, ".Open": sinter.Open, ".OpenCPU": sinter.OpenCPU, ".OpenWith": sinter.OpenWith, ".Positions": sinter.Positions,
	".RMSNorm": sinter.RMSNorm, ".Rows": sinter.Rows, ".Scalar": sinter.Scalar, ".Scatter": sinter.Scatter, ".ScatterAdd": sinter.ScatterAdd,
	".SegmentIDs": sinter.SegmentIDs, ".SegmentMax": sinter.SegmentMax, ".SegmentMean": sinter.SegmentMean, ".SegmentSum": sinter.SegmentSum,
	".Stack": sinter.Stack, ".Sym": sinter.Sym, ".Upsample": sinter.Upsample, ".VJP": sinter.VJP, ".Values": sinter.Values[float32], ".Weight": sinter.Weight,
	".Where": sinter.Where, ".WithDevice": sinter.WithDevice, ".WithProfile": sinter.WithProfile, ".WithTuning": sinter.WithTuning, ".Zeros": sinter.Zeros,
	"embed.Compile": embed.Compile, "embed.Cosine": embed.Cosine, "embed.Graph": embed.Graph, "embed.New": embed.New, "embed.NewReranker": embed.NewReranker,
	"hub.Cache": hub.Cache, "hub.Find": hub.Find, "hub.Names": hub.Names, "model.Open": model.Open, "model.OpenFS": model.OpenFS,
	"model.KnownPrompts": model.KnownPrompts, "model.OpenCrossEncoder": model.OpenCrossEncoder, "model.OpenCrossEncoderFS": model.OpenCrossEncoderFS,
	"safetensors.Open": safetensors.Open, "safetensors.OpenFile": safetensors.OpenFile, "safetensors.Parse": safetensors.Parse, "safetensors.Write": safetensors.Write,
	"nn.AdaptiveAvgPool": nn.AdaptiveAvgPool, "nn.BCE": nn.BCE, "nn.Constant": nn.Constant, "nn.InfoNCE": nn.InfoNCE, "nn.Init": nn.Init, "nn.KL": nn.KL,
	"nn.KaimingNormal": nn.KaimingNormal, "nn.KaimingUniform": nn.KaimingUniform, "nn.Load": nn.Load, "nn.Match": nn.Match, "nn.NLL": nn.NLL,
	"nn.Normal": nn.Normal, "nn.Orthogonal": nn.Orthogonal, "nn.Params": nn.Params, "nn.Restore": nn.Restore, "nn.Save": nn.Save, "nn.Sinusoidal": nn.Sinusoidal, "nn.Snapshot": nn.Snapshot, "nn.State": nn.State,
	"nn.Summary": nn.Summary, "nn.TruncatedNormal": nn.TruncatedNormal, "nn.Uniform": nn.Uniform, "nn.XavierNormal": nn.XavierNormal, "nn.XavierUniform": nn.XavierUniform,
	"optim.Constant": optim.Constant, "optim.Cosine": optim.Cosine, "optim.Linear": optim.Linear, "optim.New": optim.New, "optim.Norm": optim.Norm,
	"optim.OneCycle": optim.OneCycle, "optim.Steps": optim.Steps, "optim.Warmup": optim.Warmup,
	"tokenizer.Load": tokenizer.Load, "tokenizer.Parse": tokenizer.Parse,
	"train.Accuracy": train.Accuracy, "train.Column": train.Column[float32], "train.ConfusionMatrix": train.ConfusionMatrix, "train.F1": train.F1, "train.Mean": train.Mean,
	"train.NewEvaluator": train.NewEvaluator, "train.Prefetch": train.Prefetch, "train.Run": train.Run,
}

// receivers are the exported types with methods, and a value of each but its
// zero where that can do more.
var receivers = map[string][]any{
	".Tensor": {sinter.Tensor{}}, ".BFloat16": {sinter.BFloat16(0x7f81)}, ".Float16": {sinter.Float16(0x7c01)},
	".Device": {(*sinter.Device)(nil), &sinter.Device{}}, ".Graph": {(*sinter.Graph)(nil), &sinter.Graph{}},
	".Program": {(*sinter.Program)(nil), &sinter.Program{}}, ".Rand": {(*sinter.Rand)(nil), &sinter.Rand{}},
	".Variable": {(*sinter.Variable)(nil), &sinter.Variable{}}, ".ShapeError": {&sinter.ShapeError{}},
	".DType": {sinter.DType(0), sinter.DType(200)}, ".Dim": {sinter.Dim{}}, ".IndexError": {&sinter.IndexError{}}, ".OutOfMemoryError": {&sinter.OutOfMemoryError{}},
	".DivisionError": {&sinter.DivisionError{}}, ".Profile": {(*sinter.Profile)(nil), &sinter.Profile{}}, ".Limits": {sinter.Limits{}}, ".Tuning": {(*sinter.Tuning)(nil), &sinter.Tuning{}}, ".BatchTry": {sinter.BatchTry{}},
	"embed.Encoder": {(*embed.Encoder)(nil), &embed.Encoder{}}, "embed.Reranker": {(*embed.Reranker)(nil), &embed.Reranker{}}, "model.Encoder": {(*model.Encoder)(nil), &model.Encoder{}},
	"model.CrossEncoder": {(*model.CrossEncoder)(nil), &model.CrossEncoder{}},
	"model.Pooling":      {model.Pooling(0), model.Pooling(99)}, "tokenizer.Tokenizer": {(*tokenizer.Tokenizer)(nil), &tokenizer.Tokenizer{}},
	"tokenizer.Encoding": {(*tokenizer.Encoding)(nil), &tokenizer.Encoding{}}, "safetensors.File": {(*safetensors.File)(nil), &safetensors.File{}},
	"nn.Builder": {(*nn.Builder)(nil), &nn.Builder{}}, "nn.Mode": {(*nn.Mode)(nil), &nn.Mode{}}, "nn.Error": {&nn.Error{}}, "nn.LoadReport": {(*nn.LoadReport)(nil), &nn.LoadReport{}},
	"nn.Dropout": {nn.Dropout{}, nn.Dropout{P: 0.5}}, "nn.Rotary": {nn.Rotary{}}, "nn.Linear": {&nn.Linear{}, initialized(&nn.Linear{In: 3, Out: 2})},
	"nn.Embedding": {&nn.Embedding{}, initialized(&nn.Embedding{Count: 3, Width: 2})}, "nn.Positions": {&nn.Positions{}, initialized(&nn.Positions{Count: 2, Width: 3})},
	"nn.LayerNorm": {&nn.LayerNorm{}, initialized(&nn.LayerNorm{Width: 3})}, "nn.RMSNorm": {&nn.RMSNorm{}, initialized(&nn.RMSNorm{Width: 3})},
	"nn.GroupNorm": {&nn.GroupNorm{}, initialized(&nn.GroupNorm{Groups: 1, Channels: 3})}, "nn.BatchNorm": {&nn.BatchNorm{}, initialized(&nn.BatchNorm{Channels: 3})},
	"nn.Conv1d": {&nn.Conv1d{}, initialized(&nn.Conv1d{In: 2, Out: 2, Kernel: 2})}, "nn.Conv2d": {&nn.Conv2d{}, initialized(&nn.Conv2d{In: 3, Out: 2, Kernel: []int{2}})},
	"nn.ConvTranspose1d":    {&nn.ConvTranspose1d{}, initialized(&nn.ConvTranspose1d{In: 2, Out: 2, Kernel: 2})},
	"nn.ConvTranspose2d":    {&nn.ConvTranspose2d{}, initialized(&nn.ConvTranspose2d{In: 3, Out: 2, Kernel: []int{2}, Stride: []int{2}, OutputPadding: []int{1}})},
	"nn.MultiHeadAttention": {&nn.MultiHeadAttention{}, initialized(&nn.MultiHeadAttention{Width: 3, Heads: 1})},
	"nn.TransformerBlock":   {&nn.TransformerBlock{}, initialized(&nn.TransformerBlock{Width: 3, Heads: 1})},
	"nn.LSTM":               {&nn.LSTM{}, initialized(&nn.LSTM{Recurrent: nn.Recurrent{In: 3, Hidden: 2}})}, "nn.GRU": {&nn.GRU{}, initialized(&nn.GRU{Recurrent: nn.Recurrent{In: 3, Hidden: 2}})},
	"optim.Optimizer": {(*optim.Optimizer)(nil), &optim.Optimizer{}}, "optim.Plateau": {&optim.Plateau{}},
	"optim.Adam": {optim.Adam{}}, "optim.AdamW": {optim.AdamW{}}, "optim.SGD": {optim.SGD{}}, "optim.RMSprop": {optim.RMSprop{}}, "optim.Adagrad": {optim.Adagrad{}}, "optim.Muon": {optim.Muon{}},
	"train.Batches": {train.Batches{}, train.Batches{Rows: train.Numbers{Name: "n", Rows: 9}}}, "train.Confusion": {train.Confusion(nil), train.Confusion{{1}, {2, 3, 4}, nil}},
	"train.Evaluator": {(*train.Evaluator)(nil), &train.Evaluator{}}, "train.Func": {train.Func(nil)}, "train.CheckpointError": {&train.CheckpointError{}}, "train.NaNError": {&train.NaNError{}}, ".NotFinite": {(*sinter.NotFinite)(nil), &sinter.NotFinite{}}, "train.Numbers": {train.Numbers{}}, "train.Scores": {(*train.Scores)(nil), &train.Scores{}},
	"train.Table":       {train.Table(nil), train.Table{"x": {}, "y": train.Column([]float32{1, 2})}},
	"safetensors.Error": {&safetensors.Error{}}, "hub.Folder": {hub.Folder(""), hub.Folder("\x00")},
}

// initialized is a layer with its weights.
func initialized[T any](net *T) *T {
	if err := nn.Init(net, nn.Options{}); err != nil {
		panic(err)
	}
	return net
}

// Every exported function, and every exported type with methods, is in the
// tables above.
func TestMisuseTablesAreComplete(t *testing.T) {
	for _, dir := range []string{".", "embed", "hub", "model", "nn", "optim", "safetensors", "tokenizer", "train"} {
		prefix := strings.TrimPrefix(dir, ".") + "."
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal("no files in", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				checkListed(t, prefix, d)
			}
		}
	}
}

func checkListed(t *testing.T, prefix string, d ast.Decl) {
	f, ok := d.(*ast.FuncDecl)
	if !ok || !f.Name.IsExported() {
		return
	}
	if f.Recv == nil {
		if functions[prefix+f.Name.Name] == nil {
			t.Errorf("function %s%s is not among those that are misused", prefix, f.Name.Name)
		}
		return
	}
	typ := f.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	if id, ok := typ.(*ast.Ident); ok && id.IsExported() && receivers[prefix+id.Name] == nil {
		t.Errorf("type %s%s is not among those that are misused", prefix, id.Name)
	}
}

// hostile draws arguments on which careless code panics.
type hostile struct {
	*rand.Rand
	tensors []sinter.Tensor
}

func newHostile(seed uint64) *hostile {
	n := sinter.Sym("n", 0, 8)
	return &hostile{rand.New(rand.NewPCG(seed, 3)), []sinter.Tensor{
		{}, sinter.Scalar(math.NaN()), sinter.Scalar(3), sinter.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3), sinter.Of([]float32{}, 0, 3),
		sinter.Of([]int32{0, 2, -1}, 3), sinter.Of([]int64{5, 1 << 40}, 2, 1), sinter.Of([]bool{true, false}, 2), sinter.Of([]int32{0, 2}, 2),
		sinter.Input("x", sinter.F32, n, sinter.N(3)), sinter.Input("o", sinter.I32, n.Plus(1)), sinter.Zeros(sinter.F16, sinter.Dims(2, 3, 4, 5)...),
		sinter.Zeros(sinter.F32, sinter.Dims(1, 2, 3)...), sinter.Of([]float64{math.Inf(1)}, 1), sinter.Of([]uint8{255, 0, 3}, 3),
		sinter.Zeros(sinter.F32, sinter.Dims(1<<20, 1<<20)...), sinter.Zeros(sinter.F32, sinter.N(-1)),
	}}
}

// value draws one of type t.
func (h *hostile) value(t reflect.Type) reflect.Value {
	if v, ok := h.known(t); ok {
		return reflect.ValueOf(v).Convert(t)
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 2, 3, 7, math.MaxInt32, math.MinInt32}[h.IntN(8)])
		if t.Kind() != reflect.Int32 && h.IntN(8) == 0 {
			v.SetInt([]int64{math.MaxInt64, math.MinInt64, 1 << 62}[h.IntN(3)])
		}
	case reflect.Uint8, reflect.Uint16:
		v.SetUint(h.Uint64N(256))
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, -1, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e300}[h.IntN(8)])
	case reflect.Bool:
		v.SetBool(h.IntN(2) == 0)
	case reflect.String:
		v.SetString([]string{"", "x", "\xff\x00", "ij,jk->ik", "a b", "no/such/place", "cpu:1", "->", "i...,i"}[h.IntN(9)])
	case reflect.Slice:
		for range h.IntN(4) {
			v = reflect.Append(v, h.value(t.Elem()))
		}
	case reflect.Map:
		v = reflect.MakeMap(t)
		for range h.IntN(3) {
			v.SetMapIndex(h.value(t.Key()), h.value(t.Elem()))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if f := v.Field(i); f.CanSet() && h.IntN(2) == 0 {
				f.Set(h.value(f.Type()))
			}
		}
	}
	return v // zero for pointers, functions and other interfaces
}

// known draws values that reflection cannot make up.
func (h *hostile) known(t reflect.Type) (any, bool) {
	switch t {
	case reflect.TypeFor[sinter.Tensor]():
		return h.tensors[h.IntN(len(h.tensors))], true
	case reflect.TypeFor[sinter.Dim]():
		return []sinter.Dim{{}, sinter.N(-1), sinter.N(2), sinter.N(3), sinter.N(math.MaxInt), sinter.Sym("n", 0, 8), sinter.Sym("", 3, 1), sinter.Sym("q", -5, 5)}[h.IntN(8)], true
	case reflect.TypeFor[sinter.DType]():
		return []sinter.DType{0, sinter.F32, sinter.F16, sinter.I32, sinter.U64, sinter.Bool, 99, sinter.Int8, sinter.TF32}[h.IntN(9)], true
	case reflect.TypeFor[context.Context]():
		done, cancel := context.WithCancel(context.Background())
		cancel()
		if h.IntN(3) == 0 {
			return nil, false
		}
		return []context.Context{context.Background(), done}[h.IntN(2)], true
	case reflect.TypeFor[*sinter.Graph]():
		return sinter.Capture(h.tensors[h.IntN(len(h.tensors))]), true
	case reflect.TypeFor[*sinter.Device]():
		return []*sinter.Device{nil, {}}[h.IntN(2)], true
	case reflect.TypeFor[*model.Encoder]():
		return []*model.Encoder{nil, {}}[h.IntN(2)], true
	case reflect.TypeFor[*nn.Mode]():
		return []*nn.Mode{nil, {}, {Training: true}, {Training: true, Rand: sinter.NewRand(sinter.Scalar(1))}}[h.IntN(4)], true
	case reflect.TypeFor[io.Writer]():
		if h.IntN(3) == 0 {
			return nil, false
		}
		return io.Discard, true
	case reflect.TypeFor[error]():
		return errors.New("x"), true
	}
	return nil, false
}

// call calls f with hostile arguments and reports a panic.
func (h *hostile) call(f reflect.Value) (out []reflect.Value, err error) {
	t := f.Type()
	var args []reflect.Value
	for i := range t.NumIn() {
		if t.IsVariadic() && i == t.NumIn()-1 {
			for range h.IntN(4) {
				args = append(args, h.value(t.In(i).Elem()))
			}
			break
		}
		args = append(args, h.value(t.In(i)))
	}
	defer func() {
		if v := recover(); v != nil {
			var b bytes.Buffer
			for _, a := range args {
				fmt.Fprintf(&b, "%+v, ", a)
			}
			err = fmt.Errorf("panic: %v; arguments %s\n%s", v, &b, debug.Stack())
		}
	}()
	return f.Call(args), nil
}

// use does with results what a program would: it prints them, and computes
// those that are small.
func (h *hostile) use(out []reflect.Value) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	for _, v := range out {
		switch x := v.Interface().(type) {
		case sinter.Tensor:
			_ = x.String()
			_ = sinter.Capture(x).String()
			if small(x) {
				_, _ = sinter.Eval(context.Background(), x)
			}
		case *sinter.Graph:
			_, _, _ = x.String(), x.DOT(), x.HTML(io.Discard)
		case *sinter.Program:
			_, _ = x.Run(context.Background(), nil)
			_ = x.Close()
		case *sinter.Device:
			_ = x.Close()
		case error:
			_ = x.Error()
		}
	}
	return nil
}

// small tells whether a tensor, and with it what it is made of, is no burden:
// one large tensor is among the operands.
func small(x sinter.Tensor) bool {
	n := 1
	for _, d := range x.Shape() {
		size, ok := d.Const()
		if !ok || size > 64 {
			return false
		}
		n *= size
	}
	return x.Err() == nil && n <= 4096 && !strings.Contains(sinter.Capture(x).String(), "1048576")
}

// No exported function or method panics, whatever it is given.
func TestNothingPanics(t *testing.T) {
	rounds := effort.Of(10, 10, 40, 40)
	calls := map[string]reflect.Value{}
	for name, f := range functions {
		calls[name] = reflect.ValueOf(f)
	}
	for name, values := range receivers {
		for i, r := range values {
			addMethods(calls, fmt.Sprintf("%s (%d)", name, i), reflect.ValueOf(r))
		}
	}
	for i, x := range newHostile(0).tensors {
		addMethods(calls, fmt.Sprintf(".Tensor %d", i), reflect.ValueOf(x))
	}
	names := make([]string, 0, len(calls))
	for name := range calls {
		names = append(names, name)
	}
	slices.Sort(names)
	h := newHostile(1)
	for _, name := range names {
		n := rounds
		if calls[name].Type().NumIn() == 0 {
			n = 1
		}
		for range n {
			out, err := h.call(calls[name])
			if err == nil {
				err = h.use(out)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
	}
}

func addMethods(calls map[string]reflect.Value, name string, r reflect.Value) {
	for i := range r.NumMethod() {
		calls[name+"."+r.Type().Method(i).Name] = r.Method(i)
	}
}
