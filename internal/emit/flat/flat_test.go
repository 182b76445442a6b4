package flat_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

var update = flag.Bool("update", false, "write the golden files")

// shapes are those of devices: with memory near the group, without, and of
// work-items on their own.
var shapes = map[string]entry.Shape{
	"near":  {Items: 32, Near: 16 << 10, Product: flat.Product},
	"far":   {Items: 16, Product: flat.Product},
	"alone": {Items: 1, Near: 16 << 10, Product: flat.Product},
}

// TestRandomKernels compares what flat makes of kernels with the interpreter.
func TestRandomKernels(t *testing.T) {
	count := uint64(100)
	if testing.Short() {
		count = 20
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			for seed := range count {
				c := looptest.Random(rand.New(rand.NewPCG(seed, 5)), looptest.Config{WildIndices: true, Op: exact})
				k := shape.Kernel(fmt.Sprint("k", seed), c.Kernel)
				p, err := flattest.Record(k)
				if err != nil {
					t.Fatalf("seed %d: %v\n%v", seed, err, c.Kernel)
				}
				want, got := c.Copy(), c.Copy()
				if err := loop.Interpret(loop.Expand(c.Kernel), want); err != nil {
					t.Fatal(err)
				}
				b, err := flattest.Bind(k, got, 3, 8)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Run(&b.Launch); err != nil {
					t.Fatalf("seed %d: %v\n%v\n%v\n%v", seed, err, c.Kernel, k.Work, p)
				}
				b.Results(k, got)
				if err := c.Same(got, want); err != nil {
					t.Fatalf("seed %d: %v\n%v\n%v\n%v", seed, err, c.Kernel, k.Work, p)
				}
			}
		})
	}
}

// exact leaves out what has no expansion.
func exact(op ir.Op, from ir.DType) bool {
	if from != ir.F64 {
		return true
	}
	switch op {
	case ir.Exp, ir.Exp2, ir.Expm1, ir.Log, ir.Log2, ir.Log1p, ir.Sin, ir.Cos, ir.Atan, ir.Tanh, ir.Erf, ir.Pow:
		return false
	}
	return true
}

// TestProducts compares products by tiles with the sums that they mean, in the
// same order: bit for bit, where a group does a task or several, and has room for
// one stage of k or for two.
func TestProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	tiles := entry.GroupTiles(256, 1<<12)
	if len(tiles) < 16 || len(tiles) > entry.MaxStrategies {
		t.Errorf("%d tiles", len(tiles))
	}
	for _, d := range []ir.DType{ir.F32, ir.F64, ir.BF16, ir.F16, ir.I32, ir.U8, ir.I64} {
		for _, turned := range []bool{false, true} {
			sizes := []flattest.Sizes{{Batch: 1, Rows: 65, Cols: 3, K: 17}, {Batch: 1, Rows: 1, Cols: 1, K: 0}}
			if d == ir.F32 {
				sizes = append(sizes, flattest.Sizes{Batch: 2, Rows: 3, Cols: 70, K: 529})
			}
			for _, s := range sizes {
				g, a := flattest.Gemm(rng, d, s, turned)
				want := *a
				want.Buffers = slices.Clone(a.Buffers)
				want.Buffers[2] = slices.Clone(a.Buffers[2])
				k := flat.Product("product", g, tiles[rng.IntN(len(tiles))])
				if err := loop.Interpret(k.Work, &want); err != nil {
					t.Fatal(err)
				}
				for i := range 4 {
					k.OneStage = i%2 > 0
					clear(a.Buffers[2])
					p, err := flattest.Record(k)
					if err != nil {
						t.Fatal(err)
					}
					a.End = flattest.Tasks(s, k.Tile.Rows, k.Tile.Cols)
					b, err := flattest.Bind(k, a, 1+i, 1)
					if err != nil {
						t.Fatal(err)
					}
					if err := p.Run(&b.Launch); err != nil {
						t.Fatalf("%v %v turned %v, one stage %v: %v", d, s, turned, k.OneStage, err)
					}
					b.Results(k, a)
					if !bytes.Equal(a.Buffers[2], want.Buffers[2]) {
						t.Errorf("%v %v turned %v, tile %v, one stage %v: results differ", d, s, turned, k.Tile, k.OneStage)
					}
				}
			}
		}
	}
}

