package flat_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/loop"
)

// TestFewRows compares products of few rows with their meaning: exactly, as all
// numbers are whole.
func TestFewRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 0))
	count := effort.Of(40, 60, 120, 120)
	for i, f := range flattest.Fews(rng, count) {
		shape := entry.Shape{Items: []int{16, 64, 256}[i%3], Near: 24 << 10, Units: 1 + i%40, Product: flat.Product}
		g, a := f.Gemm(rng, false)
		last := len(a.Buffers) - 1
		want := *a
		want.Buffers = slices.Clone(a.Buffers)
		want.Buffers[last] = slices.Clone(a.Buffers[last])
		if err := loop.Interpret(loop.Expand(g.Loops()), &want); err != nil {
			t.Fatal(err)
		}
		table := shape.ProductTable(g)
		k := shape.With(table[rng.IntN(len(table))]).Gemm("product", g)
		if k.Gemm != nil {
			if f.Rows <= 8 {
				t.Errorf("%v: tiles", f)
			}
			continue
		}
		if err := loop.Check(k.Work); err != nil {
			t.Fatal(err)
		}
		p, err := flattest.Record(k)
		if err != nil {
			t.Fatal(err)
		}
		if _, a.End, err = k.Work.Span(a.Sizes); err != nil {
			t.Fatal(err)
		}
		b, err := flattest.Bind(k, a, 1+i%3, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(&b.Launch); err != nil {
			t.Fatalf("%v: %v\n%v", f, err, k.Work)
		}
		b.Results(k, a)
		if !bytes.Equal(a.Buffers[last], want.Buffers[last]) {
			t.Errorf("%v, %+v: results differ", f, k.Strategy)
		}
	}
}
