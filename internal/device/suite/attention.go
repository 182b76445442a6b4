package suite

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/ir"
)

// attentionCases is attention dense and ragged, with all that it may do beside.
func attentionCases() []*Case {
	scale := 1 / math.Sqrt(6)
	kinds := []struct {
		name string
		attr ir.AttentionAttr
	}{
		{"plain", ir.AttentionAttr{Scale: scale}},
		{"causal", ir.AttentionAttr{Scale: scale, Causal: true}},
		{"window", ir.AttentionAttr{Scale: scale, Window: 3}},
		{"causal window cap", ir.AttentionAttr{Scale: scale, Causal: true, Window: 2, SoftCap: 1.5}},
		{"mask", ir.AttentionAttr{Scale: scale, Mask: true}},
		{"mask causal cap", ir.AttentionAttr{Scale: -0.5, Mask: true, Causal: true, SoftCap: 3}},
	}
	var all []*Case
	for _, d := range []ir.DType{ir.F32, ir.F64, ir.F16, ir.BF16} {
		for _, k := range kinds {
			for _, results := range []attentionResults{{"attention", both}, {"attentiongrad", Gradients}} {
				all = append(all, results.dense(d, k.name, k.attr), results.ragged(d, k.name, k.attr))
			}
		}
	}
	for _, d := range []ir.DType{ir.F32, ir.BF16, ir.F16} {
		all = append(all, attentionResults{"attention", both}.wideHeads(d), attentionResults{"attentiongrad", Gradients}.wideHeads(d))
	}
	all = append(all, wholeHeads())
	return append(all, longAttention(), repeatedValues(), infiniteHeads())
}

const (
	heads, keyHeads = 4, 2
	width, vWidth   = 6, 9
)

// attentionResults is what a case looks at.
type attentionResults struct {
	name string
	of   func(b *Builder, n *ir.Node) []*ir.Node
}

// Gradients are those of an attention with respect to q, k and v.
func Gradients(b *Builder, n *ir.Node) []*ir.Node {
	if b.err != nil {
		return nil
	}
	lse := b.Add(ir.Get, ir.Attr{Out: 1}, n)
	in := append(n.In[:len(n.In):len(n.In)], lse, b.Input(n.DType, Ordinary, n.Shape...), b.Input(n.Out(1).DType, Ordinary, n.Out(1).Shape...))
	g := b.Add(ir.AttentionGrad, n.Attr, in...)
	return append(both(b, g), b.Add(ir.Get, ir.Attr{Out: 2}, g))
}

func (r attentionResults) dense(d ir.DType, name string, a ir.AttentionAttr) *Case {
	q, k := ir.Sym("Q", 0, 512), ir.Sym("K", 0, 512)
	return &Case{
		Name:  fmt.Sprintf("%s %s %v", r.name, name, d),
		Sizes: []ir.Env{{"Q": 5, "K": 7}, {"Q": 0, "K": 3}, {"Q": 3, "K": 0}, {"Q": 1, "K": 9}, {"Q": 9, "K": 4}, {"Q": 20, "K": 37}},
		Build: func(b *Builder) []*ir.Node {
			in := []*ir.Node{
				b.Input(d, Ordinary, ir.N(2), ir.N(heads), q, ir.N(width)),
				b.Add(ir.Permute, ir.Attr{Axes: []int{0, 2, 1, 3}}, b.Input(d, Ordinary, ir.N(2), k, ir.N(keyHeads), ir.N(width))),
				b.Input(d, Ordinary, ir.N(2), ir.N(keyHeads), k, ir.N(vWidth)),
			}
			if a.Mask {
				in = append(in, b.Input(d, Given(0, -1, math.Inf(-1), 0.5, 0), ir.N(2), ir.N(1), q, k))
			}
			return r.of(b, b.Add(ir.Attention, ir.Attr{Attention: &a}, in...))
		},
	}
}

func (r attentionResults) ragged(d ir.DType, name string, a ir.AttentionAttr) *Case {
	q, k, batch := ir.Sym("Q", 0, 512), ir.Sym("K", 0, 512), ir.Sym("B", 0, 64)
	a.Ragged = true
	return &Case{
		Name:  fmt.Sprintf("%s ragged %s %v", r.name, name, d),
		Sizes: []ir.Env{{"Q": 5, "K": 7, "B": 2}, {"Q": 0, "K": 0, "B": 0}, {"Q": 0, "K": 3, "B": 1}, {"Q": 3, "K": 0, "B": 2}, {"Q": 31, "K": 40, "B": 4}},
		Build: func(b *Builder) []*ir.Node {
			in := []*ir.Node{
				b.Input(d, Ordinary, q, ir.N(heads), ir.N(width)),
				b.Input(d, Ordinary, k, ir.N(keyHeads), ir.N(width)),
				b.Input(d, Ordinary, k, ir.N(keyHeads), ir.N(vWidth)),
				b.Input(ir.I32, Offsets(q), batch.Plus(1)), b.Input(ir.I32, Offsets(k), batch.Plus(1)),
			}
			if a.Mask { // as large as any sequence can be
				in = append(in, b.Input(d, Given(0, -1, math.Inf(-1), 0.5, 0), ir.N(1), ir.N(heads), ir.N(40), ir.N(40)))
			}
			return r.of(b, b.Add(ir.Attention, ir.Attr{Attention: &a}, in...))
		},
	}
}

