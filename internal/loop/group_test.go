package loop_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// Kernels for groups compute what they did before, in the orders that
// looptest makes exact.
func TestGroupedRandomKernels(t *testing.T) {
	for seed := range uint64(60) {
		c := looptest.Random(rand.New(rand.NewPCG(seed, 1)), looptest.Config{WildIndices: true})
		want := c.Copy()
		if err := loop.Interpret(c.Kernel, want); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, c.Kernel)
		}
		for _, g := range []loop.Grouping{{Width: 16}, {Width: 4, Items: true}, {Width: 64, Items: true}} {
			k := loop.Grouped(c.Kernel, g)
			if err := loop.Check(k); err != nil {
				t.Fatalf("seed %d, %+v: %v\n%v", seed, g, err, k)
			}
			got := c.Copy()
			for _, p := range k.Params[len(c.Kernel.Params):] {
				n, _ := p.Len.Const()
				got.Buffers = append(got.Buffers, make([]byte, n*p.DType.Size()))
			}
			if err := loop.Interpret(k, got); err != nil {
				t.Fatalf("seed %d, %+v: %v\n%v", seed, g, err, k)
			}
			if err := c.Same(got, want); err != nil {
				t.Fatalf("seed %d, %+v: %v\n%v\n%v", seed, g, err, c.Kernel, k)
			}
		}
	}
}

func TestGroupedText(t *testing.T) {
	const plain = `kernel "row"
symbol n 1 4096
param p0 f32[100*n] read
param p1 f32[n] write
for global r < size(n) {
	acc = f32(0)
	for vector c < 100 {
		acc add= p0[r*100 + c]
	}
	p1[r] = acc
}
`
	k, err := loop.Parse(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		g    loop.Grouping
		want string
	}{
		{loop.Grouping{Width: 4, Items: true}, `kernel "row"
symbol n 1 4096
param p0 f32[100*n] read
param p1 f32[n] write
param parts f32[4] scratch
for global r < size(n) {
	acc = f32(0)
	for item item < 4 {
		acc_part = f32(0)
		for serial turn < idiv(100 - item + 3, 4) {
			acc_part add= p0[r*100 + (item + turn*4)]
		}
		parts[item] = acc_part
	}
	for item item_2 < 2 {
		parts[item_2] = parts[item_2] + parts[item_2 + 2]
	}
	for item item_3 < 1 {
		parts[item_3] = parts[item_3] + parts[item_3 + 1]
	}
	acc add= parts[0]
	p1[r] = acc
}
`},
		{loop.Grouping{Width: 8}, `	for vector lane < 8 {
		parts[lane] = f32(0)
	}
	for serial strip < 12 {
		for vector lane_2 < 8 {
			parts[lane_2] = parts[lane_2] + p0[r*100 + (strip*8 + lane_2)]
		}
	}
	for vector lane_3 < 4 {
		parts[lane_3] = parts[lane_3] + p0[r*100 + (lane_3 + 96)]
	}
`},
	} {
		if got := loop.Grouped(k, c.g).String(); !strings.Contains(got, c.want) {
			t.Errorf("%+v:\n%s\nshould have\n%s", c.g, got, c.want)
		}
	}
}
