package cpu

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/ir"
)

// What is kept of weights is that of other elements where symbols tell which
// elements these are, whatever the sizes that come of it.
func TestKeptBySymbols(t *testing.T) {
	for name, text := range map[string]string{
		"product of a slice": `symbol n 0 90
leaf 0 weight "w" f32[100 32]
leaf 1 input "x" f32[4 10]
%0 = weight : f32[100 32]
%1 = input leaf=1 : f32[4 10]
%2 = slice %0 starts=[n 0] steps=[1 1] : f32[10 32]
%3 = matmul %1 %2 : f32[4 32]
return %3`,
		"product of a padded slice": `symbol n 1 90
leaf 0 weight "w" f32[100 32]
leaf 1 input "x" f32[4 90]
%0 = weight : f32[100 32]
%1 = input leaf=1 : f32[4 90]
%2 = slice %0 starts=[0 0] steps=[1 1] : f32[n 32]
%3 = pad %2 before=[90-n 0] after=[0 0] value=0x3f800000 : f32[90 32]
%4 = matmul %1 %3 : f32[4 32]
return %4`,
		"product of repeated rows": `symbol n 1 6
symbol m 1 6
leaf 0 weight "w" f32[1 32]
leaf 1 input "x" f32[4 n*m]
%0 = weight : f32[1 32]
%1 = input leaf=1 : f32[4 n*m]
%2 = iota axes=[1] : f32[n m]
%3 = reshape %2 : f32[n*m 1]
%4 = expand %3 : f32[n*m 32]
%5 = expand %0 : f32[n*m 32]
%6 = mul %4 %5 : f32[n*m 32]
%7 = matmul %1 %6 : f32[4 32]
return %7`,
		"sum of a slice": `symbol n 0 90
leaf 0 weight "w" f32[100 32]
leaf 1 input "x" f32[1 32]
%0 = weight : f32[100 32]
%1 = input leaf=1 : f32[1 32]
%2 = slice %0 starts=[n 0] steps=[1 1] : f32[10 32]
%3 = sum %2 axes=[0] : f32[1 32]
%4 = mul %3 %1 : f32[1 32]
return %4`,
	} {
		t.Run(name, func(t *testing.T) {
			g, err := ir.Parse("graph\n" + text)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range machines(t) {
				m := must(d.CompileGraph(t.Context(), g, device.Options{Check: true}))
				defer m.Close()
				weights := map[int]device.Buffer{}
				for _, env := range []ir.Env{{"n": 2, "m": 3}, {"n": 3, "m": 2}, {"n": 6, "m": 1}, {"n": 2, "m": 3}} {
					b := &device.Bound{Module: m, Env: env}
					var leaves [][]byte
					for i, l := range g.Leaves {
						buf := weights[i]
						if buf == nil {
							buf = must(d.Import(eighths(must(l.Type.Shape.Numel().Eval(env)))))
						}
						if l.Kind == ir.Weight {
							weights[i] = buf // the same in all runs
						}
						b.Leaves, leaves = append(b.Leaves, buf), append(leaves, buf.Bytes())
					}
					want, bounds, err := interp.Evaluate(t.Context(), g, env, leaves)
					if err != nil {
						t.Fatal(err)
					}
					b.Outputs = []device.Buffer{must(d.Alloc(len(want[0])))}
					e := must(d.Submit(t.Context(), b))
					if err := e.Wait(t.Context()); err != nil {
						t.Fatal(err)
					}
					if err := compare(ir.F32, b.Outputs[0].Bytes(), want[0], bounds[0]); err != nil {
						t.Errorf("%v, %v: %v", d.ISA(), env, err)
					}
				}
			}
		})
	}
}
