package ptx_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/emit/ptx/ptxsim"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
	"github.com/sinterml/sinter/internal/template"
)

// targets are those that kernels differ for.
var targets = []ptx.Target{{SM: 75}, {SM: 80}, {SM: 90}}

// run executes k for t by the interpreter of PTX.
func run(t ptx.Target, k *entry.Kernel, l *flattest.Launch) error {
	p, err := ptx.Write(t, []*entry.Kernel{k})
	if err != nil {
		return err
	}
	return runText(t, k, l, p.Source)
}

// runText executes k as a text has it.
func runText(t ptx.Target, k *entry.Kernel, l *flattest.Launch, text string) error {
	m, err := ptxsim.Load(text)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	f, err := m.Function(k.Entry)
	if err != nil {
		return err
	}
	var memory ptxsim.Memory
	args := make([]byte, f.ArgBytes())
	at := make([]uint64, len(l.Buffers))
	for i, b := range l.Buffers {
		at[i] = memory.Map(b)
	}
	there, maps := 0, 0
	for i, a := range l.Args {
		to := args[f.Params[i].Offset:]
		switch {
		case a.Map != nil:
			ok, err := encodeMap(to, at[a.Buffer], *a.Map)
			if err != nil {
				return err
			}
			if ok {
				there |= 1 << maps
			}
			maps++
		case a.Buffer >= 0:
			binary.LittleEndian.PutUint64(to, at[a.Buffer])
		case maps > 0: // the argument behind them
			binary.LittleEndian.PutUint64(to, uint64(there))
		default:
			binary.LittleEndian.PutUint64(to, uint64(a.N))
		}
	}
	err = f.Launch(context.Background(), ptxsim.Launch{
		Grid: [3]uint32{uint32(l.Groups), 1, 1}, Block: [3]uint32{uint32(l.Items), 1, 1}, Shared: t.Dynamic(k), Args: args, Memory: &memory,
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// ran has the target that hasRun was first asked for, by text and operands.
var ran sync.Map

// hasRun tells whether kernels have the same text as others, for another target, that
// were run with the same operands, and notes them.
func hasRun(t *testing.T, target ptx.Target, kernels []*entry.Kernel, operands ...[]byte) bool {
	t.Helper()
	h := sha256.New()
	_, entries := texts(t, target, kernels)
	for _, e := range entries {
		h.Write([]byte(e))
	}
	for _, b := range operands {
		h.Write(b)
	}
	first, had := ran.LoadOrStore([sha256.Size]byte(h.Sum(nil)), target)
	return had && first != target // which a test that is repeated runs again
}

// shapes are those of devices: with memory near the group, without, and of
// work-items on their own.
var shapes = map[string]entry.Shape{
	"near":  {Items: 32, Near: 16 << 10},
	"far":   {Items: 16},
	"alone": {Items: 1, Near: 16 << 10},
	"packs": {Items: 64, Near: 16 << 10, Pack: entry.WideBytes},
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

// quick tells that some cases stand for all, for which simulated GPUs take minutes.
func quick() bool { return effort.Now() < effort.CI }

// TestRandomKernels compares kernels of all kinds with the interpreter of loops.
func TestRandomKernels(t *testing.T) {
	count := effort.Of[uint64](20, 20, 60, 100)
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			for seed := range count {
				c := looptest.Random(rand.New(rand.NewPCG(seed, 6)), looptest.Config{WildIndices: true, Op: exact})
				k := shape.Kernel(fmt.Sprint("k", seed), c.Kernel)
				want, got := c.Copy(), c.Copy()
				if err := loop.Interpret(loop.Expand(c.Kernel), want); err != nil {
					t.Fatal(err)
				}
				b, err := flattest.Bind(k, got, 3, 8)
				if err != nil {
					t.Fatal(err)
				}
				if err := run(targets[seed%2], k, &b.Launch); err != nil {
					t.Fatalf("seed %d: %v\n%v\n%v", seed, err, c.Kernel, k.Work)
				}
				b.Results(k, got)
				if err := c.Same(got, want); err != nil {
					t.Fatalf("seed %d: %v\n%v\n%v", seed, err, c.Kernel, k.Work)
				}
			}
		})
	}
}

// productSizes are odd, and multiples of 16 bytes, with blocks that are full, in
// part and several, and sums in several parts.
var productSizes = []flattest.Sizes{
	{Batch: 2, Rows: 65, Cols: 3, K: 17}, {Batch: 1, Rows: 3, Cols: 70, K: 529}, {Batch: 1, Rows: 1, Cols: 1, K: 0},
	{Batch: 1, Rows: 144, Cols: 160, K: 64}, {Batch: 2, Rows: 128, Cols: 32, K: 1040}, {Batch: 3, Rows: 16, Cols: 16, K: 16},
	{Batch: 1, Rows: 5, Cols: 132, K: 1028},
}

// TestProducts compares products by tiles with the sums that they mean: bit for
// bit, as narrow floats are whole numbers whose sums are exact in any order.
func TestProducts(t *testing.T) {
	for nth, target := range targets {
		for n, d := range []ir.DType{ir.F32, ir.F64, ir.BF16, ir.F16, ir.I32, ir.U8, ir.I8, ir.I64} {
			if quick() && (n+nth)%2 > 0 {
				continue
			}
			for way, turned := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v %v turned %v", target, d, turned), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(7, 0))
					for i, s := range productSizes {
						large := i == 4 && effort.Now() < effort.Long && (n+way)%2 > 0
						if (i < 4 || i == 6 || d.Size() <= 2) && !large && (!quick() || i == 3+3*((n+way)%2)) {
							testProduct(t, rng, target, d, s, turned, false)
						}
					}
				})
			}
		}
	}
}

