package launchtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// FewRows compares products of few rows, by strategies of the shape, with their
// meaning: exactly, as all numbers are whole. types are those that the device has.
func FewRows(t *testing.T, b launch.Backend, s entry.Shape, types func(ir.DType) bool) {
	t.Helper()
	count := effort.Of(20, 20, 60, 120)
	rng := rand.New(rand.NewPCG(13, 0))
	var cases []flattest.Few
	var args []*loop.Args
	var want [][]byte
	var entries []*entry.Kernel
	for i, f := range flattest.Fews(rng, count) {
		if !types(f.X) || !types(f.Y) || !types(f.Sum) {
			continue
		}
		s.Units = 1 + i%40
		g, a := f.Gemm(rng, false)
		table := s.ProductTable(g)
		k := s.With(table[rng.IntN(len(table))]).Gemm(fmt.Sprint("few", i), g)
		if k.Gemm != nil {
			continue
		}
		last := len(a.Buffers) - 1
		exact := *a
		exact.Buffers = slices.Clone(a.Buffers)
		exact.Buffers[last] = slices.Clone(a.Buffers[last])
		if err := loop.Interpret(loop.Expand(g.Loops()), &exact); err != nil {
			t.Fatal(err)
		}
		var err error
		if _, a.End, err = k.Work.Span(a.Sizes); err != nil {
			t.Fatal(err)
		}
		cases, args, want, entries = append(cases, f), append(args, a), append(want, exact.Buffers[last]), append(entries, k)
	}
	if len(entries) < count/2 {
		t.Errorf("%d of %d products have few rows", len(entries), count)
	}
	code, err := b.Emit(entries)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Build(code)
	if err != nil {
		t.Fatalf("%v\n%s", err, code.Text)
	}
	defer p.Close()
	for i, f := range cases {
		if args[i].End == 0 {
			continue
		}
		if err := runKernel(b, p, entries[i], code.Args[i], s, args[i]); err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		if got := args[i].Buffers[len(args[i].Buffers)-1]; !bytes.Equal(got, want[i]) {
			t.Errorf("%v, %+v: results differ\n%v", f, entries[i].Strategy, entries[i].Work)
		}
	}
}
