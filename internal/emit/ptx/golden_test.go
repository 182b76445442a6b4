package ptx_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

var update = flag.Bool("update", false, "write the golden files")

// softmax is a kernel of groups: reductions, memory between passes, an index that
// data tells.
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
		kept[d] = exp(x[row*48 + d] - top)
		total add= exp(x[row*48 + d] - top)
	}
	for vector e < 48 {
		y[r*48 + e] = cast.bf16(kept[e]/total)
	}
}
`

// integers is a kernel of one thread an iteration.
const integers = `kernel "integers"
param x i32[9] read
param y i32[9] update
param z u8[9] read
for global i < 9 {
	y[i ? i < 7] = mod(max(x[i], shl(y[i], x[8 - i])), i32(7)) + cast.i32(z[i ? 2 < i])
}
`

func loops(t *testing.T, target ptx.Target, text string) *entry.Kernel {
	t.Helper()
	k, err := loop.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return target.Shape().Kernel("k", k)
}

func gemm(target ptx.Target, d ir.DType) *entry.Kernel {
	g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), d, flattest.Sizes{Batch: 1, Rows: 5, Cols: 100, K: 600}, false)
	return target.Shape().Gemm("k", g)
}

// gemmTF32 is gemm of f32 that may be rounded.
func gemmTF32(target ptx.Target, d ir.DType) *entry.Kernel {
	g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), d, flattest.Sizes{Batch: 1, Rows: 5, Cols: 100, K: 600}, false)
	g.TF32 = true
	return target.Shape().Gemm("k", g)
}

// TestGolden shows what kernels of all kinds become; -update writes the files
// anew.
func TestGolden(t *testing.T) {
	turing, ampere := targets[0], targets[1]
	for _, c := range []struct {
		name   string
		target ptx.Target
		kernel *entry.Kernel
	}{
		{"softmax", ampere, loops(t, ampere, softmax)},
		{"integers", ampere, loops(t, ampere, integers)},
		{"product_bf16_sm80", ampere, gemm(ampere, ir.BF16)},
		{"product_tf32_sm80", ampere, gemmTF32(ampere, ir.F32)},
		{"product_i8_sm75", turing, gemm(turing, ir.I8)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := ptx.Write(c.target, []*entry.Kernel{c.kernel})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", c.name+".ptx")
			if *update {
				if err := os.WriteFile(file, []byte(p.Source), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if p.Source != string(want) {
				t.Errorf("the listing has changed; if that is meant, run the test with -update\n%s", p.Source)
			}
		})
	}
}

// TestInstructions counts those that a product on units for matrices is made of: a
// stage has 2 steps of 16 by 4 matrices, in the loop that copies and in the one
// that computes operands.
func TestInstructions(t *testing.T) {
	for _, c := range []struct {
		target ptx.Target
		dtype  ir.DType
		gemm   func(ptx.Target, ir.DType) *entry.Kernel
		want   map[string]int
	}{
		{targets[1], ir.BF16, gemm, map[string]int{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32": 64, "ldmatrix.sync": 24, "cp.async.cg": 8}},
		{targets[0], ir.F16, gemm, map[string]int{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32": 128, "ldmatrix.sync": 24, "cp.async": 0, "ld.global.nc.v4": 8}},
		{targets[1], ir.I8, gemm, map[string]int{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32": 32, "ldmatrix.sync": 12}}, // Y lies by columns: no bytes can be copied as they are
		{targets[0], ir.BF16, gemm, map[string]int{"mma.sync": 0}},
		// X lies by k in the loop that copies, both in the other.
		{targets[1], ir.F32, gemmTF32, map[string]int{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32": 64, "cvt.rna.tf32.f32": 96, "ldmatrix.sync": 20, "ld.shared.b32": 16, "cp.async.cg": 8}},
		{targets[0], ir.F32, gemmTF32, map[string]int{"mma.sync": 0, "tf32": 0}},
	} {
		p, err := ptx.Write(c.target, []*entry.Kernel{c.gemm(c.target, c.dtype)})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range c.want {
			if n := strings.Count(p.Source, name); n != want {
				t.Errorf("%v %v: %d instructions %s, not %d", c.target, c.dtype, n, name, want)
			}
		}
	}
}

// GPUs that are too old are refused; what an older driver does not take is not
// written for it, nor what a newer GPU does not run.
func TestTargetFor(t *testing.T) {
	for _, c := range []struct{ major, minor, driver, want int }{
		{7, 0, 12040, 0}, {7, 5, 12040, 75}, {8, 0, 12040, 80}, {8, 9, 12040, 80},
		{9, 0, 12000, 90}, {9, 0, 12030, 90}, {9, 0, 12040, 90}, {9, 0, 13000, 90}, {9, 0, 11080, 80}, {10, 0, 12080, 80}, {12, 0, 13000, 80},
	} {
		target, err := ptx.TargetFor(c.major, c.minor, c.driver)
		if err != nil != (c.want == 0) || target.SM != c.want {
			t.Errorf("%+v: %v, %v", c, target, err)
		}
		if target.SM == 90 && (target.NoMixed != (c.driver < 12040) || target.Version() != map[bool]string{true: "8.0", false: "8.4"}[target.NoMixed]) {
			t.Errorf("%+v: %+v, version %s", c, target, target.Version())
		}
	}
}
