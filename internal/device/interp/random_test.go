package interp

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
)

// defineAll replaces every anchor by its definition.
func defineAll(g *ir.Graph) (*ir.Graph, error) {
	outs := map[*ir.Node][]*ir.Node{} // by the first output, which stands for the anchor
	return ir.Rebuild(g, func(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
		if n.Op == ir.Get {
			return outs[in[0]][n.Attr.Out], nil
		}
		if n.Op.Class() != ir.ClassAnchor {
			return ir.Copy(b, n, in)
		}
		defined, err := ir.Define(b, n, in)
		if err != nil {
			return nil, err
		}
		outs[defined[0]] = defined
		return defined[0], nil
	})
}

// Random graphs of every operation run without a panic, and give the same,
// within the bounds, with every anchor replaced by its definition.
func TestRandomGraphs(t *testing.T) {
	ctx := context.Background()
	for _, c := range []irtest.Config{{}, {Symbolic: true}, {Special: 0.1}, {Special: 0.3, Symbolic: true}, {Integers: true, MaxElements: 256}} {
		for seed := range uint64(300) {
			g, leaves, env := irtest.Random(rand.New(rand.NewPCG(seed, 11)), c)
			text := g.String()
			want, bounds, err := Evaluate(ctx, g, env, leaves)
			if err != nil {
				var index *device.IndexError
				var division *device.DivisionError
				if !errors.As(err, &index) && !errors.As(err, &division) && !errors.Is(err, errEmpty) {
					t.Fatalf("%v\n%s", err, text)
				}
				continue
			}
			defined, err := defineAll(g)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			byName := map[string][]byte{}
			for i, l := range g.Leaves {
				byName[l.Name] = leaves[i]
			}
			var data [][]byte
			for _, l := range defined.Leaves { // numbered anew
				data = append(data, byName[l.Name])
			}
			got, more, err := Evaluate(ctx, defined, env, data)
			if err != nil {
				t.Fatalf("defined: %v\n%s", err, text)
			}
			for i, o := range g.Outputs {
				compareWithin(t, text, floatsOf(o.DType, got[i]), floatsOf(o.DType, want[i]), bounds[i], more[i])
			}
		}
	}
}
