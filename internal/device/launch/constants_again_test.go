package launch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/toy"
)

// chainGraph keeps a product of a weight, and one of that.
const chainGraph = `graph
symbol n 1 64
leaf 0 input "x" f32[n 64]
leaf 1 weight "w" f32[64 48]
%0 = input : f32[n 64]
%1 = weight leaf=1 : f32[64 48]
%2 = permute %1 axes=[1 0] : f32[48 64]
%3 = matmul %2 %1 : f32[48 48]
%4 = matmul %3 %3 : f32[48 48]
%5 = matmul %0 %1 : f32[n 48]
%6 = matmul %5 %3 : f32[n 48]
%7 = matmul %5 %4 : f32[n 48]
%8 = add %6 %7 : f32[n 48]
return %8
`

// A weight that is written between two constant kernels leaves nothing behind that
// was computed from its values of before and after.
func TestConstantsWrittenBetween(t *testing.T) {
	c := &tally{Backend: toy.Backend(0)}
	d := open(t, c, toy.Options())
	j := newJudge(t, chainGraph)
	p, w := compileScaled(t, d, chainGraph), weightOf(t, d, 1)
	written := false
	c.after = func() {
		if !written {
			written = true
			setWeight(t, d, w, 2)
		}
	}
	if _, err := p.run(context.Background(), w, 3); err != nil {
		t.Fatal(err)
	}
	if !written {
		t.Fatal("nothing ran")
	}
	for range 2 {
		j.check(t, p, w, 2, 3)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// Freeing what is kept is no time of much memory.
func TestConstantsPeak(t *testing.T) {
	d := open(t, toy.Backend(0), toy.Options())
	p, w := compileScaled(t, d, roundedGraph), weightOf(t, d, 1)
	if _, err := p.run(context.Background(), w, 1); err != nil {
		t.Fatal(err)
	}
	big, err := d.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	before := d.Stats().Peak
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if after := d.Stats().Peak; after != before {
		t.Errorf("a peak of %d bytes, of %d when the weight was freed", before, after)
	}
	if err := big.Close(); err != nil {
		t.Error(err)
	}
}

// A run that fits in no way, such as one of too many rows, does not keep others
// from keeping.
func TestConstantsAfterTooLarge(t *testing.T) {
	c := &tally{Backend: toy.Backend(0)}
	d := open(t, c, toy.Options())
	j := newJudge(t, roundedTwiceGraph)
	p, w := compileScaled(t, d, roundedTwiceGraph), weightOf(t, d, 1)
	// What the caller has for 60 rows, and both weights in bf16: one of them and what
	// is between the products do not fit there.
	d.SetMemoryLimit(weightBytes + 2*60*64*4 + weightBytes + 2000)
	j.check(t, p, w, 1, 2)
	var full *device.OutOfMemoryError
	if _, err := p.run(context.Background(), w, 60); !errors.As(err, &full) {
		t.Fatal(err)
	}
	j.check(t, p, w, 1, 2)
	c.kernels.Store(0)
	j.check(t, p, w, 1, 2)
	if k := c.kernels.Load(); k != 2 {
		t.Errorf("%d kernels, want the products alone", k)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
