package loop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

const staggerSoftmax = `kernel "softmax"
symbol M 0 1000
param x f32[M*40] read
param e f32[40] scratch
param y f32[M*40] write
for global r < size(M) {
	top = f32(-inf)
	for vector c < 40 {
		top max= x[r*40 + c]
	}
	total = f32(0)
	for vector c < 40 {
		e[c] = exp(x[r*40 + c] - top)
		total add= exp(x[r*40 + c] - top)
	}
	scale = recip(total)
	for vector c < 40 {
		y[r*40 + c] = e[c]*scale
	}
}`

// staggerNorm is a layer norm of a sum that is a result as well, as are the means.
const staggerNorm = `kernel "norm"
symbol M 0 1000
param x f32[M*40] read
param y f32[M*40] read
param shift f32[M] read
param g f32[40] read
param sums f32[M*40] write
param means f32[M] write
param z f32[M*40] write
for global r < size(M) {
	d = shift[r]
	s = f32(0)
	for vector c < 40 {
		t = x[r*40 + c] + y[r*40 + c]
		sums[r*40 + c] = t
		s add= t
	}
	mean = s*f32(0.025) + d
	means[r] = mean
	q = f32(0)
	for vector c < 40 {
		t = x[r*40 + c] + y[r*40 + c] - mean
		q add= t*t
	}
	scale = recip(sqrt(q))
	for vector c < 40 {
		z[r*40 + c] = (sums[r*40 + c] - mean)*scale*g[c] + d
	}
}`

// staggerLate reads a row of scratch in another order than it was filled, while
// the first pass is at the row after the next, and once more behind all passes.
const staggerLate = `kernel "late"
symbol M 0 1000
param x f32[M*40] read
param e f32[40] scratch
param y f32[M*40] write
param last f32[M] write
for global r < size(M) {
	m = f32(0)
	for vector c < 40 {
		e[c] = x[r*40 + c]
		m add= x[r*40 + c]
	}
	q = f32(0)
	for vector c < 40 {
		q add= x[r*40 + c] - m
	}
	for vector c < 40 {
		y[r*40 + c] = e[INDEX]*q
	}
	last[r] = e[3]
}`

// staggerRefused are kernels that Stagger must leave alone, and why.
var staggerRefused = map[string]string{
	"one pass": `kernel "k"
param x f32[64] read
param y f32[64] write
for global r < 8 { for vector c < 8 { y[r*8 + c] = x[r*8 + c] } }`,
	"it changes what it reads": `kernel "k"
param x f32[64] update
for global r < 8 {
	m = f32(0)
	for vector c < 8 { m add= x[r*8 + c] }
	for vector c < 8 { x[r*8 + c] = m }
}`,
	"two passes store to one param": `kernel "k"
param x f32[64] read
param y f32[64] write
for global r < 8 {
	for vector c < 8 { y[r*8 + c] = x[r*8 + c] }
	m = f32(0)
	for vector c < 8 { m add= y[r*8 + c] }
	for vector c < 8 { y[r*8 + c] = m }
}`,
	"a result that is stored twice": `kernel "k"
param x f32[64] read
param y f32[64] write
param z f32[64] write
for global r < 8 {
	y[r*8] = f32(0)
	for vector c < 8 { y[r*8 + c] = x[r*8 + c] }
	m = y[r*8]
	for vector c < 8 { z[r*8 + c] = m }
}`,
	"no columns": `kernel "k"
param x f32[64] read
param z f32[64] write
for global r < 8 {
	m = f32(1)
	for vector c < 0 { m add= x[r*8 + c] }
	for vector c < 8 { z[r*8 + c] = m }
}`,
	"of another length": `kernel "k"
param x f32[64] read
param y f32[32] write
for global r < 8 {
	m = f32(0)
	for vector c < 8 { m add= x[r*8 + c] }
	for vector c < 4 { y[r*4 + c] = m }
}`,
	"a length that is not constant": `kernel "k"
symbol N 0 100
param x f32[N*8] read
param y f32[N*8] write
for global r < 8 {
	m = f32(0)
	for vector c < size(N) { m add= x[r*size(N) + c] }
	for vector c < size(N) { y[r*size(N) + c] = m }
}`,
	"an index that may be wrong": `kernel "k"
param x f32[64] read
param i i64[8] read
param y f32[64] write
for global r < 8 {
	m = f32(0)
	for vector c < 8 { m add= x[index(i[r], 8, 0)*8 + c] }
	for vector c < 8 { y[r*8 + c] = m }
}`,
	"an address that is computed": `kernel "k"
param x f32[64] read
param i i64[8] read
param y f32[64] write
for global r < 8 {
	m = f32(0)
	for vector c < 8 { m add= x[r*8 + c] }
	for vector c < 8 { y[r*8 + c] = m + x[i[r]] }
}`,
	"a divisor that is computed": `kernel "k"
param x i32[64] read
param y i32[64] write
for global r < 8 {
	m = i32(1)
	for vector c < 8 { m max= x[r*8 + c] }
	for vector c < 8 { y[r*8 + c] = idiv(x[r*8 + c], m) }
}`,
	"a condition that is computed": `kernel "k"
param x f32[64] read
param y f32[64] write
for global r < 8 {
	m = f32(0)
	for vector c < 8 { m max= x[r*8 + c] }
	for vector c < 8 { y[r*8 + c ? x[r*8 + c] < m] = m }
}`,
	"a loop inside a pass": `kernel "k"
param x f32[64] read
param y f32[64] write
for global r < 8 {
	m = f32(0)
	for vector c < 8 {
		s = f32(0)
		for serial i < 8 { s add= x[i*8 + c] }
		m add= s
	}
	for vector c < 8 { y[r*8 + c] = m }
}`,
	"no rows": `kernel "k"
param x f32[8] read
param y f32[8] write
m = f32(0)
for vector c < 8 { m add= x[c] }
for vector c < 8 { y[c] = m }`,
}

