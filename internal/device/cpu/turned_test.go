package cpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// layerStep is a layer of m rows, the next layer, and a step of gradient descent for both;
// {made} is for lines that make %h out of %p.
const layerStep = `graph
leaf 0 input "x" f32[{m} {k}]
leaf 1 variable "w" f32[{n} {k}]
leaf 2 variable "b" f32[1 {n}]
leaf 3 variable "v" f32[{c} {n}]
leaf 4 input "d" f32[{m} {c}]
leaf 5 variable "u" f32[{k} {n}]
%x = input : f32[{m} {k}]
%w = variable leaf=1 : f32[{n} {k}]
%b = variable leaf=2 : f32[1 {n}]
%v = variable leaf=3 : f32[{c} {n}]
%d = input leaf=4 : f32[{m} {c}]
%u = variable leaf=5 : f32[{k} {n}]
%zero0 = const : f32[]
%zero1 = reshape %zero0 : f32[1 1]
%zero = expand %zero1 : f32[{m} {n}]
%wt = permute %w axes=[1 0] : f32[{k} {n}]
%p = matmul %x %wt : f32[{m} {n}]
{made}
%vt = permute %v axes=[1 0] : f32[{n} {c}]
%q = matmul %h %vt : f32[{m} {c}]
%e = sub %q %d : f32[{m} {c}]
%g = matmul %e %v : f32[{m} {n}]
%above = less %zero %h : bool[{m} {n}]
%gh = where %above %g %zero : f32[{m} {n}]
%ght = permute %gh axes=[1 0] : f32[{n} {m}]
%dw = matmul %ght %x : f32[{n} {k}]
%w2 = sub %w %dw : f32[{n} {k}]
%aw = assign %w %w2 leaf=1 : f32[{n} {k}]
%db = sum %gh axes=[{axis}] : f32[{sums}]
%et = permute %e axes=[1 0] : f32[{c} {m}]
%dv = matmul %et %h : f32[{c} {n}]
%v2 = sub %v %dv : f32[{c} {n}]
%av = assign %v %v2 leaf=3 : f32[{c} {n}]
%u2 = neg %u : f32[{k} {n}]
%au = assign %u %u2 leaf=5 : f32[{k} {n}]
return %q %aw %av %au %db
`

// layerMade are ways from %p to %h.
var layerMade = []string{
	"%h = max %p %zero : f32[{m} {n}]",
	"%bias = expand %b : f32[{m} {n}]\n%s = add %p %bias : f32[{m} {n}]\n%h = max %s %zero : f32[{m} {n}]",
	"%o = matmul %x %u : f32[{m} {n}]\n%h = mul %o %p : f32[{m} {n}]",
	"%o = matmul %x %u : f32[{m} {n}]\n%bias = expand %b : f32[{m} {n}]\n%s = add %o %bias : f32[{m} {n}]\n%n = neg %p : f32[{m} {n}]\n%h = sub %n %s : f32[{m} {n}]",
	"%h = neg %p : f32[{m} {n}]",
}

func drawLayer(t *testing.T, rng *rand.Rand) (*ir.Graph, [][]byte) {
	t.Helper()
	m, k, n, c, axis := 16*(1+rng.IntN(2)), 260+rng.IntN(40), 260+rng.IntN(40), 1+rng.IntN(40), rng.IntN(2)
	sums := fmt.Sprint("1 ", n)
	if axis == 1 {
		sums = fmt.Sprint(m, " 1")
	}
	text := strings.ReplaceAll(layerStep, "{made}", layerMade[rng.IntN(len(layerMade))])
	text = strings.NewReplacer("{m}", fmt.Sprint(m), "{k}", fmt.Sprint(k), "{n}", fmt.Sprint(n), "{c}", fmt.Sprint(c), "{axis}", fmt.Sprint(axis), "{sums}", sums).Replace(text)
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return g, drawLeaves(rng, g, []int{0, 20_000}[rng.IntN(2)])
}

// drawLeaves draws the values of leaves of f32, one in so many a special one.
func drawLeaves(rng *rand.Rand, g *ir.Graph, rare int) (leaves [][]byte) {
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 1e-40, 3e38}
	for _, l := range g.Leaves {
		elements, _ := l.Type.Shape.Numel().Const()
		var data []byte
		for range elements {
			v := float32(rng.NormFloat64())
			if rare > 0 && rng.IntN(rare) == 0 {
				v = special[rng.IntN(len(special))]
			}
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		leaves = append(leaves, data)
	}
	return leaves
}

// TestTurnedProducts: with products computed turned, results are within the referee's
// bounds, and but for a sum of rows the bits of those that are not.
func TestTurnedProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 0))
	all := machines(t)
	applied, wanted := 0, slices.ContainsFunc(all, func(d *Device) bool { return d.planTarget().TurnProducts })
	for i := range effort.Of(6, 12, 40, 200) {
		g, leaves := drawLayer(t, rng)
		want, bounds, err := interp.Evaluate(context.Background(), g, nil, leaves)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			if few(d, i) {
				continue
			}
			o := device.Options{Check: true, Trace: func(stage, _ string) {
				if stage == "turn-products" {
					applied++
				}
			}}
			got, err := evaluate(d, g, nil, leaves, o)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := evaluate(d, g, nil, leaves, device.Options{Check: true, NoOpt: []string{"turn-products"}})
			if err != nil {
				t.Fatal(err)
			}
			for j := range want {
				if err := compare(ir.F32, got[j], want[j], bounds[j]); err != nil {
					t.Fatalf("graph %d, %v, output %d: %v\n%v", i, d.ISA(), j, err, g)
				}
				if j == len(want)-1 {
					continue
				}
				if err := compare(ir.F32, got[j], plain[j], nil); err != nil {
					t.Fatalf("graph %d, %v, output %d is not that of products as written: %v\n%v", i, d.ISA(), j, err, g)
				}
			}
		}
	}
	if wanted && applied == 0 {
		t.Error("no product was turned")
	}
}
