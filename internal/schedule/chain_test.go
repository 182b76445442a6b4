package schedule

import (
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/ir"
)

// TestLongChain schedules a chain of 100,000 operations, which takes time
// linear in its length and many kernels.
func TestLongChain(t *testing.T) {
	const length = 100_000
	b := ir.NewBuilder(nil)
	x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(4)}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range length {
		if x, err = b.Add([]ir.Op{ir.Exp, ir.Neg, ir.Tanh}[i%3], ir.Attr{}, x); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	p, err := Build(b.Finish(x), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	t.Logf("%d kernels in %v", len(p.Kernels), time.Since(start))
}
