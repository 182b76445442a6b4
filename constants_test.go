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
