package sinter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

func open(t testing.TB, name string) *Device {
	t.Helper()
	d, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func compileOn(t testing.TB, d *Device, outputs ...Tensor) *Program {
	t.Helper()
	p, err := Compile(Capture(outputs...), Options{Device: d})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type inputs = map[string]Tensor

func TestOneProgramServesEveryLength(t *testing.T) {
	d := open(t, "interp")
	n := Sym("n", 0, 100)
	x := Input("x", F32, n, N(2))
	y := Input("y", F32, n.Plus(1))
	p := compileOn(t, d, x.Sum(1).Mul(y.Narrow(0, N(1), n)), x.Reshape(-1), x.Mean(0))
	for _, rows := range []int{1, 3, 7} {
		xs, ys := make([]float32, 2*rows), make([]float32, rows+1)
		for i := range xs {
			xs[i] = 1
		}
		for i := range ys {
			ys[i] = float32(i)
		}
		out, err := p.Run(context.Background(), inputs{"x": Of(xs, rows, 2), "y": Of(ys, rows+1)})
		if err != nil {
			t.Fatal(err)
		}
		expected := make([]float32, rows)
		for i := range expected {
			expected[i] = 2 * float32(i+1)
		}
		want(t, out[0], expected...)
		if s := out[1].Shape(); len(s) != 1 || !s[0].IsConst(2*rows) {
			t.Errorf("flat shape %v", s)
		}
		want[float32](t, out[2], 1, 1)
	}
	if s := d.Stats(); s.Compiled != 1 {
		t.Errorf("compiled %d times", s.Compiled)
	}
}

func TestRunChecksInputs(t *testing.T) {
	n := Sym("n", 1, 4)
	p := compileOn(t, open(t, "interp"), Input("x", F32, n, N(2)).MatMul(Input("y", F32, N(2), n)))
	x, y := Zeros(F32, Dims(2, 2)...), Zeros(F32, Dims(2, 2)...)
	for _, c := range []struct {
		in   inputs
		want string
	}{
		{inputs{"x": x}, `"y" is missing`},
		{nil, `takes "x" f32[n 2], "y" f32[2 n]`},
		{inputs{"x": x, "Y": y}, `"y" is missing among ["Y" "x"]`},
		{inputs{"x": x, "y": y, "z": x}, `unknown input "z"`},
		{inputs{"x": x, "y": y.Cast(F64)}, "use Cast"},
		{inputs{"x": x.Index(0, 0), "y": y}, "want [n 2]"},
		{inputs{"x": Zeros(F32, Dims(2, 3)...), "y": y}, `input "x", axis 1 is 3, want 2`},
		{inputs{"x": Zeros(F32, Dims(3, 2)...), "y": y}, `want 3: n, n=3 from input "x", axis 0`},
		{inputs{"x": Zeros(F32, Dims(5, 2)...), "y": y}, "outside its bounds 1 to 4"},
		{inputs{"x": {}, "y": y}, "zero Tensor"},
		{inputs{"x": x, "y": Input("q", F32, Dims(2, 2)...)}, `input "q" has no value`},
	} {
		if _, err := p.Run(context.Background(), c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if _, err := p.Run(context.Background(), inputs{"x": Zeros(F32, Dims(2, 3)...), "y": y}); err == nil || !strings.HasSuffix(err.Error(), "axis 1 is 3, want 2") {
		t.Errorf("the size that a constant one is wanted as is said twice: %v", err)
	}
	if _, err := Values[float32](context.Background(), SegmentSum(Ones(F32, N(2)), Of([]int32{0, 1}, 2))); err == nil || !strings.HasPrefix(err.Error(), "offsets: end with 1") {
		t.Errorf("offsets without a name: %v", err)
	}
	var none context.Context
	if _, err := p.Run(none, inputs{"x": x, "y": y}); err == nil {
		t.Error("a nil context ran")
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Run(cancelled, inputs{"x": x, "y": y}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCompileRefuses(t *testing.T) {
	n := Sym("n", 1, 4)
	v := NewVariable("v", Scalar(0))
	for name, g := range map[string]*Graph{
		"no input tells": Capture(Zeros(F32, n)),
		"both":           Capture(Input("x", F32, N(1)), Input("x", F32, N(2))),
		"equal bounds":   Capture(Input("x", F32, n), Input("y", F32, Sym("n", 1, 5))),
		"twice":          Capture(v.Assign(Scalar(1)), v.Assign(Scalar(2))),
		"zero Graph":     {},
		"zero Tensor":    Capture(Tensor{}),
	} {
		if _, err := Compile(g, Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
	for _, p := range []Precision{F64, I8, 0x7f} {
		if _, err := Compile(Capture(Scalar(1)), Options{Precision: p}); err == nil || !strings.Contains(err.Error(), "use F32, BF16, F16, TF32, Int8 or Int4") {
			t.Errorf("precision %v, which is not there: %v", p, err)
		}
	}
	if _, err := Compile(Capture(Scalar(1)), Options{Device: &Device{}}); err == nil {
		t.Error("the zero Device compiles")
	}
}

func TestRebuiltGraphsCompileOnce(t *testing.T) {
	d := open(t, "interp")
	ctx := WithDevice(context.Background(), d)
	for i := range 1000 {
		x := Of([]float32{float32(i), 2}, 2)
		y := NewRand(Of([]int64{int64(i)})).Dropout(x.Mul(x), 0.5)
		if _, err := Values[float32](ctx, y); err != nil {
			t.Fatal(err)
		}
	}
	if s := d.Stats(); s.Compiled != 1 || s.Reused != 999 || s.Programs != 1 {
		t.Errorf("%+v", s)
	}
}

func TestManyConstantsAreHintedAt(t *testing.T) {
	d := open(t, "interp")
	ctx := WithDevice(context.Background(), d)
	for i := range manyConstants {
		if d.Stats().Hint != "" {
			t.Fatalf("hint after %d", i)
		}
		if _, err := Values[float32](ctx, Of([]float32{1}, 1).Mul(Scalar(float64(i)))); err != nil {
			t.Fatal(err)
		}
	}
	if h := d.Stats().Hint; !strings.Contains(h, "Input") {
		t.Errorf("hint %q", h)
	}
}

func TestProgramsAreBounded(t *testing.T) {
	d := open(t, "interp")
	ctx := WithDevice(context.Background(), d)
	first := compileOn(t, d, Of([]float32{1}, 1).Exp())
	for i := range maxPrograms + 20 {
		if _, err := Eval(ctx, Of(make([]int8, i+1), i+1).Neg()); err != nil {
			t.Fatal(err)
		}
	}
	if n := d.Stats().Programs; n > maxPrograms {
		t.Errorf("%d programs are kept", n)
	}
	if _, err := first.Run(ctx, nil); err != nil {
		t.Errorf("a program thrown out no longer runs: %v", err)
	}
	if first.refs != 1 {
		t.Errorf("%d references to a program that is only ours", first.refs)
	}
}

func TestConcurrentUse(t *testing.T) {
	d := open(t, "interp")
	ctx := WithDevice(context.Background(), d)
	x := Input("x", F32, Sym("n", 1, 100))
	p := compileOn(t, d, x.Mul(x).Sum())
	shared := Of([]float32{1, 2, 3}, 3).Exp().Log()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			n := i%5 + 1
			xs := make([]float32, n)
			xs[0] = float32(i)
			out, err := p.Run(ctx, inputs{"x": Of(xs, n)})
			if err != nil {
				t.Error(err)
				return
			}
			if v, err := Values[float32](ctx, out[0]); err != nil || v[0] != float32(i*i) {
				t.Errorf("%v, %v", v, err)
			}
			if _, err := Values[float32](ctx, shared.Add(Scalar(1))); err != nil {
				t.Error(err)
			}
			_ = shared.String() + Capture(shared).String()
			if _, err := Eval(ctx, shared); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Run(ctx, inputs{"x": Of([]float32{1}, 1)}); !errors.Is(err, ErrClosed) || err.Error() != "the program is closed" {
		t.Errorf("a closed program: %v", err)
	}
	if err := p.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

func TestConcurrentCompilationsJoin(t *testing.T) {
	d := open(t, "interp")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			p, err := Compile(Capture(Of([]float32{1}, 1).Tanh()), Options{Device: d})
			if err != nil {
				t.Error(err)
				return
			}
			p.Close()
		})
	}
	wg.Wait()
	if s := d.Stats(); s.Compiled != 1 {
		t.Errorf("compiled %d times", s.Compiled)
	}
}

func TestOutputsThatAreLeavesOrEqual(t *testing.T) {
	x := Input("x", F32, N(2))
	w := Weight("w", I32, bytesOf([]int32{5}), 1)
	p := compileOn(t, open(t, "interp"), x, w, x.Neg(), x.Neg(), Scalar(4))
	out, err := p.Run(context.Background(), inputs{"x": Of([]float32{1, 2}, 2)})
	if err != nil {
		t.Fatal(err)
	}
	want[float32](t, out[0], 1, 2)
	want[int32](t, out[1], 5)
	want[float32](t, out[2], -1, -2)
	want[float32](t, out[3], -1, -2)
	want[float32](t, out[4], 4)
	// With leaves alone there is nothing that a device could be wrong about.
	for _, name := range []string{"interp", "cpu"} {
		p, err := Compile(Capture(x, w), Options{Device: open(t, name), Check: true})
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(context.Background(), inputs{"x": Of([]float32{1, 2}, 2)})
		if err != nil {
			t.Fatal(err)
		}
		want[float32](t, out[0], 1, 2)
	}
}

func TestMisuseGivesErrors(t *testing.T) {
	ctx := context.Background()
	var x Tensor
	if _, err := Values[float32](ctx, x); err == nil {
		t.Error("the zero Tensor has values")
	}
	for name, x := range map[string]Tensor{
		"add": x.Add(x), "len": Of([]float32{1}, 2), "negative": Of([]float32{}, -1), "overflow": Of([]int8{}, 1<<62, 1<<62),
		"dtype": Weight("w", 0, nil), "bytes": Weight("w", F32, make([]byte, 3), 1), "bool": Weight("w", Bool, []byte{1, 2}, 2), "name": Input("", F32),
		"symbol": Input("x", F32, Sym("a b", 0, 1)), "bounds": Input("x", F32, Sym("a", 2, 1)), "below": Input("x", F32, Sym("a", -2, 1)),
		"axis": Scalar(1).Sum(0), "stack": Stack(0), "concat": Concat(0), "var": (&Variable{}).Tensor(), "nil": (*Variable)(nil).Assign(x),
		"rand": (&Rand{}).Normal(), "nil rand": (*Rand)(nil).Bits(), "seed": NewRand(Of([]float32{1}, 1)).Bits(),
		"mean": Of([]int32{1}, 1).Mean(), "index": Of([]float32{1}, 1).Index(0, 1), "variable": NewVariable("v", Input("x", F32, Sym("n", 0, 1))).Tensor(),
		"arange": Arange(F32, 0, 1, 0), "empty max": Zeros(F32, N(0)).Max(), "int mean": Of([]int8{1}, 1).Softmax(0),
	} {
		if x.Err() == nil {
			t.Errorf("%s: no error", name)
		}
		if x.String() == "" || x.Shape() != nil || x.DType() != 0 {
			t.Errorf("%s: %v, %v, %v", name, x.String(), x.Shape(), x.DType())
		}
	}
	if _, err := Values[float64](ctx, Of([]float32{1}, 1)); err == nil || !strings.Contains(err.Error(), "Cast") {
		t.Errorf("a wrong type: %v", err)
	}
	var none context.Context
	if _, err := Values[float32](none, Scalar(1)); err == nil {
		t.Error("a nil context")
	}
	if _, err := Values[float32](ctx, Input("x", F32)); err == nil {
		t.Error("an input has values")
	}
	if _, err := Eval(ctx, Scalar(1), Tensor{}); err == nil {
		t.Error("the zero Tensor evaluates")
	}
	var p Program
	var d Device
	_, err := p.Run(ctx, nil)
	if err == nil || p.Close() == nil || d.Close() == nil || d.Stats() != (Stats{}) || (&Graph{}).Err() == nil {
		t.Error("zero values work")
	}
	for _, name := range []string{"", "nothing", "interp:1", "interp:x", "auto:0"} {
		if _, err := Open(name); err == nil {
			t.Errorf("opened %q", name)
		}
	}
}

func TestClosedDevice(t *testing.T) {
	d, err := Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	p := compileOn(t, d, Scalar(1).Exp())
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	const says = `device "interp" is closed`
	if _, err := p.Run(context.Background(), nil); !errors.Is(err, ErrClosed) || err.Error() != says {
		t.Errorf("run: %v", err)
	}
	if _, err := Eval(WithDevice(context.Background(), d), Scalar(1).Exp()); !errors.Is(err, ErrClosed) || err.Error() != says {
		t.Errorf("eval: %v", err)
	}
	if err := d.Close(); !errors.Is(err, ErrClosed) || err.Error() != says {
		t.Errorf("closed twice: %v", err)
	}
}

func TestDevicesCanBeOpened(t *testing.T) {
	for _, info := range Devices() {
		if info.Reason != "" {
			if _, err := Open(info.Name); err == nil || !strings.Contains(err.Error(), info.Reason+": "+info.Remedy) {
				t.Errorf("%q is missing: %v", info.Name, err)
			}
			continue
		}
		if d := open(t, info.Name); fmt.Sprint(d) != info.Name {
			t.Errorf("%q opened as %v", info.Name, d)
		}
	}
}

// Every option that is no part of the program must not mix programs up.
func TestTraceSeesEveryCompilation(t *testing.T) {
	d := open(t, "interp")
	for range 2 {
		seen := ""
		p, err := Compile(Capture(Scalar(1).Exp()), Options{Device: d, Trace: func(stage, text string) { seen += text }})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(seen, "exp") {
			t.Errorf("trace %q", seen)
		}
		if p.Info().Kernels == 0 || p.Info().Device != "interp" {
			t.Errorf("%+v", p.Info())
		}
		p.Close()
	}
}
