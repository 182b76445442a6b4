package cpu

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// TestCostOfRanges holds that the cost of a part is known although its loops
// run over a range: a guess would make tasks that stop the world.
func TestCostOfRanges(t *testing.T) {
	k, err := loop.Parse(`kernel "sum"
symbol n 0 1000000
param p0 f32[64*n] read
param p1 f32[64] write
for global part < 64 {
	for vector lane < 64 {
		acc = f32(0)
		%0 = part*(idiv(size(n), 64) + 1)
		for serial row = %0 to min(%0 + (idiv(size(n), 64) + 1), size(n)) {
			acc add= p0[row*64 + lane]
		}
		p1[lane] = acc
	}
}
`)
	if err != nil {
		t.Fatal(err)
	}
	k = loop.Share(k)
	body := k.Body[0].(*loop.Loop).Body
	counted := weights{}
	counted.add(body)
	small, large := cost(body, counted, ir.Env{"n": 640}), cost(body, counted, ir.Env{"n": 640_000})
	if vectors := 4 * 640_000 / 64; large < vectors || large > 8*vectors {
		t.Errorf("%d vectors cost %d", vectors, large)
	}
	if large < 500*small {
		t.Errorf("a thousand times the rows cost %d instead of %d", large, small)
	}
}

// A block of rows whose passes share a loop costs what its rows cost apart.
func TestCostOfStaggeredRows(t *testing.T) {
	k, err := loop.Parse(`kernel "scale"
symbol n 0 1000000
param x f32[64*n] read
param y f32[64*n] write
for global r < size(n) {
	s = f32(0)
	for vector c < 64 {
		s add= x[r*64 + c]
	}
	for vector c < 64 {
		y[r*64 + c] = x[r*64 + c]*s
	}
}
`)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 200
	together, _ := loop.Stagger(k, rows)
	costOf := func(k *loop.Kernel) int {
		f := newForm(k)
		return cost(f.span.Body, f.weights, ir.Env{"n": 100_000})
	}
	if one, all := costOf(k), costOf(together); all < rows*one/2 || all > 2*rows*one {
		t.Errorf("a row costs %d, %d together %d", one, rows, all)
	}
}
