package cpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/ir"
)

// attentionTest is an attention as a graph, with its inputs.
type attentionTest struct {
	attr            ir.AttentionAttr
	heads, kvHeads  int
	width, vWidth   int
	qLens, kLens    []int  // of the sequences; dense: all alike
	layout          string // own, merged (slices of one product), rows (dense: [B, T, heads, width]), negated
	maskQ, maskK    int    // of the mask; 0: the longest sequence
	special         float64
	symbolic        bool
	computedOffsets bool
	sums            bool  // the second output is wanted
	short           bool  // q, k and v are widened from bf16
	stored          bool  // merged and short: they lie in memory as bf16
	grads           []int // of the gradient, the outputs that are wanted
	alone           bool  // its logsumexp is given, no attention is computed

	b      *ir.Builder
	values map[string][]byte
	env    ir.Env
	g      *ir.Graph
	leaves [][]byte
}

func (a *attentionTest) String() string {
	return fmt.Sprintf("%+v heads %d/%d width %d/%d q %v k %v %s special %v symbolic %v computed %v sums %v short %v gradients %v",
		a.attr, a.heads, a.kvHeads, a.width, a.vWidth, a.qLens, a.kLens, a.layout, a.special, a.symbolic, a.computedOffsets, a.sums, a.short, a.grads)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (a *attentionTest) leaf(name string, d ir.DType, shape ir.Shape, data []byte) *ir.Node {
	a.values[name] = data
	return must(a.b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: name, Type: ir.Type{DType: d, Shape: shape}}))
}

func (a *attentionTest) dim(name string, n int) ir.Dim {
	if !a.symbolic {
		return ir.N(n)
	}
	a.env[name] = n
	return ir.Sym(name, 0, 1<<12)
}

func (a *attentionTest) floats(rng *rand.Rand, n int) []byte {
	data := make([]byte, 0, 4*n)
	for range n {
		v := rng.NormFloat64()
		if a.special > 0 && rng.Float64() < a.special {
			v = []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), 1e38, 1e-40}[rng.IntN(7)]
		}
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
	}
	return data
}

func sum(of []int) (n int) {
	for _, v := range of {
		n += v
	}
	return n
}

func offsets(lens []int) (data []byte) {
	at := 0
	for _, n := range append([]int{0}, lens...) {
		at += n
		data = binary.LittleEndian.AppendUint32(data, uint32(at))
	}
	return data
}

// build makes the graph and random inputs.
func (a *attentionTest) build(rng *rand.Rand) {
	a.b, a.values, a.env = ir.NewBuilder(nil), map[string][]byte{}, ir.Env{}
	if a.attr.Scale == 0 {
		a.attr.Scale = 1 / math.Sqrt(float64(a.width))
	}
	count := len(a.qLens)
	batch := a.dim("B", count)
	operand := func(name string, rows int, lens []int, heads, width int) *ir.Node {
		if a.attr.Ragged {
			return a.rows(rng, name, a.dim("N"+name[:1], rows), rows, heads, width)
		}
		t := 0
		if count > 0 {
			t = lens[0]
		}
		length := a.dim("T"+name[:1], t)
		if a.layout == "rows" {
			x := a.leaf(name, ir.F32, ir.Shape{batch, length, ir.N(heads), ir.N(width)}, a.floats(rng, rows*heads*width))
			return must(a.b.Add(ir.Permute, ir.Attr{Axes: []int{0, 2, 1, 3}}, x))
		}
		return a.leaf(name, ir.F32, ir.Shape{batch, ir.N(heads), length, ir.N(width)}, a.floats(rng, rows*heads*width))
	}
	var q, k, v *ir.Node
	if a.layout == "merged" && a.attr.Ragged {
		q, k, v = a.merged(rng)
	} else {
		q = operand("q", sum(a.qLens), a.qLens, a.heads, a.width)
		k = operand("k", sum(a.kLens), a.kLens, a.kvHeads, a.width)
		v = operand("kv", sum(a.kLens), a.kLens, a.kvHeads, a.vWidth)
	}
	if a.layout == "negated" {
		q, k, v = must(a.b.Add(ir.Neg, ir.Attr{}, q)), must(a.b.Add(ir.Neg, ir.Attr{}, k)), must(a.b.Add(ir.Neg, ir.Attr{}, v))
	}
	if a.layout != "merged" {
		q, k, v = a.rounded(q), a.rounded(k), a.rounded(v)
	}
	in := []*ir.Node{q, k, v}
	if a.attr.Ragged {
		for _, o := range []struct {
			name string
			lens []int
		}{{"qo", a.qLens}, {"ko", a.kLens}} {
			x := a.leaf(o.name, ir.I32, ir.Shape{batch.Plus(1)}, offsets(o.lens))
			if a.computedOffsets { // by a kernel in front
				zero := a.leaf(o.name+"0", ir.I32, ir.Shape{batch.Plus(1)}, make([]byte, 4*(count+1)))
				x = must(a.b.Add(ir.Contiguous, ir.Attr{}, must(a.b.Add(ir.Add, ir.Attr{}, x, zero))))
			}
			in = append(in, x)
		}
	}
	if a.attr.Mask {
		in = append(in, a.mask(rng, batch, q, k))
	}
	n := must(a.b.Add(ir.Attention, ir.Attr{Attention: &a.attr}, in...))
	outs := []*ir.Node{must(a.b.Add(ir.Get, ir.Attr{Out: 0}, n))}
	if a.sums {
		outs = append(outs, must(a.b.Add(ir.Get, ir.Attr{Out: 1}, n)))
	}
	if a.grads != nil {
		outs = a.gradients(rng, n)
	}
	a.g = a.b.Finish(outs...)
	a.leaves = nil
	for _, l := range a.g.Leaves {
		a.leaves = append(a.leaves, a.values[l.Name])
	}
}

