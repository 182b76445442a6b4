package schedule

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/ir"
)

// TestLongParts reduces parts that are longer than the blocks in which they are
// summed, with lengths that are known and that are not.
func TestLongParts(t *testing.T) {
	limits := &splitLimits{total: 2, tasks: 1 << 20, row: 2, rows: 2, far: 1, tall: 2, wide: 1 << 20, part: 1, partRows: 1, lanes: 1, parts: 2}
	for _, cols := range []int{1, 2, 3, 31, 65} {
		for _, rows := range []int{1, 1023, 3001} {
			for _, symbolic := range []bool{false, true} {
				n := ir.N(rows)
				if symbolic {
					n = ir.Sym("n", 1, 1<<40)
				}
				t.Run(fmt.Sprintf("%v of %d by %d", n, rows, cols), func(t *testing.T) {
					g, leaves := longColumns(t, n, rows, cols)
					env := ir.Env{"n": rows}
					want, _, err := interp.Evaluate(context.Background(), g, env, leaves)
					if err != nil {
						t.Fatal(err)
					}
					p, err := Build(g, Options{limits: limits})
					if err == nil {
						err = p.Check()
					}
					if err != nil {
						t.Fatal(err)
					}
					got, err := run(p, env, leaves, true)
					if err != nil {
						t.Fatal(err)
					}
					for i := range want {
						if at := differ(g.Outputs[i].DType, got[i], want[i]); at >= 0 {
							t.Errorf("%v differs at %d\n%v", g.Outputs[i].Op, at, p)
						}
					}
				})
			}
		}
	}
}

// longColumns reduces each column of small whole numbers in several ways.
func longColumns(t *testing.T, n ir.Dim, rows, cols int) (*ir.Graph, [][]byte) {
	b := ir.NewBuilder(nil)
	x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Shape{n, ir.N(cols)}}})
	if err != nil {
		t.Fatal(err)
	}
	var outs []*ir.Node
	for _, op := range []ir.Op{ir.ReduceSum, ir.ReduceMin, ir.ArgMax} {
		o, err := b.Add(op, ir.Attr{Axes: []int{0}}, x)
		if err != nil {
			t.Fatal(err)
		}
		outs = append(outs, o)
	}
	data := make([]byte, 4*rows*cols)
	for i := range rows * cols {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(i*7919%1009-500)))
	}
	return b.Finish(outs...), [][]byte{data}
}
