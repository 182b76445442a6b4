package launch

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/ir"
)

// fewRowsGraph multiplies few rows by what is computed of a weight of a short type,
// whose sums GPUs cut by what lies in memory.
const fewRowsGraph = `graph
symbol n 1 4
leaf 0 input "x" f32[n 64]
leaf 1 weight "w" TYPE[48 64]
leaf 2 weight "s" f32[48 1]
%0 = input : f32[n 64]
%1 = weight leaf=1 : TYPE[48 64]
%2 = weight leaf=2 : f32[48 1]
%3 = cast %1 : f32[48 64]
%4 = expand %2 : f32[48 64]
%5 = div %3 %4 : f32[48 64]
%6 = cast %5 : bf16[48 64]
%7 = cast %6 : f32[48 64]
%8 = neg %7 : f32[48 64]
%9 = permute %8 axes=[1 0] : f32[64 48]
%10 = matmul %0 %9 : f32[n 48]
return %10
`

// A program that has no room to keep what depends on weights alone gives the bits
// of one that has.
func TestConstantsSameBits(t *testing.T) {
	for _, dt := range []string{"bf16", "f16", "i8"} {
		g, err := ir.Parse(strings.ReplaceAll(fewRowsGraph, "TYPE", dt))
		if err != nil {
			t.Fatal(err)
		}
		kept, constant := fewRows(t, g)
		if constant == 0 {
			t.Errorf("%s: nothing is kept", dt)
		}
		if each, _ := fewRows(t, g, "keep"); each != kept {
			t.Errorf("%s: other bits where nothing is kept", dt)
		}
	}
}

// fewRows is the graph's result on a simulated GPU, and its number of constant
// kernels.
func fewRows(t *testing.T, g *ir.Graph, off ...string) (bits string, constant int) {
	t.Helper()
	ctx := context.Background()
	d, err := New(&simulated{}, Options{Kind: "simulated", Shape: gpuShape})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m, err := d.CompileGraph(ctx, g, device.Options{NoOpt: off})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b := &device.Bound{Module: m, Env: ir.Env{"n": 3}}
	buffer := func(n int) device.Buffer {
		buf, err := d.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = buf.Close() })
		return buf
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, l := range g.Leaves {
		n, err := l.Type.Shape.Numel().Eval(b.Env)
		if err != nil {
			t.Fatal(err)
		}
		var data []byte
		for range n {
			switch l.Type.DType {
			case ir.F32:
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(r.Float32()*2+0.1))
			case ir.I8:
				data = append(data, byte(r.IntN(100)))
			default: // numbers from 1/4 to 2 in f16, and positive ones in bf16
				data = binary.LittleEndian.AppendUint16(data, uint16(0x3400+r.IntN(0xC00)))
			}
		}
		buf := buffer(len(data))
		if err := d.Copy(ctx, buf, compile.HostBytes(data)); err != nil {
			t.Fatal(err)
		}
		b.Leaves = append(b.Leaves, buf)
	}
	out := make([]byte, 3*48*4)
	b.Outputs = []device.Buffer{buffer(len(out))}
	if err := submit(d, b); err != nil {
		t.Fatal(err)
	}
	if err := d.Copy(ctx, compile.HostBytes(out), b.Outputs[0]); err != nil {
		t.Fatal(err)
	}
	return string(out), m.Info().Constant
}