// gradients are those that are wanted of an attention, with what is asked of its
// results.
func (a *attentionTest) gradients(rng *rand.Rand, n *ir.Node) (outs []*ir.Node) {
	count := func(s ir.Shape) int { return must(s.Numel().Eval(a.env)) }
	lse := must(a.b.Add(ir.Get, ir.Attr{Out: 1}, n))
	if a.alone {
		lse = a.leaf("lse", ir.F32, lse.Shape, a.floats(rng, count(lse.Shape)))
	}
	dout := a.leaf("dout", ir.F32, n.Shape, a.floats(rng, count(n.Shape)))
	if a.layout == "negated" {
		dout = must(a.b.Add(ir.Neg, ir.Attr{}, dout))
	}
	delta := a.leaf("delta", ir.F32, lse.Shape, a.floats(rng, count(lse.Shape)))
	g := must(a.b.Add(ir.AttentionGrad, ir.Attr{Attention: &a.attr}, append(n.In[:len(n.In):len(n.In)], lse, dout, delta)...))
	for _, i := range a.grads {
		outs = append(outs, must(a.b.Add(ir.Get, ir.Attr{Out: i}, g)))
	}
	return outs
}

// rows is an operand [rows, heads, width].
func (a *attentionTest) rows(rng *rand.Rand, name string, rows ir.Dim, n, heads, width int) *ir.Node {
	return a.leaf(name, ir.F32, ir.Shape{rows, ir.N(heads), ir.N(width)}, a.floats(rng, n*heads*width))
}

// rounded is x by way of bf16, if the test is of that.
func (a *attentionTest) rounded(x *ir.Node) *ir.Node {
	if !a.short {
		return x
	}
	x = must(a.b.Add(ir.Cast, ir.Attr{DType: ir.BF16}, x))
	return must(a.b.Add(ir.Cast, ir.Attr{DType: ir.F32}, x))
}

