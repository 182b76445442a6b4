package ptxsim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// fragments says, as the figures of the language's manual do, where element i of
// a lane is in matrices that mma.sync multiplies: g is lane/4, t is lane%4.
type fragments struct {
	shape        string
	rows, k      int
	as, bs       string // types
	bits         int
	aRow, aCol   func(g, t, i int) int
	bRow         func(t, i int) int // its column is g
	aLen, bLen   int                // elements of a lane
	low, highest int                // values to multiply
}

// pick is x where cond holds, else y.
func pick(cond bool, x, y int) int {
	if cond {
		return x
	}
	return y
}

var manual = []fragments{
	{"m16n8k8", 16, 8, "f16", "f16", 16,
		func(g, _, i int) int { return pick(i < 2, g, g+8) }, func(_, t, i int) int { return t*2 + i&1 },
		func(t, i int) int { return t*2 + i }, 4, 2, -4, 4},
	{"m16n8k16", 16, 16, "bf16", "bf16", 16,
		func(g, _, i int) int { return pick(i < 2 || i >= 4 && i < 6, g, g+8) }, func(_, t, i int) int { return t*2 + i&1 + pick(i >= 4, 8, 0) },
		func(t, i int) int { return t*2 + i&1 + pick(i >= 2, 8, 0) }, 8, 4, -4, 4},
	{"m16n8k8", 16, 8, "tf32", "tf32", 32,
		func(g, _, i int) int { return g + 8*(i&1) }, func(_, t, i int) int { return t + 4*(i>>1) },
		func(t, i int) int { return t + 4*i }, 4, 2, -4, 4},
	{"m8n8k16", 8, 16, "u8", "s8", 8,
		func(g, _, _ int) int { return g }, func(_, t, i int) int { return t*4 + i },
		func(t, i int) int { return t*4 + i }, 4, 4, 0, 127},
	{"m16n8k32", 16, 32, "s8", "u8", 8,
		func(g, _, i int) int { return pick(i < 4 || i >= 8 && i < 12, g, g+8) }, func(_, t, i int) int { return t*4 + i&3 + pick(i >= 8, 16, 0) },
		func(t, i int) int { return t*4 + i&3 + pick(i >= 4, 16, 0) }, 16, 8, 0, 127},
}

// TestMultiply compares mma.sync with sums of products.
func TestMultiply(t *testing.T) {
	for _, f := range manual {
		t.Run(f.shape+" "+f.as, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, uint64(f.k)))
			a, b := make([][]int, f.rows), make([][]int, f.k)
			for i := range a {
				a[i] = values(rng, f.k, f.low, f.highest)
			}
			for i := range b {
				b[i] = values(rng, 8, f.low, f.highest)
			}
			const words = 8 // of a lane, for A, B and C
			in := make([]uint32, 32*words)
			put := func(lane, first, i int, v uint64) {
				at := i * f.bits
				in[lane*words+first+at/32] |= uint32(v) << (at % 32)
			}
			for lane := range 32 {
				g, q := lane/4, lane%4
				for i := range f.aLen {
					put(lane, 0, i, encode(f.as, a[f.aRow(g, q, i)][f.aCol(g, q, i)]))
				}
				for i := range f.bLen {
					put(lane, 4, i, encode(f.bs, b[f.bRow(q, i)][g]))
				}
			}
			got, err := execute(t, f.program(), 1, 32, in)
			if err != nil {
				t.Fatal(err)
			}
			for lane := range 32 {
				for i := range f.rows / 4 {
					row, col := lane/4+pick(i >= 2, 8, 0), lane%4*2+i&1
					want := 1 // what C holds
					for k := range f.k {
						want += a[row][k] * b[k][col]
					}
					if v := int(int32(got[lane*words+i])); v != want {
						t.Fatalf("lane %d, result %d: %d, not %d", lane, i, v, want)
					}
				}
			}
		})
	}
}

func values(rng *rand.Rand, n, low, highest int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = low + rng.IntN(highest-low+1)
	}
	return all
}

func encode(kind string, v int) uint64 {
	d := map[string]ir.DType{"f16": ir.F16, "bf16": ir.BF16, "u8": ir.U8, "s8": ir.I8, "tf32": ir.F32}[kind]
	bits, _ := ir.Bits(d, float64(v)) // small numbers fit
	return bits
}