func parseKernel(t *testing.T, text string) *Kernel {
	t.Helper()
	k, err := Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return k
}

// runFloats interprets k over random values; it gives what it wrote, by name.
func runFloats(t *testing.T, k *Kernel, env ir.Env) map[string]string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	a := &Args{Sizes: env, Status: make([]int64, k.Slots)}
	for _, p := range k.Params {
		n, err := p.Len.Eval(env)
		if err != nil {
			t.Fatal(err)
		}
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(math.NaN())
			if p.Use == Read {
				v[i] = float32(rng.NormFloat64())
			}
		}
		a.Buffers = append(a.Buffers, f32Bytes(v...))
	}
	lo, hi, err := k.Span(env)
	if err != nil {
		t.Fatal(err)
	}
	a.Start, a.End = lo, hi
	if err := Interpret(k, a); err != nil {
		t.Fatalf("%v\n%v", err, k)
	}
	written := map[string]string{}
	for i, p := range k.Params {
		if p.Use == Write {
			written[p.Name] = string(a.Buffers[i])
		}
	}
	return written
}

// checkStagger compares k with what Stagger makes of it.
func checkStagger(t *testing.T, k *Kernel, block int, rows ...int) *Kernel {
	t.Helper()
	staggered, named := Stagger(k, block)
	if staggered == nil || len(named) == 0 {
		t.Fatalf("left alone:\n%v", k)
	}
	if err := Check(staggered); err != nil {
		t.Fatalf("%v\n%v", err, staggered)
	}
	if again := parseKernel(t, staggered.String()); again.String() != staggered.String() {
		t.Fatalf("does not print as it reads:\n%v", staggered)
	}
	for _, m := range rows {
		env := ir.Env{"M": m}
		want, got := runFloats(t, k, env), runFloats(t, staggered, env)
		for name := range want {
			if want[name] != got[name] {
				t.Fatalf("%d rows in blocks of %d: %s differs\n%v\n%v", m, block, name, k, staggered)
			}
		}
	}
	return staggered
}

