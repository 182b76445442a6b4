package interp

import (
	"errors"
	"math"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// ones is a tensor of ones: as keys, every visible one has the same weight.
func ones(g *graph, shape ...int) *ir.Node {
	values := make([]float32, numel(shape))
	fill(values, 1)
	return of(g, values, shape...)
}

func ln(n float64) float32 { return float32(math.Log(n)) }

// attend makes an attention and its two outputs.
func (g *graph) attend(a ir.AttentionAttr, in ...*ir.Node) (out, lse *ir.Node) {
	g.t.Helper()
	if a.Scale == 0 {
		a.Scale = 1
	}
	n := g.add(ir.Attention, ir.Attr{Attention: &a}, in...)
	return g.get(n, 0), g.get(n, 1)
}

// With queries of 0 all scores are 0: the result is the mean of the visible
// values, and the logsumexp the logarithm of their number.
func TestAttentionVisibleKeys(t *testing.T) {
	v := []float32{1, 10, 100, 1000}
	for _, c := range []struct {
		name string
		a    ir.AttentionAttr
		q    int
		want []float32 // means of v
		keys []float64 // how many
	}{
		{"all", ir.AttentionAttr{}, 2, []float32{1111. / 4, 1111. / 4}, []float64{4, 4}},
		{"causal", ir.AttentionAttr{Causal: true}, 4, []float32{1, 5.5, 37, 1111. / 4}, []float64{1, 2, 3, 4}},
		{"the ends are aligned", ir.AttentionAttr{Causal: true}, 2, []float32{37, 1111. / 4}, []float64{3, 4}},
		{"more queries than keys", ir.AttentionAttr{Causal: true}, 5, []float32{0, 1, 5.5, 37, 1111. / 4}, []float64{0, 1, 2, 3, 4}},
		{"window", ir.AttentionAttr{Causal: true, Window: 2}, 4, []float32{1, 5.5, 55, 550}, []float64{1, 2, 2, 2}},
		{"window both ways", ir.AttentionAttr{Window: 2}, 4, []float32{5.5, 37, 370, 550}, []float64{2, 3, 3, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, ragged := range []bool{false, true} {
				build := func(g *graph) (out, lse *ir.Node) {
					a := c.a
					if ragged {
						a.Ragged = true
						return g.attend(a, of(g, make([]float32, c.q), c.q, 1, 1), ones(g, 4, 1, 1), of(g, v, 4, 1, 1),
							of(g, []int32{0, int32(c.q)}), of(g, []int32{0, 4}))
					}
					return g.attend(a, of(g, make([]float32, c.q), 1, 1, c.q, 1), ones(g, 1, 1, 4, 1), of(g, v, 1, 1, 4, 1))
				}
				var logs []float32
				for _, n := range c.keys {
					logs = append(logs, ln(n))
				}
				g := newGraph(t)
				out, _ := build(g)
				checkNear(g, out, c.want...)
				g = newGraph(t)
				_, lse := build(g)
				check(g, lse, logs...)
			}
		})
	}
}

// Two query heads share a key head; scores, scale, soft cap and mask by hand.
func TestAttentionScores(t *testing.T) {
	g := newGraph(t)
	out, _ := g.attend(ir.AttentionAttr{Scale: 2}, of(g, []float32{1, 0.5}, 1, 2, 1, 1), of(g, []float32{0, ln(3)}, 1, 1, 2, 1), of(g, []float32{0, 1}, 1, 1, 2, 1))
	checkNear(g, out, 0.9, 0.75) // weights 1:9 and 1:3

	g = newGraph(t)
	out, _ = g.attend(ir.AttentionAttr{SoftCap: 1}, of(g, []float32{1000}, 1, 1, 1, 1), of(g, []float32{-1, 1}, 1, 1, 2, 1), of(g, []float32{0, 1}, 1, 1, 2, 1))
	checkNear(g, out, float32(1/(1+math.Exp(-2)))) // scores are capped to -1 and 1

	g = newGraph(t)
	out, _ = g.attend(ir.AttentionAttr{Mask: true}, ones(g, 1, 1, 2, 1), ones(g, 1, 1, 2, 1), of(g, []float32{0, 1}, 1, 1, 2, 1),
		of(g, []float32{0, ln(3), -inf, -inf}, 1, 1, 2, 2))
	checkNear(g, out, 0.75, 0)
}

// Sequences of a ragged batch see themselves alone, and may be empty.
func TestAttentionRagged(t *testing.T) {
	build := func(g *graph) (*ir.Node, *ir.Node) {
		return g.attend(ir.AttentionAttr{Ragged: true}, ones(g, 4, 1, 1), ones(g, 3, 1, 1), of(g, []float32{1, 2, 10}, 3, 1, 1),
			of(g, []int32{0, 2, 2, 3, 4}), of(g, []int32{0, 2, 2, 2, 3}))
	}
	g := newGraph(t)
	out, _ := build(g)
	check[float32](g, out, 1.5, 1.5, 0, 10) // the third sequence has a query and no keys
	g = newGraph(t)
	_, lse := build(g)
	check(g, lse, float32(1+math.Ln2), float32(1+math.Ln2), -inf, 1)
}

// A mask of a ragged batch goes by position in the sequence.
func TestAttentionRaggedMask(t *testing.T) {
	build := func(g *graph, mask ...float32) *ir.Node {
		out, _ := g.attend(ir.AttentionAttr{Ragged: true, Mask: true}, ones(g, 3, 1, 1), ones(g, 3, 1, 1), of(g, []float32{1, 2, 10}, 3, 1, 1),
			of(g, []int32{0, 1, 3}), of(g, []int32{0, 1, 3}), of(g, mask, 1, 1, 1, len(mask)))
		return out
	}
	g := newGraph(t)
	check[float32](g, build(g, -inf, 0), 0, 10, 10)
	// A mask for fewer keys than the longest sequence has.
	g = newGraph(t)
	n := ir.Sym("keys", 0, 9)
	out, _ := g.attend(ir.AttentionAttr{Ragged: true, Mask: true}, ones(g, 2, 1, 1), ones(g, 2, 1, 1), ones(g, 2, 1, 1),
		of(g, []int32{0, 2}), of(g, []int32{0, 2}), g.input(ir.F32, raw([]float32{0}), ir.Shape{ir.N(1), ir.N(1), ir.N(1), n}))
	_, _, err := g.evaluate(ir.Env{"keys": 1}, out)
	var e *device.IndexError
	if !errors.As(err, &e) {
		t.Errorf("a mask that is too small gives %v", err)
	}
}

func TestAttentionNaN(t *testing.T) {
	g := newGraph(t)
	out, _ := g.attend(ir.AttentionAttr{}, of(g, []float32{nan, 1}, 1, 1, 2, 1), ones(g, 1, 1, 2, 1), ones(g, 1, 1, 2, 1))
	check(g, out, nan, 1)
	// What a query does not see does not touch it.
	g = newGraph(t)
	out, _ = g.attend(ir.AttentionAttr{Causal: true}, ones(g, 1, 1, 2, 1), of(g, []float32{1, nan}, 1, 1, 2, 1), of(g, []float32{1, nan}, 1, 1, 2, 1))
	check(g, out, 1, nan)
}

// A device sums values before later keys show how little they weigh: the bound is
// infinite where that may overflow, though the result is finite.
func TestBoundOfAttentionsThatOverflow(t *testing.T) {
	for _, c := range []struct {
		v        []float32
		infinite bool
	}{
		{[]float32{2e38, 2e38, 1}, true}, {[]float32{2e38, -1, 1}, true}, {[]float32{1.1e38, 1.1e38, 1}, false}, {[]float32{1, 1, 1}, false},
	} {
		g := newGraph(t)
		out, lse := g.attend(ir.AttentionAttr{}, ones(g, 1, 1, 1, 1), of(g, []float32{0, 0, 1000}, 1, 1, 3, 1), of(g, c.v, 1, 1, 3, 1))
		values, bounds, err := g.evaluate(nil, out, lse)
		if err != nil {
			t.Fatal(err)
		}
		if y := elements[float32](values[0])[0]; y != 1 || math.IsInf(bounds[0][0], 1) != c.infinite || math.IsInf(bounds[1][0], 1) {
			t.Errorf("%v: %v within %v, the logarithm within %v", c.v, y, bounds[0], bounds[1])
		}
	}
}