// merged is q, k and v as slices of one product; keys are the queries' rows.
func (a *attentionTest) merged(rng *rand.Rand) (q, k, v *ir.Node) {
	rows := sum(a.qLens)
	n := a.dim("N", rows)
	widths := []int{a.heads * a.width, a.kvHeads * a.width, a.kvHeads * a.vWidth}
	shape, data := ir.Shape{n, ir.N(sum(widths))}, a.floats(rng, rows*sum(widths))
	var x *ir.Node
	if a.stored {
		x = must(a.b.Add(ir.Cast, ir.Attr{DType: ir.F32}, a.leaf("qkv", ir.BF16, shape, toBF16(data))))
	} else {
		x = a.rounded(a.leaf("qkv", ir.F32, shape, data))
	}
	at := 0
	var parts [3]*ir.Node
	for i, w := range widths {
		s := must(a.b.Add(ir.Slice, ir.Attr{Starts: []ir.Dim{ir.N(0), ir.N(at)}, Steps: []int{1, 1}, Shape: ir.Shape{n, ir.N(w)}}, x))
		heads := a.kvHeads
		if i == 0 {
			heads = a.heads
		}
		parts[i] = must(a.b.Add(ir.Reshape, ir.Attr{Shape: ir.Shape{n, ir.N(heads), ir.N(w / heads)}}, s))
		at += w
	}
	return parts[0], parts[1], parts[2]
}

func toBF16(floats []byte) (short []byte) {
	for i := 0; i < len(floats); i += 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(floats[i:]))
		short = binary.LittleEndian.AppendUint16(short, ir.BF16FromFloat32(v))
	}
	return short
}

// mask is an additive mask, broadcast along some axes, with some -Inf.
func (a *attentionTest) mask(rng *rand.Rand, batch ir.Dim, q, k *ir.Node) *ir.Node {
	longest := func(lens []int) (n int) {
		for _, l := range lens {
			n = max(n, l)
		}
		return n
	}
	size := []int{len(a.qLens), a.heads, longest(a.qLens), longest(a.kLens)}
	if a.maskQ > 0 {
		size[2], size[3] = a.maskQ, a.maskK
	}
	shape := ir.Shape{batch, ir.N(a.heads), ir.N(size[2]), ir.N(size[3])}
	if !a.attr.Ragged {
		shape[2], shape[3] = q.Shape[2], k.Shape[2]
	}
	for i := range shape {
		if rng.IntN(2) == 0 && a.maskQ == 0 {
			shape[i], size[i] = ir.N(1), 1
		}
	}
	data := a.floats(rng, size[0]*size[1]*size[2]*size[3])
	for i := 0; i < len(data); i += 4 {
		if rng.IntN(5) == 0 {
			binary.LittleEndian.PutUint32(data[i:], math.Float32bits(float32(math.Inf(-1))))
		}
	}
	return a.leaf("mask", ir.F32, shape, data)
}

// randomAttention draws every attribute.
func randomAttention(rng *rand.Rand, longest int) *attentionTest {
	pick := func(of ...int) int { return of[rng.IntN(len(of))] }
	some := func(n int) bool { return rng.IntN(n) == 0 }
	a := &attentionTest{width: pick(1, 3, 8, 16, 20, 32, 32, 48, 64, 67, 80, 128), symbolic: some(2), sums: some(2)}
	a.vWidth = a.width
	if some(4) {
		a.vWidth = pick(1, 5, 16, 32, 70, 96, 130)
	}
	a.kvHeads = pick(1, 1, 2, 3)
	a.heads = a.kvHeads * pick(1, 1, 2, 4)
	a.attr = ir.AttentionAttr{Ragged: !some(3), Causal: some(2), Mask: some(4)}
	if some(3) {
		a.attr.Window = 1 + rng.IntN(longest)
	}
	if some(4) {
		a.attr.SoftCap = 3
	}
	if some(6) {
		a.attr.Scale = -0.3
	}
	a.layout = []string{"own", "merged", "rows", "negated"}[rng.IntN(4)]
	length := func() int { return pick(0, 1, 2, 5, 7, 16, 17, 24, 25, rng.IntN(longest), rng.IntN(longest)) }
	for range rng.IntN(5) {
		q := length()
		k := q
		if a.layout != "merged" && some(2) {
			k = length()
		}
		a.qLens, a.kLens = append(a.qLens, q), append(a.kLens, k)
		if !a.attr.Ragged {
			a.qLens[len(a.qLens)-1], a.kLens[len(a.kLens)-1] = a.qLens[0], a.kLens[0]
		}
	}
	if some(5) {
		a.special = 0.002
	}
	a.computedOffsets = some(5)
	if a.short = some(2); a.short {
		a.sums, a.stored = some(6), some(2)
	}
	return a
}