// Each barrier of a product matters: one a stage where there is room for two, that
// of the last keeps a group's next task from what the one before still reads.
func TestProductBarriers(t *testing.T) {
	tile := entry.Tile{Rows: 8, Cols: 8, EachRows: 2, EachCols: 2, Depth: 8}
	for _, one := range []bool{false, true} {
		for _, depth := range []int{3, 17} { // an odd number of stages: the last lies where the next task begins
			s := flattest.Sizes{Batch: 2, Rows: 9, Cols: 5, K: depth}
			g, a := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), ir.F32, s, false)
			k := flat.Product("product", g, tile)
			k.OneStage = one
			p, err := flattest.Record(k)
			if err != nil {
				t.Fatal(err)
			}
			a.End = flattest.Tasks(s, tile.Rows, tile.Cols)
			run := func(p *flattest.Program) error {
				b, err := flattest.Bind(k, a, a.End, 1)
				if err != nil {
					t.Fatal(err)
				}
				return p.Run(&b.Launch)
			}
			if err := run(p); err != nil {
				t.Error(err)
			}
			n := p.Barriers()
			if n != 3-k.Stages() {
				t.Errorf("one stage %v: %d barriers", one, n)
			}
			for i := range n {
				if err := run(p.WithoutBarrier(i)); err == nil {
					t.Errorf("one stage %v, without barrier %d: no error", one, i)
				}
			}
		}
	}
}

const softmax = `kernel "softmax"
slots 1
symbol n 1 4096
param x f32[48*n] read
param at i32[n] read
param kept f32[48] scratch
param y bf16[48*n] write
for global r < size(n) {
	row = index(cast.i64(at[r]), n, 0)
	top = f32(-inf)
	for vector c < 48 {
		top max= x[row*48 + c]
	}
	total = f32(0)
	for vector d < 48 {
		kept[d] = x[row*48 + d] - top
		total add= x[row*48 + d] - top
	}
	for vector e < 48 {
		y[r*48 + e] = cast.bf16(kept[47 - e]/total)
	}
}
`

// TestGolden shows what kernels become; -update writes the files anew.
func TestGolden(t *testing.T) {
	k, err := loop.Parse(softmax)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), ir.BF16, flattest.Sizes{Batch: 1, Rows: 5, Cols: 100, K: 600}, false)
	for name, k := range map[string]*entry.Kernel{
		"softmax_near":  shapes["near"].Kernel("k", k),
		"softmax_alone": shapes["alone"].Kernel("k", k),
		"product":       flat.Product("k", g, entry.Tile{}),
	} {
		t.Run(name, func(t *testing.T) {
			p, err := flattest.Record(k)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(p.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if p.String() != string(want) {
				t.Errorf("the listing has changed; if that is meant, run the test with -update\n%v", p)
			}
		})
	}
}

// A kernel whose work-items do not wait for each other is found out.
func TestBarriersMatter(t *testing.T) {
	k, err := loop.Parse(softmax)
	if err != nil {
		t.Fatal(err)
	}
	a := &loop.Args{Buffers: [][]byte{make([]byte, 8*48), make([]byte, 8), make([]byte, 8*48), make([]byte, 4*48)}, Sizes: ir.Env{"n": 2}, End: 2, Status: make([]int64, 1)}
	e := shapes["near"].Kernel("k", k)
	p, err := flattest.Record(e)
	if err != nil {
		t.Fatal(err)
	}
	run := func(p *flattest.Program) error {
		b, err := flattest.Bind(e, a, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		return p.Run(&b.Launch)
	}
	if err := run(p); err != nil {
		t.Error(err)
	}
	n := p.Barriers()
	if n < 10 {
		t.Errorf("%d barriers", n)
	}
	for i := range n {
		if err := run(p.WithoutBarrier(i)); err == nil {
			t.Errorf("without barrier %d: no error", i)
		}
	}
}

// Scratch memory near by of an unknown size is an error.
func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"kernel \"k\"\nsymbol n 0 9\nparam s f32[n] scratch\nfor global i < size(n) {\n\ts[0] = f32(1)\n}\n": "constant size",
	} {
		work, err := loop.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		k := shapes["alone"].Kernel("k", work)
		for i := range k.Near {
			k.Near[i] = k.Work.Params[i].Use == loop.Scratch
		}
		if _, err := flattest.Record(k); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q, for\n%s", err, want, text)
		}
	}
}
