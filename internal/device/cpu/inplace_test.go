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
	"github.com/sinterml/sinter/internal/ir"
)

// inPlace has graphs that assign variables, and which may be written where they
// lie.
var inPlace = []struct {
	name, graph string
	want        []bool // by output
}{
	{"added to", `
leaf 0 variable "v" f32[300 7]
%0 = variable : f32[300 7]
%1 = mul %0 %0 : f32[300 7]
%2 = assign %0 %1 : f32[300 7]
return %2`, []bool{true}},
	{"backwards", `
leaf 0 variable "v" f32[300 7]
%0 = variable : f32[300 7]
%1 = flip %0 axes=[0] : f32[300 7]
%2 = add %0 %1 : f32[300 7]
%3 = assign %0 %2 : f32[300 7]
return %3`, []bool{false}},
	{"turned", `
leaf 0 variable "v" f32[64 64]
%0 = variable : f32[64 64]
%1 = permute %0 axes=[1 0] : f32[64 64]
%2 = assign %0 %1 : f32[64 64]
return %2`, []bool{false}},
	{"less its sum", `
leaf 0 variable "v" f32[4096]
%0 = variable : f32[4096]
%1 = sum %0 axes=[0] : f32[1]
%2 = expand %1 : f32[4096]
%3 = sub %0 %2 : f32[4096]
%4 = assign %0 %3 : f32[4096]
return %4`, []bool{false}},
	{"less the sum of each row", `
leaf 0 variable "v" f32[64 64]
%0 = variable : f32[64 64]
%1 = sum %0 axes=[1] : f32[64 1]
%2 = expand %1 : f32[64 64]
%3 = sub %0 %2 : f32[64 64]
%4 = assign %0 %3 : f32[64 64]
return %4`, []bool{false}},
	{"read elsewhere", `
leaf 0 variable "v" f32[40 40]
%0 = variable : f32[40 40]
%1 = mul %0 %0 : f32[40 40]
%2 = assign %0 %1 : f32[40 40]
%3 = matmul %0 %0 : f32[40 40]
return %2 %3`, []bool{true, false}},
	{"exchanged", `
leaf 0 variable "v" f32[5000]
leaf 1 variable "w" f32[5000]
%0 = variable : f32[5000]
%1 = variable leaf=1 : f32[5000]
%2 = assign %0 %1 : f32[5000]
%3 = assign %1 %0 leaf=1 : f32[5000]
return %2 %3`, []bool{true, false}},
	{"round about", `
leaf 0 variable "u" f32[5000]
leaf 1 variable "v" f32[5000]
leaf 2 variable "w" f32[5000]
%0 = variable : f32[5000]
%1 = variable leaf=1 : f32[5000]
%2 = variable leaf=2 : f32[5000]
%3 = add %0 %1 : f32[5000]
%4 = mul %1 %2 : f32[5000]
%5 = assign %0 %3 : f32[5000]
%6 = assign %1 %4 leaf=1 : f32[5000]
%7 = mul %4 %2 : f32[5000]
%8 = assign %2 %7 leaf=2 : f32[5000]
return %8 %6 %5`, []bool{true, false, true}}, // two need the old values of one another
	{"by an index that may be wrong", `
leaf 0 variable "v" f32[30 4]
leaf 1 input "i" i32[30 4]
%0 = variable : f32[30 4]
%1 = input leaf=1 : i32[30 4]
%2 = gather %0 %1 axes=[0] : f32[30 4]
%3 = assign %0 %2 : f32[30 4]
return %3`, []bool{false}},
	{"less a product, after an index that may be wrong", `
leaf 0 variable "v" f32[30 40]
leaf 1 input "i" i32[30 40]
leaf 2 input "w" f32[40 40]
%0 = variable : f32[30 40]
%1 = input leaf=1 : i32[30 40]
%2 = input leaf=2 : f32[40 40]
%3 = gather %0 %1 axes=[0] : f32[30 40]
%4 = contiguous %3 : f32[30 40]
%5 = matmul %4 %2 : f32[30 40]
%6 = sub %0 %5 : f32[30 40]
%7 = assign %0 %6 : f32[30 40]
return %7`, []bool{true}},
	{"less a product of its own", `
leaf 0 variable "v" f32[40 40]
leaf 1 input "w" f32[40 40]
%0 = variable : f32[40 40]
%1 = input leaf=1 : f32[40 40]
%2 = matmul %0 %1 : f32[40 40]
%3 = sub %0 %2 : f32[40 40]
%4 = assign %0 %3 : f32[40 40]
return %4`, []bool{false}},
}

// The results are the same in place.
func TestInPlace(t *testing.T) {
	for _, c := range inPlace {
		t.Run(c.name, func(t *testing.T) {
			g, err := ir.Parse("graph" + c.graph)
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
				if in := m.Info().InPlace; !slices.Equal(in, c.want) {
					t.Errorf("%v: in place: %v, want %v", d.ISA(), in, c.want)
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