// TestProductsTF32 does the same for those of f32 that may be rounded: whole
// numbers that have few digits are not.
func TestProductsTF32(t *testing.T) {
	for nth, target := range targets {
		for _, turned := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v turned %v", target, turned), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(7, 1))
				for i, s := range productSizes {
					if !quick() || i == 3+3*(nth%2) {
						testProduct(t, rng, target, ir.F32, s, turned, true)
					}
				}
			})
		}
	}
}

// testProduct compares one product. whole has operands of f32 be whole numbers,
// and lets them be rounded to TF32; those of f16 and bf16 always are.
func testProduct(t *testing.T, rng *rand.Rand, target ptx.Target, d ir.DType, s flattest.Sizes, turned, whole bool) {
	t.Helper()
	testLying(t, rng, target, d, s, turned, turned, whole)
}

// testLying is testProduct, with a way to lie for each operand. It gives the kernel.
func testLying(t *testing.T, rng *rand.Rand, target ptx.Target, d ir.DType, s flattest.Sizes, turnedX, turnedY, whole bool) *entry.Kernel {
	t.Helper()
	return testEdited(t, rng, target, d, s, turnedX, turnedY, whole, func(*template.Gemm) {})
}

// testEdited is testLying of a product that is written otherwise.
func testEdited(t *testing.T, rng *rand.Rand, target ptx.Target, d ir.DType, s flattest.Sizes, turnedX, turnedY, whole bool, edit func(g *template.Gemm)) *entry.Kernel {
	t.Helper()
	g, a := flattest.GemmLying(rng, d, s, turnedX, turnedY)
	edit(g)
	if g.TF32 = whole; whole || d == ir.F16 || d == ir.BF16 {
		for operand, b := range a.Buffers[:2] {
			for i := 0; i < len(b); i += d.Size() {
				v := float64(rng.IntN(9) - 4)
				if whole && operand == 0 { // all digits of TF32, as many as leave sums exact
					v = math.Ldexp(float64(rng.IntN(4095)-2047), -14)
				}
				bits, _ := ir.Bits(d, v)
				for j := range d.Size() {
					b[i+j] = byte(bits >> (8 * j))
				}
			}
		}
	}
	k := target.Shape().Tiled("product", g)
	if hasRun(t, target, []*entry.Kernel{k}, a.Buffers...) {
		return k
	}
	want := slices.Clone(a.Buffers[2])
	if d == ir.F32 || d == ir.F64 {
		meant := *a
		meant.Buffers = [][]byte{a.Buffers[0], a.Buffers[1], want}
		if err := loop.Interpret(k.Work, &meant); err != nil {
			t.Fatal(err)
		}
	} else {
		exactProduct(d, s, turnedX, turnedY, a.Buffers, want)
	}
	a.End = flattest.Tasks(s, k.Tile.Rows, k.Tile.Cols)
	b, err := flattest.Bind(k, a, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(target, k, &b.Launch); err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	b.Results(k, a)
	for i := range a.Buffers[2] {
		if a.Buffers[2][i] != want[i] {
			t.Fatalf("%+v: element %d differs", s, i/d.Size())
		}
	}
	return k
}

// exactProduct multiplies matrices of whole numbers.
func exactProduct(d ir.DType, s flattest.Sizes, turnedX, turnedY bool, in [][]byte, out []byte) {
	numbers := func(b []byte) []int64 {
		all := make([]int64, len(b)/d.Size())
		for i := range all {
			var word [8]byte
			copy(word[:], b[i*d.Size():][:d.Size()])
			bits := binary.LittleEndian.Uint64(word[:])
			if all[i] = ir.Int(d, bits); d.IsFloat() {
				all[i] = int64(ir.Float(d, bits))
			}
		}
		return all
	}
	left, right := numbers(in[0]), numbers(in[1])
	for n := range s.Batch * s.Rows * s.Cols {
		batch, row, col := n/(s.Rows*s.Cols), n/s.Cols%s.Rows, n%s.Cols
		sum := int64(0)
		for k := range s.K {
			x, y := (batch*s.Rows+row)*s.K+k, (batch*s.K+k)*s.Cols+col
			if turnedX {
				x = (batch*s.K+k)*s.Rows + row
			}
			if turnedY {
				y = (batch*s.Cols+col)*s.K + k
			}
			sum += left[x] * right[y]
		}
		v := uint64(sum)
		if d.IsFloat() {
			v, _ = ir.Bits(d, float64(sum))
		}
		for j := range d.Size() {
			out[n*d.Size()+j] = byte(v >> (8 * j))
		}
	}
}