// longAttention is one with more keys than a block holds.
func longAttention() *Case {
	t := ir.Sym("T", 0, 4096)
	return &Case{Name: "attention long", Sizes: []ir.Env{{"T": 130}}, Build: func(b *Builder) []*ir.Node {
		in := func() *ir.Node { return b.Input(ir.F32, Ordinary, ir.N(1), ir.N(2), t, ir.N(32)) }
		return both(b, b.Add(ir.Attention, ir.Attr{Attention: &ir.AttentionAttr{Scale: 0.25, Causal: true}}, in(), in(), in()))
	}, Flops: func(env ir.Env) float64 { return 2 * 4 * 32 * float64(env["T"]*env["T"]) }}
}

// repeatedValues has values that are twice as wide as the keys they repeat, and a
// result whose lanes are turned into more heads.
func repeatedValues() *Case {
	t := ir.Sym("T", 1, 64)
	return &Case{Name: "attention repeated values", Sizes: []ir.Env{{"T": 1}, {"T": 6}}, Build: func(b *Builder) []*ir.Node {
		shape := func(last ...ir.Dim) ir.Attr { return ir.Attr{Shape: append(ir.Shape{t}, last...)} }
		x := b.Input(ir.F32, Ordinary, t, ir.N(1), ir.N(3))
		twice := b.Add(ir.Expand, shape(ir.N(2), ir.N(3)), x)
		in := []*ir.Node{
			b.Input(ir.F32, Ordinary, t, ir.N(2), ir.N(3)), x, b.Add(ir.Reshape, shape(ir.N(1), ir.N(6)), twice),
			b.Input(ir.I32, Offsets(t), ir.N(2)), b.Input(ir.I32, Offsets(t), ir.N(2)),
		}
		out := b.Add(ir.Get, ir.Attr{}, b.Add(ir.Attention, ir.Attr{Attention: &ir.AttentionAttr{Scale: 0.5, Ragged: true}}, in...))
		return []*ir.Node{out, b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0, 2}}, b.Add(ir.Reshape, shape(ir.N(4), ir.N(3)), out))}
	}}
}

// wideHeads has heads that units for matrices take, over more keys than they look
// at at a time. In f32 operands are widened from bf16.
func (r attentionResults) wideHeads(d ir.DType) *Case {
	q, k, batch := ir.Sym("Q", 0, 512), ir.Sym("K", 0, 512), ir.Sym("B", 0, 64)
	return &Case{Name: fmt.Sprintf("%s wide heads %v", r.name, d), Sizes: []ir.Env{{"Q": 3, "K": 0, "B": 1}, {"Q": 80, "K": 140, "B": 2}}, Build: func(b *Builder) []*ir.Node {
		operand := func(rows ir.Dim, heads, width int) *ir.Node {
			if d != ir.F32 {
				return b.Input(d, Ordinary, rows, ir.N(heads), ir.N(width))
			}
			return b.Add(ir.Cast, ir.Attr{DType: d}, b.Input(ir.BF16, Ordinary, rows, ir.N(heads), ir.N(width)))
		}
		in := []*ir.Node{operand(q, heads, 32), operand(k, keyHeads, 32), operand(k, keyHeads, 48),
			b.Input(ir.I32, Offsets(q), batch.Plus(1)), b.Input(ir.I32, Offsets(k), batch.Plus(1))}
		return r.of(b, b.Add(ir.Attention, ir.Attr{Attention: &ir.AttentionAttr{Scale: 0.2, Causal: true, Ragged: true}}, in...))
	}}
}

// wholeHeads has heads of whole lines, more queries and keys than a group of warps
// looks at at a time, and some infinite values, which not all queries see.
func wholeHeads() *Case {
	q, k, batch := ir.Sym("Q", 0, 512), ir.Sym("K", 0, 512), ir.Sym("B", 0, 64)
	return &Case{Name: "attention whole heads bf16", Sizes: []ir.Env{{"Q": 150, "K": 290, "B": 2}}, Build: func(b *Builder) []*ir.Node {
		values := func(rng *rand.Rand, d ir.DType, n int, env ir.Env) []uint64 {
			all := Ordinary(rng, d, n, env)
			for i := 12_000; i < n; i += 20_011 {
				all[i], _ = ir.Bits(d, math.Inf(1))
			}
			return all
		}
		in := []*ir.Node{b.Input(ir.BF16, Ordinary, q, ir.N(heads), ir.N(64)), b.Input(ir.BF16, Ordinary, k, ir.N(keyHeads), ir.N(64)),
			b.Input(ir.BF16, values, k, ir.N(keyHeads), ir.N(128)), b.Input(ir.I32, Offsets(q), batch.Plus(1)), b.Input(ir.I32, Offsets(k), batch.Plus(1))}
		return both(b, b.Add(ir.Attention, ir.Attr{Attention: &ir.AttentionAttr{Scale: 0.1, Causal: true, Ragged: true}}, in...))
	}}
}

// infiniteHeads has infinities and NaN in queries, keys and values, which must
// stay with those that see them: with a window of one key each query has its own,
// and queries in front of the first key have none.
func infiniteHeads() *Case {
	inf := math.Inf(1)
	return &Case{Name: "attentiongrad infinities", Sizes: []ir.Env{{}}, Build: func(b *Builder) []*ir.Node {
		in := func(length, width int, fill Fill) *ir.Node {
			return b.Input(ir.F32, fill, ir.N(1), ir.N(2), ir.N(length), ir.N(width))
		}
		a := ir.AttentionAttr{Scale: 0.5, Causal: true, Window: 1}
		q := in(40, 1, Given(1, 2, 0.5, inf, 1, math.NaN(), 0.25))
		return Gradients(b, b.Add(ir.Attention, ir.Attr{Attention: &a}, q, in(36, 1, Given(1, -inf, 0.5, 1, 2)), in(36, 3, Given(1, 0.5, 1, 2, -1, 3, 1, inf))))
	}}
}
