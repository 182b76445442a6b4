package rewrite

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// samples gives bits of type d on which rounding, wrapping and special values
// show.
func samples(d ir.DType) []uint64 {
	if d == ir.Bool {
		return []uint64{0, 1}
	}
	mask := ones(d)
	width := uint64(8 * d.Size()) // where shifts end
	all := []uint64{0, 1, 2, 3, 7, width - 1, width, width + 1, mask, mask - 1, mask >> 1, mask>>1 + 1, ir.Lowest(d), ir.Highest(d)}
	if d.IsFloat() {
		for _, f := range []float64{1, -1, 0.5, 1.5, -2.5, 3, 1e-3, 127.5, 128, 255, 256, 65504, 65520, 1e9, -1e9, math.Exp2(31), math.Exp2(63), -math.Exp2(63), math.Exp2(64),
			math.Copysign(0, -1), math.NaN()} {
			bits, _ := ir.Bits(d, f)
			all = append(all, bits)
		}
		all = append(all, ir.Highest(d)-1, ir.Lowest(d)-1)
	}
	rng := rand.New(rand.NewPCG(uint64(d), 3))
	for range 12 {
		all = append(all, rng.Uint64()&mask)
	}
	return all
}

// The evaluator must agree with the referee, bit by bit, on every operation
// that it folds.
func TestScalarAgreesWithReferee(t *testing.T) {
	for _, op := range pointwiseOps {
		for _, in := range ir.DTypes() {
			for _, out := range ir.DTypes() {
				if out != in && op != ir.Cast && op != ir.Bitcast {
					continue
				}
				t.Run(fmt.Sprintf("%v-%v-%v", op, in, out), func(t *testing.T) { compareScalar(t, op, in, out) })
			}
		}
	}
}

// Exactly the operations on which devices may differ in the last places are
// left to them.
func TestScalarLeavesTranscendentals(t *testing.T) {
	leaves := map[ir.Op]bool{ir.Exp: true, ir.Exp2: true, ir.Expm1: true, ir.Log: true, ir.Log2: true, ir.Log1p: true,
		ir.Sin: true, ir.Cos: true, ir.Atan: true, ir.Tanh: true, ir.Erf: true, ir.Pow: true}
	for _, op := range pointwiseOps {
		_, float := scalar(op, ir.F32, ir.F32, 1, 1, 1)
		_, integer := scalar(op, ir.I32, ir.I32, 1, 1, 1)
		if folds := float || integer; folds == leaves[op] {
			t.Errorf("%v folded: %v", op, folds)
		}
	}
}

// compareScalar evaluates op on every combination of two samples, a third
// taken at random.
func compareScalar(t *testing.T, op ir.Op, in, out ir.DType) {
	var operands [3][]uint64
	rng := rand.New(rand.NewPCG(1, 2))
	s := samples(in)
	for _, a := range s {
		for _, b := range s {
			if op == ir.IDiv || op == ir.Mod {
				b = max(b, 1)
			}
			operands[0] = append(operands[0], a)
			operands[1] = append(operands[1], b)
			operands[2] = append(operands[2], s[rng.IntN(len(s))])
		}
	}
	count := len(operands[0])
	b := ir.NewBuilder(nil)
	var nodes []*ir.Node
	var data [][]byte
	types := [3]ir.DType{in, in, in}
	arity := map[ir.Class]int{ir.ClassUnary: 1, ir.ClassBinary: 2, ir.ClassTernary: 3}[op.Class()]
	if op == ir.Where {
		types[0] = ir.Bool
		for i := range operands[0] {
			operands[0][i] &= 1
		}
	}
	for i := range arity {
		n, err := b.AddLeaf(ir.Leaf{Kind: ir.Bound, Name: fmt.Sprint(i), Type: ir.Type{DType: types[i], Shape: ir.Static(count)}})
		if err != nil {
			t.Fatal(err)
		}
		var bytes []byte
		for _, v := range operands[i] {
			bytes = append(bytes, binary.LittleEndian.AppendUint64(nil, v)[:types[i].Size()]...)
		}
		nodes, data = append(nodes, n), append(data, bytes)
	}
	n, err := b.Add(op, ir.Attr{DType: map[bool]ir.DType{true: out}[op == ir.Cast || op == ir.Bitcast]}, nodes...)
	if err != nil {
		return // not an operation of this type
	}
	got, _ := evaluate(t, b.Finish(n), nil, data)
	for i := range count {
		v := []uint64{operands[0][i], operands[1][i], operands[2][i]}[:arity]
		bits, ok := scalar(op, types[0], n.DType, v...)
		if !ok {
			return
		}
		want := element(n.DType, got[0], i)
		nan := n.DType.IsFloat() && math.IsNaN(ir.Float(n.DType, bits)) && math.IsNaN(ir.Float(n.DType, want))
		if bits != want && !nan {
			t.Fatalf("%v of %#x is %#x, the referee says %#x", op, v, bits, want)
		}
	}
}
