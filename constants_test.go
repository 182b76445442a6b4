package sinter

import (
	"context"
	"encoding/binary"
	"math"
	"sync"
	"testing"
)

func floatBytes(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.NativeEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// What a program computes from weights alone belongs to them: programs that
// are equal but for their weights, and runs at the same time, each get their
// own, and results are their owners'.
func TestConstantsBelongToWeights(t *testing.T) {
	ctx := context.Background()
	d := open(t, "cpu")
	program := func(noOpt []string, weights ...float32) *Program {
		x, w := Input("x", F32, Sym("n", 1, 64), N(2)), Weight("w", F32, floatBytes(weights...), 2, 2)
		top := w.MaxKeep(0)
		p, err := Compile(Capture(x.MatMul(w.Div(top)), top), Options{Device: d, NoOpt: noOpt, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	programs := []*Program{program(nil, 1, 2, 4, 8), program(nil, 8, 4, 2, 1), program([]string{"constants"}, 1, 2, 4, 8)}
	for i, constant := range []int{1, 1, 0} {
		if got := programs[i].Info().Constant; got != constant {
			t.Errorf("program %d has %d constant kernels, want %d", i, got, constant)
		}
	}
	want := [][2][]float32{
		{{0.25, 0.25, 1, 1}, {4, 8}},
		{{1, 1, 0.25, 0.25}, {8, 4}},
		{{0.25, 0.25, 1, 1}, {4, 8}},
	}
	var wait sync.WaitGroup
	for i := range 30 {
		wait.Go(func() {
			out, err := programs[i%3].Run(ctx, inputs{"x": Of([]float32{1, 0, 0, 1}, 2, 2)})
			if err != nil {
				t.Error(err)
				return
			}
			for j, o := range out {
				got, err := Values[float32](ctx, o)
				if err != nil {
					t.Error(err)
					return
				}
				for k, v := range want[i%3][j] {
					if got[k] != v {
						t.Errorf("program %d, output %d: %v, want %v", i%3, j, got, want[i%3][j])
						break
					}
				}
				o.Release()
			}
		})
	}
	wait.Wait()
}

// Training changes variables where they lie, and what is computed of them is that
// of their present values; what is kept belongs to versions that somebody has, which
// stay as they are.
func TestConstantsBesideVariables(t *testing.T) { onBoth(t, constantsBesideVariables) }

func constantsBesideVariables(t *testing.T, d *Device) {
	ctx := context.Background()
	v := NewVariable("v", Of([]float32{1, 2, 4, 8}, 2, 2))
	scaled := func(w Tensor) *Program {
		return compileOn(t, d, Input("x", F32, Sym("n", 1, 64), N(2)).MatMul(w.Div(w.MaxKeep(0))))
	}
	step, now := compileOn(t, d, v.Assign(v.Tensor().Square())), scaled(v.Tensor())
	first := func(p *Program) float32 {
		t.Helper()
		out, err := p.Run(ctx, inputs{"x": Of([]float32{1, 0, 0, 1}, 2, 2)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Values[float32](WithDevice(ctx, d), out[0])
		if err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	if n := now.Info().Constant; n != 0 {
		t.Errorf("%d kernels compute of a variable once", n)
	}
	want := float32(0.25)
	frozen := map[*Program]float32{}
	for range 4 {
		version, err := Eval(WithDevice(ctx, d), v.Tensor())
		if err != nil {
			t.Fatal(err)
		}
		p := scaled(version[0])
		if p.Info().Constant == 0 {
			t.Error("nothing is kept of a version")
		}
		frozen[p] = want
		if got := first(now); got != want {
			t.Errorf("of the variable's values %v, want %v", got, want)
		}
		for p, want := range frozen {
			if got := first(p); got != want {
				t.Errorf("of an old version %v, want %v", got, want)
			}
		}
		for range 2 { // the second where the first has written
			if err := step.Step(ctx, nil); err != nil {
				t.Fatal(err)
			}
			if got := first(now); got != want*want {
				t.Errorf("of the variable's values after a step %v, want %v", got, want*want)
			}
			want *= want
			if want < 1e-10 {
				break
			}
		}
		if want < 1e-10 {
			break
		}
	}
}
