package sinter

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/ir"
)

// leafBytes is what the weights take that a program is given, by dtype.
func leafBytes(p *Program) map[DType]int {
	all := map[DType]int{}
	for _, l := range p.leaves {
		if l.Kind != ir.Input {
			n, _ := l.Type.Shape.Numel().Const()
			all[l.Type.DType] += n * l.Type.DType.Size()
		}
	}
	return all
}

// A program in Int4 is given 4.5 bits for each weight, and the weights themselves
// not at all. Programs of the same weights share them.
func TestInt4Leaves(t *testing.T) {
	ctx := context.Background()
	d := open(t, "cpu")
	w := Weight("w", F32, bytesOf(waves(256*128, 0.7)), 256, 128)
	compiled := func(rows int) *Program {
		x := Input("x", F32, N(rows), N(256))
		p, err := Compile(Capture(x.MatMul(w)), Options{Device: d, Precision: Int4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		return p
	}
	p, q := compiled(3), compiled(4)
	if got := leafBytes(p); got[F32] != 0 || got[U8]+got[BF16] != 256*128*9/16 {
		t.Errorf("bytes of weights: %v", got)
	}
	shared := 0
	for _, l := range p.leaves {
		if l.Kind == ir.Weight && slices.ContainsFunc(q.leaves, func(m ir.Leaf) bool { return m.Storage == l.Storage }) {
			shared++
		}
	}
	if shared != 2 {
		t.Errorf("%d leaves of the same weights are shared", shared)
	}
	before := d.Stats().Allocated
	out, err := p.Run(ctx, inputs{"x": Of(waves(3*256, 0.3), 3, 256)})
	if err != nil {
		t.Fatal(err)
	}
	if grown := d.Stats().Allocated - before; grown > 256*128/2 {
		t.Errorf("a run left %d bytes", grown)
	}
	runtime.KeepAlive(out)
}

// Inputs that nothing needs are still those of the program.
func TestInt4KeepsInputs(t *testing.T) {
	n := Sym("n", 0, 9)
	x, y := Input("x", F32, N(2), N(32)), Input("y", F32, n)
	g := Capture(x.MatMul(Of(waves(32*16, 0.7), 32, 16)), Where(Scalar(1).Less(Scalar(2)), x.Sum(), y.Sum()))
	for _, name := range []string{"cpu", "interp"} {
		p, err := Compile(g, Options{Device: open(t, name), Precision: Int4, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Run(context.Background(), inputs{"x": Of(waves(64, 1), 2, 32), "y": Of(waves(5, 1), 5)}); err != nil {
			t.Error(err)
		}
	}
}

// Weights that are no numbers, or too large, are refused by name.
func TestInt4Refuses(t *testing.T) {
	x := Input("x", F32, N(2), N(40))
	for _, bad := range []float64{math.NaN(), math.Inf(-1), 3e38} {
		values := waves(40*16, 0.7)
		values[33*16+5] = float32(bad)
		y := x.MatMul(Weight("layer.3.weight", F32, bytesOf(values), 40, 16))
		if _, err := Compile(Capture(y), Options{Precision: Int4}); err == nil || !strings.Contains(err.Error(), `"layer.3.weight"`) || !strings.Contains(err.Error(), "[33, 5]") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// Products of variables stay as written, so that training does not change; a
// gradient through fixed weights computes in 4 bits as the product does.
func TestInt4OfVariablesAndGradients(t *testing.T) {
	ctx := context.Background()
	x := Of(waves(5*64, 0.31), 5, 64)
	v := NewVariable("v", Of(waves(64*32, 0.7), 64, 32))
	in := Input("x", F32, N(5), N(64))
	run := func(name string, p Precision, y Tensor) []float32 {
		t.Helper()
		prog, err := Compile(Capture(y), Options{Device: open(t, name), Precision: p, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		defer prog.Close()
		out, err := prog.Run(ctx, inputs{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		values, err := Values[float32](ctx, out[0])
		if err != nil {
			t.Fatal(err)
		}
		return values
	}
	free := in.MatMul(v.Tensor())
	if !slices.Equal(run("cpu", Int4, free), run("cpu", F32, free)) {
		t.Error("a product of a variable is not as written")
	}
	fixed := Weight("w", F32, bytesOf(waves(64*32, 0.7)), 64, 32)
	grad := Grad(in.MatMul(fixed).Square().Sum(), in)[0]
	exact, want, got := run("cpu", F32, grad), run("interp", Int4, grad), run("cpu", Int4, grad)
	apart, lost := distance(got, want), distance(want, exact)
	if !(apart < lost/4) || lost < 1e-3 || lost > distance(exact, make([]float32, len(exact)))/2 {
		t.Errorf("a gradient is %v from the referee's, which is %v from the exact one", apart, lost)
	}
}

// Merged products find what was packed of all their weights, not of the first
// alone.
func TestInt4MergedWeights(t *testing.T) {
	ctx := context.Background()
	weight := func(step float64) Tensor { return Weight("w", F32, bytesOf(waves(32*32, step)), 32, 32) }
	shared, in := weight(0.7), Input("x", F32, N(2), N(32))
	x := Of(waves(64, 0.31), 2, 32)
	for _, other := range []Tensor{weight(0.9), weight(1.3)} {
		var all [][]float32
		for _, name := range []string{"cpu", "interp"} {
			p, err := Compile(Capture(in.MatMul(shared), in.MatMul(other)), Options{Device: open(t, name), Precision: Int4})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			out, err := p.Run(ctx, inputs{"x": x})
			if err != nil {
				t.Fatal(err)
			}
			values, err := Values[float32](ctx, out[1])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, values)
		}
		if apart := farthest(all[0], all[1]); !(apart <= 1e-4) {
			t.Errorf("%v apart", apart)
		}
	}
}

// A product that is too small for 4 bits, of data that is bf16 already, reads what
// a packed one reads: it is not put beside it, as the weights would then be f32.
func TestInt4BesideSmall(t *testing.T) {
	ctx := context.Background()
	d := open(t, "cpu")
	weight := func(name string, n int) Tensor { return Weight(name, F32, bytesOf(waves(512*n, 0.7)), 512, n) }
	x := Input("x", BF16, N(4), N(512)).Cast(F32)
	p, err := Compile(Capture(x.MatMul(weight("w", 512)), x.MatMul(weight("gate", 8))), Options{Device: d, Precision: Int4, Check: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	before := d.Stats().Allocated
	out, err := p.Run(ctx, inputs{"x": Of(waves(4*512, 0.31), 4, 512).Cast(BF16)})
	if err != nil {
		t.Fatal(err)
	}
	if grown := d.Stats().Allocated - before; grown > 512*512 {
		t.Errorf("a run takes %d bytes for 512 x 512 weights", grown)
	}
	runtime.KeepAlive(out)
}

// Weights that are seen from another place on in each run stay as written.
func TestWeightsFromASymbolOn(t *testing.T) {
	n, w := Sym("n", 1, 40), waves(100*32, 0.7)
	x := Input("x", F32, n, N(32))
	g := Capture(x.MatMul(Of(w, 100, 32).Narrow(0, n, N(32))))
	for _, precision := range []Precision{F32, Int4} {
		p, err := Compile(g, Options{Device: open(t, "cpu"), Precision: precision, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for _, rows := range []int{3, 20, 3} {
			ones := make([]float32, rows*32)
			want := float32(0)
			for i := range ones {
				ones[i] = 1
			}
			for k := range 32 {
				want += w[(rows+k)*32]
			}
			out, err := p.Run(context.Background(), inputs{"x": Of(ones, rows, 32)})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Values[float32](context.Background(), out[0]); err != nil || !(math.Abs(float64(got[0]-want)) <= 1e-4) {
				t.Errorf("%v, %d rows: %v, %v, want %v", precision, rows, got[0], err, want)
			}
		}
	}
}

// What was packed is the programs' that use it, however long the weights live.
func TestInt4PacksGoWithPrograms(t *testing.T) {
	d := open(t, "cpu")
	w := Weight("w", F32, bytesOf(waves(256*128, 0.7)), 256, 128)
	x := Input("x", F32, N(2), N(256))
	program := func(cols int) *Program {
		p, err := Compile(Capture(x.MatMul(w.Slice(Range{}, Range{Stop: cols}))), Options{Device: d, Precision: Int4})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	open := program(128)
	for cols := 64; cols < 128; cols++ {
		if err := program(cols).Close(); err != nil {
			t.Fatal(err)
		}
	}
	kept := func() (n int) {
		m := w.load().leaf().store.memory
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, all := range m.packs {
			for _, k := range all {
				if k.get() != nil {
					n++
				}
			}
		}
		return n
	}
	for range 50 {
		if runtime.GC(); kept() == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if n := kept(); n != 1 {
		t.Errorf("%d packs are kept, want that of the program that is open", n)
	}
	again := program(128)
	defer again.Close()
	for i, l := range again.leaves {
		if l.Kind == ir.Weight && l.Storage != open.leaves[i].Storage {
			t.Errorf("weight %d is packed twice", i)
		}
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
}
