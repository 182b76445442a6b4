package cpu

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// twice has a temp between two products.
const twice = `graph
symbol n 1 1024
leaf 0 input "x" f32[n 64]
leaf 1 weight "w" f32[64 64]
%0 = input : f32[n 64]
%1 = weight leaf=1 : f32[64 64]
%2 = matmul %0 %1 : f32[n 64]
%3 = matmul %2 %1 : f32[n 64]
return %3
`

// A device that is dropped without Close, with a program that has run, gives
// its memory back: that of temps, of results and what it kept for later.
func TestDropped(t *testing.T) {
	use := func() *jit.Allocator {
		d, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		d.pool.Linger = time.Millisecond
		g, err := ir.Parse(twice)
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.CompileGraph(t.Context(), g, device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := &constantTest{device: d, graph: g, module: m.(*module), weights: []*buffer{d.weight(t, rand.New(rand.NewPCG(1, 2)), 64*64)}}
		if _, err := c.run(context.Background(), make([]byte, 4*1024*64), 1024); err != nil {
			t.Fatal(err)
		}
		mem, err := d.memory(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		if err := mem.Close(); err != nil {
			t.Fatal(err)
		}
		return d.alloc
	}
	a := use()
	if s := a.Stats(); s.Live == 0 || s.Cached == 0 {
		t.Fatalf("nothing is in use: %+v", s)
	}
	var s jit.Stats
	for range 200 {
		runtime.GC()
		if s = a.Stats(); s.Live == 0 && s.Cached == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("of a dropped device %+v is left", s)
}
