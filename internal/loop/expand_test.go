package loop

import (
	"fmt"
	"math"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// unary is a function to be expanded, its reference and how far from it the
// expansion may be.
type unary struct {
	op  ir.Op
	ref func(float64) float64
	ulp float64
}

var unaries = []unary{
	{ir.Exp, math.Exp, 2},
	{ir.Exp2, math.Exp2, 2},
	{ir.Expm1, math.Expm1, 2},
	{ir.Log, math.Log, 2},
	{ir.Log2, math.Log2, 2},
	{ir.Log1p, math.Log1p, 2},
	{ir.Sin, math.Sin, 2},
	{ir.Cos, math.Cos, 2},
	{ir.Atan, math.Atan, 2},
	{ir.Tanh, math.Tanh, 2},
	{ir.Erf, math.Erf, 2},
}

// compileOp expands op of as many locals as it takes.
func compileOp(op ir.Op, arity int) (*program, error) {
	args := make([]*Expr, arity)
	locals := make([]*Local, arity)
	for i := range args {
		locals[i] = &Local{Name: fmt.Sprint("x", i), DType: ir.F32}
		args[i] = locals[i].Ref()
	}
	return newProgram(expand(Apply(op, ir.F32, args...)), locals...)
}

// ulps is how far got is from want, which was computed in float64, in units of
// the last place of want as a float32. Beyond the largest float32 it counts on
// as if there were more exponents.
func ulps(got float32, want float64) float64 {
	switch {
	case math.IsNaN(want) || got != got:
		if math.IsNaN(want) && got != got {
			return 0
		}
		return math.Inf(1)
	case math.Signbit(want) != math.Signbit(float64(got)):
		return math.Inf(1)
	case want == 0:
		if got == 0 {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(want, 0):
		if float64(got) == want {
			return 0
		}
		return math.Inf(1)
	}
	g := float64(got)
	if math.IsInf(g, 0) {
		g = math.Copysign(0x1p128, g)
	}
	if math.Abs(want) > 0x1p128 {
		want = math.Copysign(0x1p128, want)
	}
	_, e := math.Frexp(want)
	return math.Abs(g-want) / math.Ldexp(1, max(e, -125)-24)
}

// worst is the largest error seen and where.
type worst struct {
	ulp       float64
	x         float32
	got       float32
	want      float64
	specials  int
	evaluated int
}

func (w worst) String() string {
	return fmt.Sprintf("%.3f ulp at %x (%v): %v, not %v; %d values", w.ulp, w.x, w.x, w.got, w.want, w.evaluated)
}

// sweep tries bit patterns from lo to hi, every step-th.
func sweep(p *program, ref func(float64) float64, lo, hi, step uint64, w *worst) {
	for b := lo; b < hi; {
		n := 0
		for ; n < blockSize && b < hi; n++ {
			p.in[0][n] = uint32(b)
			b += step
		}
		p.run(n)
		for i, x := range p.in[0][:n] {
			got, want := fl(p.out[i]), ref(float64(fl(x)))
			w.evaluated++
			if u := ulps(got, want); !(u <= w.ulp) {
				w.ulp, w.x, w.got, w.want = u, fl(x), got, want
			}
		}
	}
}

func TestExpandSampled(t *testing.T) {
	for _, f := range unaries {
		t.Run(f.op.String(), func(t *testing.T) {
			p, err := compileOp(f.op, 1)
			if err != nil {
				t.Fatal(err)
			}
			var w worst
			sweep(p, f.ref, 0, 1<<32, 4099, &w)
			t.Logf("%d ops, %v", len(p.steps), w)
			if w.ulp > f.ulp {
				t.Error(w)
			}
		})
	}
}