func TestStagger(t *testing.T) {
	inOrder, reversed := strings.Replace(staggerLate, "INDEX", "c", 1), strings.Replace(staggerLate, "INDEX", "39 - c", 1)
	for _, text := range []string{staggerSoftmax, staggerNorm, inOrder, reversed} {
		for _, block := range []int{1, 2, 5, 64} {
			checkStagger(t, parseKernel(t, text), block, 0, 1, 2, 4, 5, 6, 11, 64, 65)
		}
	}
}

// All passes are in one loop, which reads each argument once: the others find
// its values in scratch, as they do what one pass leaves to the next.
func TestStaggerReadsOnce(t *testing.T) {
	for text, scratch := range map[string]int{staggerSoftmax: 2, staggerNorm: 1} {
		k := parseKernel(t, text)
		s := checkStagger(t, k, 8, 20)
		printed := s.String()
		if n := strings.Count(printed, "for vector"); n != 1 {
			t.Errorf("%d passes:\n%s", n, printed)
		}
		if n := strings.Count(printed, " scratch"); n != scratch {
			t.Errorf("%d params are scratch, want %d:\n%s", n, scratch, printed)
		}
		loads := map[*Expr]bool{}
		s.WalkExprs(func(e *Expr) {
			if e.Kind == KindLoad && s.Params[e.Param].Name == "x" {
				loads[e] = true
			}
		})
		if len(loads) != 1 {
			t.Errorf("x is read at %d places:\n%s", len(loads), printed)
		}
	}
}

func TestStaggerRefuses(t *testing.T) {
	for name, text := range staggerRefused {
		if staggered, _ := Stagger(parseKernel(t, text), 4); staggered != nil {
			t.Errorf("%s: changed to\n%v", name, staggered)
		}
	}
}

// randomPasses writes a kernel of two to four passes. Each accumulates, and the
// others read what came before: sums, scratch, results and the arguments.
func randomPasses(rng *rand.Rand) string {
	passes := 2 + rng.IntN(3)
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	values := []string{"x[r*7 + c]", "y[r*7 + c]", "g[c]", "x[r*7 + c]*y[r*7 + c]", "d"}
	var params, body strings.Builder
	body.WriteString("\td = y[r*7]\n")
	for p := range passes {
		if p > 0 && rng.IntN(2) == 0 {
			fmt.Fprintf(&body, "\tv%d = a%d*f32(0.5)\n", p, rng.IntN(p))
			values = append(values, fmt.Sprintf("v%d", p))
		}
		fmt.Fprintf(&body, "\ta%d = f32(0)\n\tfor vector c < 7 {\n\t\tt = %s - %s\n", p, pick(values), pick(values))
		if rng.IntN(2) == 0 {
			fmt.Fprintf(&body, "\t\tt = t*(%s)\n", pick(values))
		}
		sum := "t"
		if use := rng.IntN(4); use < 2 || p == passes-1 {
			kind, at, length := "scratch", "c", "7"
			if use == 1 || p == passes-1 {
				kind, at, length = "write", "r*7 + c", "M*7"
			}
			fmt.Fprintf(&params, "param o%d f32[%s] %s\n", p, length, kind)
			fmt.Fprintf(&body, "\t\to%d[%s] = t + %s\n", p, at, pick(values))
			stored := fmt.Sprintf("o%d[%s]", p, at)
			values, sum = append(values, stored), pick([]string{"t", stored})
		}
		fmt.Fprintf(&body, "\t\ta%d %s= %s\n", p, pick([]string{"add", "max"}), sum)
		body.WriteString("\t}\n")
		values = append(values, fmt.Sprintf("a%d", p))
	}
	fmt.Fprintf(&body, "\tlast[r] = a%d\n", rng.IntN(passes))
	return "kernel \"random\"\nsymbol M 0 1000\nparam x f32[M*7] read\nparam y f32[M*7] read\nparam g f32[7] read\n" +
		params.String() + "param last f32[M] write\nfor global r < size(M) {\n" + body.String() + "}\n"
}

func TestStaggerRandom(t *testing.T) {
	for seed := range uint64(300) {
		k := parseKernel(t, randomPasses(rand.New(rand.NewPCG(seed, 3))))
		checkStagger(t, k, 1+int(seed%5), 1, 3, 7)
	}
}