// program has each lane load its fragments, four words of A and as many of B, and
// store its results as whole numbers. C is 1 everywhere.
func (f *fragments) program() string {
	var s strings.Builder
	s.WriteString("\tmad.lo.u32 %r6, %r0, 32, 0;\n\tcvt.u64.u32 %rd6, %r6;\n\tadd.u64 %rd7, %rd0, %rd6;\n\tadd.u64 %rd8, %rd1, %rd6;\n")
	for i := range 8 {
		fmt.Fprintf(&s, "\tld.global.u32 %%r%d, [%%rd7+%d];\n", 10+i, 4*i)
	}
	list := func(prefix string, first, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("%%%s%d", prefix, first+i))
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	sums, kind, n := "f", "f32", f.rows/4
	for i := range n {
		fmt.Fprintf(&s, "\tmov.f32 %%f%d, 0f3F800000;\n\tmov.u32 %%r%d, 1;\n", i, 20+i)
	}
	first := 0
	if f.bits == 8 {
		sums, kind, first = "r", "s32", 20
	}
	c := list(sums, first, n)
	fmt.Fprintf(&s, "\tmma.sync.aligned.%s.row.col.%s.%s.%s.%s %s, %s, %s, %s;\n", f.shape, kind, f.as, f.bs, kind,
		c, list("r", 10, f.aLen*f.bits/32), list("r", 14, f.bLen*f.bits/32), c)
	for i := range n {
		if f.bits > 8 {
			fmt.Fprintf(&s, "\tcvt.rzi.s32.f32 %%r%d, %%f%d;\n", 20+i, i)
		}
		fmt.Fprintf(&s, "\tst.global.u32 [%%rd8+%d], %%r%d;\n", 4*i, 20+i)
	}
	return s.String()
}

// What has more digits than TF32 is refused where it was not rounded before.
func TestMultiplyRounded(t *testing.T) {
	body := func(round string) string {
		return `	mul.wide.u32 %rd6, %r0, 4;
	add.u64 %rd7, %rd0, %rd6;
	ld.global.u32 %r6, [%rd7];
` + round + `	mov.f32 %f0, 0f00000000;
	mov.f32 %f1, 0f00000000;
	mov.f32 %f2, 0f00000000;
	mov.f32 %f3, 0f00000000;
	mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r6, %r6, %r6, %r6}, {%r6, %r6}, {%f0, %f1, %f2, %f3};
`
	}
	for _, x := range []float32{1 + 0x1p-11, 1 + 0x1p-10, 3e38, float32(math.NaN()), float32(math.Inf(1))} {
		in := make([]uint32, 32)
		for i := range in {
			in[i] = math.Float32bits(1)
		}
		in[5] = math.Float32bits(x)
		if _, err := execute(t, body(""), 1, 32, in); (err != nil) != (x == x && ir.RoundTF32(x) != x) {
			t.Errorf("%v as it is: %v", x, err)
		}
		if _, err := execute(t, body("\tcvt.rna.tf32.f32 %r6, %r6;\n"), 1, 32, in); err != nil {
			t.Errorf("%v rounded: %v", x, err)
		}
	}
}

// TestLoadMatrix has four matrices of 8 x 8 numbers, of which number row*8+col of
// matrix m is m*64+row*8+col.
func TestLoadMatrix(t *testing.T) {
	for _, trans := range []bool{false, true} {
		name := ""
		if trans {
			name = ".trans"
		}
		// Each lane stores a row of 16 bytes, where it then has ldmatrix look.
		body := `	shl.b32 %r6, %r0, 3;
	shl.b32 %r7, %r0, 4;
	add.u32 %r7, %r4, %r7;
`
		for i := range 4 {
			body += fmt.Sprintf("\tadd.u32 %%r8, %%r6, %d;\n\tadd.u32 %%r9, %%r6, %d;\n\tshl.b32 %%r9, %%r9, 16;\n\tor.b32 %%r8, %%r8, %%r9;\n\tst.shared.u32 [%%r7+%d], %%r8;\n", 2*i, 2*i+1, 4*i)
		}
		body += "\tbar.sync 0;\n\tldmatrix.sync.aligned.m8n8.x4" + name + ".shared.b16 {%r10, %r11, %r12, %r13}, [%r7];\n"
		body += "\tmul.wide.u32 %rd6, %r0, 16;\n\tadd.u64 %rd6, %rd1, %rd6;\n\tst.global.v4.u32 [%rd6], {%r10, %r11, %r12, %r13};\n"
		got, err := execute(t, body, 1, 32, make([]uint32, 128))
		if err != nil {
			t.Fatal(err)
		}
		for lane := range 32 {
			for m := range 4 {
				for e := range 2 {
					row, col := lane/4, lane%4*2+e
					if trans {
						row, col = col, row
					}
					if v, want := int(got[4*lane+m]>>(16*e)&0xffff), m*64+row*8+col; v != want {
						t.Fatalf("%s lane %d, matrix %d: %d, not %d", name, lane, m, v, want)
					}
				}
			}
		}
	}
}
