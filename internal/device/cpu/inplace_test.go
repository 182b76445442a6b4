package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/ir"
)

// The results are the same in place.
func TestInPlace(t *testing.T) {
	for _, c := range suite.InPlace {
		t.Run(c.Name, func(t *testing.T) {
			g, err := ir.Parse("graph" + c.Graph)
			if err != nil {
				t.Fatal(err)
			}
			var leaves [][]byte
			for _, l := range g.Leaves {
				n, _ := l.Type.Shape.Numel().Const()
				data := make([]byte, n*l.Type.DType.Size())
				if l.Type.DType == ir.F32 {
					data = eighths(n)
				}
				leaves = append(leaves, data)
			}
			for _, d := range append(machines(t), streaming(t)...) {
				m, err := d.CompileGraph(context.Background(), g, device.Options{Check: true})
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				if in := m.Info().InPlace; !slices.Equal(in, c.Want) {
					t.Errorf("%v: in place: %v, want %v", d.ISA(), in, c.Want)
				}
				if _, err := evaluate(d, g, nil, leaves, device.Options{}); err != nil {
					t.Errorf("%v: %v", d.ISA(), err)
				}
			}
		})
	}
}

// eighths is n different f32.
func eighths(n int) []byte {
	var data []byte
	for i := range n {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(i*7919%n)/8-3))
	}
	return data
}

// A run finds its kernels bound if all is where it was, and what has changed
// there; one with more or fewer rows, or other memory, gets its own.
func TestRunsOfOneProgram(t *testing.T) {
	g, err := ir.Parse(`graph
symbol n 1 64
leaf 0 input "x" f32[n 32]
leaf 1 weight "w" f32[32 32]
%0 = input : f32[n 32]
%1 = weight leaf=1 : f32[32 32]
%2 = matmul %0 %1 : f32[n 32]
%3 = reshape %2 : f32[1 n 2 16]
%4 = permute %3 axes=[0 2 1 3] : f32[1 2 n 16]
%5 = attention %4 %4 %4 scale=0.25 : f32[1 2 n 16], f32[1 2 n]
%6 = get %5 : f32[1 2 n 16]
%7 = exp %6 : f32[1 2 n 16]
return %7`)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range machines(t) {
		m, err := d.CompileGraph(context.Background(), g, device.Options{Check: true})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		weights := []device.Buffer{must(d.Import(eighths(32 * 32))), must(d.Import(backwards(eighths(32*32), 4)))}
		x := map[int][]byte{7: eighths(7 * 32), 64: eighths(64 * 32)}
		want := map[string][]byte{}
		for i := range 40 {
			n := []int{64, 7}[i/5%2]
			data, w := x[n], i/2%2
			if i%3 == 0 {
				data = backwards(data, 4)
			}
			copy(x[n], data)
			b := &device.Bound{Module: m, Env: ir.Env{"n": n}, Leaves: []device.Buffer{must(d.Import(x[n])), weights[w]}, Outputs: []device.Buffer{must(d.Alloc(4 * n * 32))}}
			ev, err := d.Submit(context.Background(), b)
			if err == nil {
				err = ev.Wait(context.Background())
			}
			if err != nil {
				t.Fatal(err)
			}
			key := fmt.Sprint(w) + string(x[n])
			if want[key] == nil {
				out, err := evaluate(d, g, b.Env, [][]byte{bytes.Clone(x[n]), weights[w].Bytes()}, device.Options{})
				if err != nil {
					t.Fatal(err)
				}
				want[key] = out[0]
			}
			if !bytes.Equal(b.Outputs[0].Bytes(), want[key]) {
				t.Fatalf("%v: run %d of %d rows differs from the first of its own program", d.ISA(), i, n)
			}
			_ = b.Outputs[0].Close()
			_ = b.Leaves[0].Close()
		}
	}
}
