package template_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
	"github.com/sinterml/sinter/internal/template"
)

// attention schedules an attention of f32 operands: of two heads of 4, with one
// key head, 5 queries and 7 keys a sequence, or ragged.
func attention(t *testing.T, a ir.AttentionAttr) *template.Attention {
	t.Helper()
	b := ir.NewBuilder(nil)
	input := func(name string, d ir.DType, shape ...int) *ir.Node {
		n, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: name, Type: ir.Type{DType: d, Shape: ir.Static(shape...)}})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var in []*ir.Node
	if a.Ragged {
		in = []*ir.Node{input("q", ir.F32, 10, 2, 4), input("k", ir.F32, 14, 1, 4), input("v", ir.F32, 14, 1, 4), input("qo", ir.I32, 4), input("ko", ir.I32, 4)}
	} else {
		in = []*ir.Node{input("q", ir.F32, 2, 2, 5, 4), input("k", ir.F32, 2, 1, 7, 4), input("v", ir.F32, 2, 1, 7, 4)}
	}
	n, err := b.Add(ir.Attention, ir.Attr{Attention: &a}, in...)
	if err != nil {
		t.Fatal(err)
	}
	var outs []*ir.Node
	for i := range 2 {
		out, err := b.Add(ir.Get, ir.Attr{Out: i}, n)
		if err != nil {
			t.Fatal(err)
		}
		outs = append(outs, out)
	}
	p, err := schedule.Build(b.Finish(outs...), schedule.Options{Anchors: map[ir.Op]bool{ir.Attention: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range p.Kernels {
		if w, ok := k.Work.(*template.Attention); ok {
			return w
		}
	}
	t.Fatal("no attention in the plan")
	return nil
}

// run interprets a kernel of an attention on data that depends on the place of
// params alone, and returns what it has written.
func run(t *testing.T, a *template.Attention, k *loop.Kernel) []byte {
	t.Helper()
	if err := loop.Check(k); err != nil {
		t.Fatalf("%v\n%v", err, k)
	}
	args := &loop.Args{}
	for i, p := range k.Params {
		n, err := p.Len.Eval(nil)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, n*p.DType.Size())
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		for at := 0; p.Use == loop.Read && at < len(data); at += 4 {
			binary.LittleEndian.PutUint32(data[at:], math.Float32bits(float32(rng.NormFloat64())))
		}
		offsets := map[bool][]uint32{a.Attr.Ragged && i == a.QOffsets: {0, 4, 4, 10}, a.Attr.Ragged && i == a.KOffsets: {0, 5, 6, 14}}
		for at, o := range offsets[true] {
			binary.LittleEndian.PutUint32(data[4*at:], o)
		}
		args.Buffers = append(args.Buffers, data)
	}
	var err error
	if args.Start, args.End, err = k.Span(nil); err != nil {
		t.Fatal(err)
	}
	if err := loop.Interpret(k, args); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for i, p := range a.Params {
		if p.Use != loop.Read {
			out = append(out, args.Buffers[i]...)
		}
	}
	return out
}

// Rows on their own give the bits of sequences as a whole.
func TestRowLoops(t *testing.T) {
	for _, attr := range []ir.AttentionAttr{{Scale: 0.5}, {Scale: 0.5, Causal: true, Window: 3}, {Scale: 0.5, Ragged: true}, {Scale: 0.5, Ragged: true, Causal: true}} {
		a := attention(t, attr)
		want, got := run(t, a, a.Loops()), run(t, a, a.RowLoops())
		if !bytes.Equal(got, want) || bytes.Count(want, []byte{0}) == len(want) {
			t.Errorf("%+v: results differ, or there are none\n%v", attr, a.RowLoops())
		}
	}
}
