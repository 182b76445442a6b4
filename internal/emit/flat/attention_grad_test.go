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
)

// gradientOperands are those of a gradient, whose results lie behind them.
const gradientOperands = 6

// TestAttentionGrad compares the gradient of attention by tiles with that by
// sequences: within roundings, and to the bit among tiles. Wild operands have NaN,
// infinities and rows that see nothing; what tiny ones add is rounded to 0 or -0.
func TestAttentionGrad(t *testing.T) {
	for n, c := range attended {
		for _, kind := range []string{"ordinary", "wild", "tiny"} {
			t.Run(fmt.Sprintf("%+v %s", c, kind), func(t *testing.T) {
				a, args := flattest.AttentionGrad(rand.New(rand.NewPCG(uint64(n), 0)), ir.F32, c.Attended, c.AttentionAttr)
				switch kind {
				case "wild":
					makeWild(args)
				case "tiny":
					makeTiny(args)
				}
				table := groups.AttentionGradTable(a)
				if len(table) < 4 {
					t.Errorf("%d strategies", len(table))
				}
				tiles := func(s entry.Shape) [][]byte {
					return launched(t, s.AttentionGrad("k", a), args, gradientOperands)
				}
				got := tiles(groups)
				for _, s := range []entry.Strategy{table[1], table[len(table)/2], table[len(table)-1]} {
					if again := tiles(groups.With(s)); !slices.EqualFunc(got, again, bytes.Equal) {
						t.Errorf("%+v gives other bits", s)
					}
				}
				want := *args
				loops := a.Loops()
				var err error
				if want.Start, want.End, err = loops.Span(args.Sizes); err != nil {
					t.Fatal(err)
				}
				for _, p := range loops.Params[len(want.Buffers):] {
					n, _ := p.Len.Eval(args.Sizes)
					want.Buffers = append(want.Buffers, make([]byte, 4*n))
				}
				if err := loop.Interpret(loops, &want); err != nil {
					t.Fatal(err)
				}
				for i, b := range got {
					for at := 0; at < len(b); at += 4 {
						x, y := float32At(want.Buffers[gradientOperands+i], at), float32At(b, at)
						if x != y && !(math.IsNaN(x) && math.IsNaN(y)) && !(math.Abs(x-y) <= 4e-5*(1+math.Abs(x))) {
							t.Fatalf("gradient %d: element %d is %v, not %v", i, at/4, y, x)
						}
					}
				}
			})
		}
	}
}

// makeWild has NaN and infinities in some rows of all operands, and queries that
// see nothing, whose rows are infinite.
func makeWild(args *loop.Args) {
	put := func(operand, at int, v float64) {
		if b := args.Buffers[operand]; 4*at < len(b) {
			binary.LittleEndian.PutUint32(b[4*at:], math.Float32bits(float32(v)))
		}
	}
	inf := math.Inf(1)
	for operand, at := range []int{11, 40, 63, 29} {
		put(operand, at, []float64{inf, -inf, math.NaN(), inf}[operand])
	}
	width := len(args.Buffers[0]) / max(1, len(args.Buffers[4]))
	for _, row := range []int{2, 3} {
		put(4, row, -inf)
		put(0, row*width, inf)
		put(3, row*width+1, math.NaN())
	}
}

// makeTiny has numbers of which a half is 0 in f32.
func makeTiny(args *loop.Args) {
	for _, operand := range []int{0, 1, 3} {
		b := args.Buffers[operand]
		for at := 0; at < len(b); at += 4 {
			sign := binary.LittleEndian.Uint32(b[at:]) & (1 << 31)
			binary.LittleEndian.PutUint32(b[at:], sign|1)
		}
	}
}

// TestAttentionGradReads counts bytes: tiles of 32 rows read what passes by once,
// where by sequences every pair reads two rows, and adds to two more.
func TestAttentionGradReads(t *testing.T) {
	const queries, keys, width = 64, 128, 16
	a, args := flattest.AttentionGrad(rand.New(rand.NewPCG(3, 0)), ir.F32, flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: queries, Keys: keys, Width: width}, ir.AttentionAttr{Scale: 0.5})
	tile := entry.Tile{Rows: 32, Cols: 16, EachRows: 2, EachCols: 2}
	tiles := bytesRead(t, groups.With(entry.Strategy{Tile: tile}).AttentionGrad("k", a), args)
	alone := bytesRead(t, entry.Shape{Items: 32, Near: 16 << 10}.AttentionGrad("k", a), args)
	t.Logf("%d keys of %d values: a query row reads %d bytes by tiles, %d by sequences", keys, width, tiles/queries, alone/queries)
	const query, key = 2*width + 2, 2 * width // numbers of each
	// Behind the last block of queries the sums of one more are looked for.
	want := 4 * (queries*query + queries/tile.Rows*keys*key + keys*key + keys/tile.Rows*(queries*query+2*tile.Cols))
	if tiles != want {
		t.Errorf("tiles read %d bytes, not %d", tiles, want)
	}
	if alone < 4*width*4*keys*queries {
		t.Errorf("sequences read %d bytes", alone)
	}
}

// TestAttentionGradBarriers finds that each barrier matters, where tiles of both
// kinds follow each other, with several blocks passing by or with none. Those in
// front of a tile do not: rows are brought by the work-items that stored results
// from their places.
func TestAttentionGradBarriers(t *testing.T) {
	shape := groups.With(entry.Strategy{Tile: entry.Tile{Rows: 8, Cols: 8, EachRows: 1, EachCols: 2}})
	var k *entry.Kernel
	var all []*loop.Args
	for _, rows := range [][2]int{{20, 20}, {20, 0}, {0, 20}} {
		a, args := flattest.AttentionGrad(rand.New(rand.NewPCG(3, 0)), ir.F32, flattest.Attended{Batch: 1, Heads: 1, KVHeads: 1, Queries: rows[0], Keys: rows[1], Width: 6}, ir.AttentionAttr{Scale: 0.5})
		k = shape.AttentionGrad("k", a)
		var err error
		if args.Start, args.End, err = k.Work.Span(args.Sizes); err != nil {
			t.Fatal(err)
		}
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
	if n != 12 {
		t.Errorf("%d barriers", n)
	}
	for i := range n {
		if err := run(p.WithoutBarrier(i)); (err == nil) != (i%6 == 0) {
			t.Errorf("without barrier %d: %v", i, err)
		}
	}
}
