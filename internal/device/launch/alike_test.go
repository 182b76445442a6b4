package launch

import (
	"context"
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
)

// Kernels that only move values have one function for all types of a width;
// those that compute have not.
func TestMovedAlike(t *testing.T) {
	d, err := New(&simulated{}, Options{Kind: "simulated", Shape: entry.Shape{Items: 1, Flat: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := ir.NewBuilder(nil)
	must := func(n *ir.Node, err error) *ir.Node {
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var outs []*ir.Node
	for _, dtype := range []ir.DType{ir.F32, ir.I32, ir.U32, ir.I16, ir.BF16} {
		x := must(b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: dtype.String(), Type: ir.Type{DType: dtype, Shape: ir.Static(4, 5)}}))
		outs = append(outs, must(b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, x)), must(b.Add(ir.Neg, ir.Attr{}, x)))
	}
	look, err := d.Look(context.Background(), b.Finish(outs...), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]int{}
	hashes := make([]string, len(look.Codes)) // under which choices of strategies are kept
	for i, k := range look.Plan.Kernels {
		loops, err := loopsOf(k)
		if err != nil {
			t.Fatal(err)
		}
		hash := kernelWork{Kernel: k, loops: loops}.hash()
		if at := &hashes[look.CodeOf[i]]; *at == "" {
			*at = hash
		} else if *at != hash {
			t.Errorf("kernels of one function are tuned as %s and as %s", *at, hash)
		}
		out := look.Plan.Buffers[k.Args[len(k.Args)-1]].Node
		codes[fmt.Sprint(k.Name, " ", out.Type.DType)] = look.CodeOf[i]
	}
	if codes["permute f32"] != codes["permute i32"] || codes["permute f32"] != codes["permute u32"] || codes["permute i16"] != codes["permute bf16"] {
		t.Errorf("kernels that move the same width have functions apart: %v", codes)
	}
	if len(codes) != 10 || len(look.Codes) != 7 {
		t.Errorf("%d functions of %d kernels, want 7 of 10: %v", len(look.Codes), len(codes), codes)
	}
}
