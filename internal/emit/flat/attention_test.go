package flat_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// groups is a shape with memory for attention by tiles.
var groups = entry.Shape{Items: 128, Near: 16 << 10, Shared: 48 << 10}

var attended = []struct {
	flattest.Attended
	ir.AttentionAttr
}{
	{flattest.Attended{Batch: 2, Heads: 2, KVHeads: 1, Queries: 5, Keys: 37, Width: 6}, ir.AttentionAttr{Scale: 0.5}},
	{flattest.Attended{Batch: 1, Heads: 3, KVHeads: 1, Queries: 41, Keys: 41, Width: 9}, ir.AttentionAttr{Scale: 0.3, Causal: true}},
	{flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 70, Keys: 33, Width: 16}, ir.AttentionAttr{Scale: 0.3, Causal: true}},
	{flattest.Attended{Batch: 1, Heads: 2, KVHeads: 2, Queries: 40, Keys: 70, Width: 8}, ir.AttentionAttr{Scale: 0.3, Window: 5, SoftCap: 2}},
	{flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 3, Keys: 0, Width: 8}, ir.AttentionAttr{Scale: 0.3}},
	{flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 24, Keys: 40, Width: 4}, ir.AttentionAttr{Scale: 0.3}},
}

// results runs an attention by a strategy.
func results(t *testing.T, s entry.Shape, a *template.Attention, args *loop.Args) [][]byte {
	t.Helper()
	return launched(t, s.Attention("k", a), args, 3)
}

// launched runs a kernel of tiles, each work-item waiting for the others at
// barriers alone, and returns what lies behind so many operands.
func launched(t *testing.T, k *entry.Kernel, args *loop.Args, operands int) [][]byte {
	t.Helper()
	if k.Tile == (entry.Tile{}) {
		t.Fatal("it does not go by tiles")
	}
	p, err := flattest.Record(k)
	if err != nil {
		t.Fatal(err)
	}
	got := *args
	got.Buffers = slices.Clone(args.Buffers)
	for i := operands; i < len(got.Buffers); i++ {
		got.Buffers[i] = bytes.Clone(got.Buffers[i])
	}
	if got.Start, got.End, err = k.Work.Span(args.Sizes); err != nil {
		t.Fatal(err)
	}
	b, err := flattest.Bind(k, &got, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(&b.Launch); err != nil {
		t.Fatalf("%v: %v\n%v", k.Tile, err, k.Work)
	}
	b.Results(k, &got)
	return got.Buffers[operands:]
}

// bytesRead counts what work-items read from buffers.
func bytesRead(t *testing.T, k *entry.Kernel, args *loop.Args) int {
	t.Helper()
	p, err := flattest.Record(k)
	if err != nil {
		t.Fatal(err)
	}
	if args.Start, args.End, err = k.Work.Span(args.Sizes); err != nil {
		t.Fatal(err)
	}
	b, err := flattest.Bind(k, args, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(&b.Launch); err != nil {
		t.Fatal(err)
	}
	return b.Read
}

// TestAttention compares attention by tiles with that by rows: within a few
// roundings, and to the bit among tiles.
func TestAttention(t *testing.T) {
	for _, c := range attended {
		for _, d := range []ir.DType{ir.F32, ir.BF16, ir.F16} {
			if d == ir.F16 && testing.Short() {
				continue
			}
			t.Run(fmt.Sprintf("%v %+v", d, c), func(t *testing.T) {
				a, args := flattest.Attention(rand.New(rand.NewPCG(3, 0)), d, c.Attended, c.AttentionAttr)
				table := groups.AttentionTable(a)
				if len(table) < 4 {
					t.Errorf("%d strategies", len(table))
				}
				got := results(t, groups, a, args)
				for _, s := range []entry.Strategy{table[1], table[len(table)/2], table[len(table)-1]} {
					if again := results(t, groups.With(s), a, args); !slices.EqualFunc(got, again, bytes.Equal) {
						t.Errorf("%+v gives other bits", s)
					}
				}
				want := *args
				rows := a.RowLoops()
				var err error
				if want.Start, want.End, err = rows.Span(args.Sizes); err != nil {
					t.Fatal(err)
				}
				want.Buffers = append(want.Buffers, make([]byte, 4*c.Keys)) // scores of a row
				if err := loop.Interpret(rows, &want); err != nil {
					t.Fatal(err)
				}
				for i, b := range got {
					for at := 0; at < len(b); at += 4 {
						x, y := float32At(want.Buffers[3+i], at), float32At(b, at)
						if x != y && !(math.Abs(x-y) <= tolerance(a)*(1+math.Abs(x))) {
							t.Fatalf("result %d: element %d is %v, not %v", i, at/4, y, x)
						}
					}
				}
			})
		}
	}
}

func float32At(b []byte, at int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[at:])))
}

// tolerance is 2^-8 where weights are rounded to bf16, after another maximum.
func tolerance(a *template.Attention) float64 {
	if a.Format() == template.BF16 {
		return 1. / 256
	}
	return 4e-6
}

// TestAttentionReads counts bytes: a tile of 64 rows reads each key and value
// once, where rows read them 64 times and their query as often as there are keys.
func TestAttentionReads(t *testing.T) {
	const rows, keys, width = 64, 128, 16
	a, args := flattest.Attention(rand.New(rand.NewPCG(3, 0)), ir.F32, flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: rows, Keys: keys, Width: width}, ir.AttentionAttr{Scale: 0.5})
	tiles := bytesRead(t, groups.Attention("k", a), args)
	alone := bytesRead(t, entry.Shape{Items: 32, Near: 16 << 10}.Kernel("k", a.RowLoops()), args)
	t.Logf("%d keys of %d values: a query row reads %d bytes by tiles, %d by rows", keys, width, tiles/rows, alone/rows)
	if want := 4 * width * (rows + 2*keys); tiles != want {
		t.Errorf("tiles read %d bytes, not %d", tiles, want)
	}
	if alone < 4*width*3*keys*rows {
		t.Errorf("rows read %d bytes alone", alone)
	}
}

// TestAttentionBarriers finds that each barrier matters, where two tiles follow
// each other, with blocks of keys in two parts or with none.
func TestAttentionBarriers(t *testing.T) {
	shape := groups.With(entry.Strategy{Tile: entry.Tile{Rows: 16, Cols: 32, EachRows: 2, EachCols: 4, Depth: 16}})
	var k *entry.Kernel
	var all []*loop.Args
	for _, keys := range []int{80, 0} {
		a, args := flattest.Attention(rand.New(rand.NewPCG(3, 0)), ir.F32, flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: 20, Keys: keys, Width: 6}, ir.AttentionAttr{Scale: 0.5})
		k, args.End = shape.Attention("k", a), 2
		all = append(all, args)
	}
	p, err := flattest.Record(k)
	if err != nil {
		t.Fatal(err)
	}
	run := func(p *flattest.Program) error {
		for _, args := range all {
			b, err := flattest.Bind(k, args, 2, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(&b.Launch); err != nil {
				return err
			}
		}
		return nil
	}
	if err := run(p); err != nil {
		t.Error(err)
	}
	n := p.Barriers()
	if n < 7 {
		t.Errorf("%d barriers", n)
	}
	for i := range n {
		if err := run(p.WithoutBarrier(i)); err == nil {
			t.Errorf("without barrier %d: no error", i)
		}
	}
}
