package loop

import (
	"fmt"
	"math"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// expansions are the functions of one operand that Expand writes out: the
// reference, the error in ulp that none of the 2^32 arguments exceeds, and how
// many operations an element costs.
var expansions = []struct {
	op  ir.Op
	ref func(float64) float64
	ulp float64
	ops int
}{
	{ir.Exp, math.Exp, 0.9, 13},
	{ir.Exp2, math.Exp2, 0.9, 12},
	{ir.Expm1, math.Expm1, 1.6, 18},
	{ir.Log, math.Log, 1.1, 26},
	{ir.Log2, math.Log2, 1.88, 26},
	{ir.Log1p, math.Log1p, 1.3, 24},
	{ir.Sin, math.Sin, 1.2, 89},
	{ir.Cos, math.Cos, 1.5, 87},
	{ir.Atan, math.Atan, 1.6, 18},
	{ir.Tanh, math.Tanh, 1.97, 19},
	{ir.Erf, math.Erf, 1.75, 22},
}

const (
	powULP = 1.8
	powOps = 84
)

// expansion is op of type d expanded, of as many locals as it takes.
func expansion(op ir.Op, d ir.DType, arity int) (*Expr, []*Local) {
	args := make([]*Expr, arity)
	locals := make([]*Local, arity)
	for i := range args {
		locals[i] = &Local{Name: fmt.Sprint("x", i), DType: d}
		args[i] = locals[i].Ref()
	}
	return expand(Apply(op, d, args...)), locals
}

func compile(t testing.TB, op ir.Op, d ir.DType, arity int) *program {
	t.Helper()
	e, locals := expansion(op, d, arity)
	p, err := newProgram(e, locals...)
	if err != nil {
		t.Fatalf("%v of %v: %v", op, d, err)
	}
	return p
}

// ulps is how far got is from want, which was computed in float64, in units of
// the last place of want as a float32. Beyond the largest float32 it counts on
// as if there were one exponent more.
func ulps(got float32, want float64) float64 {
	g := float64(got)
	switch {
	case math.IsNaN(want) || math.IsNaN(g):
		if math.IsNaN(want) && math.IsNaN(g) {
			return 0
		}
		return math.Inf(1)
	case g == want && math.Signbit(g) == math.Signbit(want):
		return 0
	case math.Signbit(g) != math.Signbit(want) || want == 0 || math.IsInf(want, 0):
		return math.Inf(1)
	}
	const beyond = 0x1p128
	g, want = max(-beyond, min(g, beyond)), max(-beyond, min(want, beyond))
	_, e := math.Frexp(want)
	return math.Abs(g-want) / math.Ldexp(1, max(e, -125)-24)
}

// worst is the largest error seen.
type worst struct {
	ulp  float64
	x, y float32
	got  float32
	want float64
}

func (w worst) String() string {
	return fmt.Sprintf("%.3f ulp at %x, %x: %v, not %v", w.ulp, w.x, w.y, w.got, w.want)
}

func (w *worst) see(x, y, got float32, want float64) {
	if u := ulps(got, want); u > w.ulp {
		*w = worst{u, x, y, got, want}
	}
}

// sweep tries every step-th bit pattern from lo up to hi.
func (p *program) sweep(ref func(float64) float64, lo, hi, step uint64, w *worst) {
	for b := lo; b < hi; {
		n := 0
		for ; n < blockSize && b < hi; n++ {
			p.in[0][n] = uint32(b)
			b += step
		}
		p.run(n)
		for i, x := range p.in[0][:n] {
			w.see(fl(x), 0, fl(p.out[i]), ref(float64(fl(x))))
		}
	}
}

// thresholds are where something changes for some function: the ends of
// clamps, of overflow and underflow, of reductions and of polynomials.
var thresholds = []float32{
	0, 0x1p-149, 0x1p-126, 0x1p-24, 0x1p-12, 0.25, 0x1.62e43p-2, 0.5, 0x1.6a09e6p-1, 0.75, 0x1.555556p-1, 1, 0x1.555556p0, 0x1.6a09e6p0, 1.5, 2, math.E,
	math.Pi / 4, math.Pi / 2, math.Pi, 2 * math.Pi, 3.92, 4, 8.32, 9.01, 10, 16.6, 17.33, 25, 88.02969, 88.72284, 89, 103.27893, 103.97208, 104, 126, 127, 128, 129, 149, 150, 151,
	0x1p23, 0x1p24, 0x1p44, 0x1p86, 0x1p127, math.MaxFloat32, float32(math.Inf(1)),
}

func TestExpandSampled(t *testing.T) {
	for _, f := range expansions {
		t.Run(f.op.String(), func(t *testing.T) {
			p := compile(t, f.op, ir.F32, 1)
			var w worst
			p.sweep(f.ref, 0, 1<<32, 24593, &w)
			for _, x := range thresholds {
				for _, sign := range []uint64{0, 1 << 31} {
					b := uint64(fb(x)) | sign
					p.sweep(f.ref, max(b, 200)-200, min(b+200, 1<<32), 1, &w)
				}
			}
			if w.ulp > f.ulp {
				t.Errorf("more than %v: %v", f.ulp, w)
			}
		})
	}
}

// TestExpandHugeAngles looks more closely at what the reduction is for, and at
// those nearest to multiples of pi/2, which are known from trying all.
func TestExpandHugeAngles(t *testing.T) {
	near := []float32{0x1.f37c8ap95, 0x1.47d0fep34, 0x1.f9cbe2p7, 0x1.32ede2p85, 0x1.628d4cp40, 0x1.13093p76, 0x1.b08c4ap111}
	for _, f := range expansions {
		if f.op != ir.Sin && f.op != ir.Cos {
			continue
		}
		p := compile(t, f.op, ir.F32, 1)
		var w worst
		for e := uint64(127 + 20); e < 255; e++ {
			p.sweep(f.ref, e<<23, (e+1)<<23, 16001, &w)
		}
		for _, x := range near {
			for _, x := range []float32{x / 4, x / 2, x, x * 2, x * 4} {
				b := uint64(fb(x))
				p.sweep(f.ref, b, b+1, 1, &w)
			}
		}
		if w.ulp > f.ulp {
			t.Errorf("%v: more than %v: %v", f.op, f.ulp, w)
		}
	}
}

// TestExpandExact has the values that must come out exactly, as IEEE 754 and
// C99 have them.
func TestExpandExact(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	type value struct {
		op      ir.Op
		x, want float64
	}
	both := []value{
		{ir.Exp, 0, 1}, {ir.Exp, zero, 1}, {ir.Exp, -inf, 0}, {ir.Exp, inf, inf}, {ir.Exp, nan, nan},
		{ir.Exp2, 0, 1}, {ir.Exp2, 10, 1024}, {ir.Exp2, 127, 0x1p127}, {ir.Exp2, -149, 0x1p-149}, {ir.Exp2, -inf, 0},
		{ir.Expm1, 0, 0}, {ir.Expm1, zero, zero}, {ir.Expm1, -inf, -1}, {ir.Expm1, inf, inf}, {ir.Expm1, nan, nan},
		{ir.Log, 0, -inf}, {ir.Log, zero, -inf}, {ir.Log, 1, 0}, {ir.Log, -1, nan}, {ir.Log, -inf, nan}, {ir.Log, inf, inf}, {ir.Log, nan, nan},
		{ir.Log2, 0, -inf}, {ir.Log2, 1, 0}, {ir.Log2, 8, 3}, {ir.Log2, 0x1p-149, -149}, {ir.Log2, 0x1p127, 127}, {ir.Log2, -2, nan}, {ir.Log2, inf, inf},
		{ir.Log1p, 0, 0}, {ir.Log1p, zero, zero}, {ir.Log1p, -1, -inf}, {ir.Log1p, -2, nan}, {ir.Log1p, inf, inf}, {ir.Log1p, nan, nan},
		{ir.Sin, 0, 0}, {ir.Sin, zero, zero}, {ir.Sin, inf, nan}, {ir.Sin, -inf, nan}, {ir.Sin, nan, nan}, {ir.Sin, 0x1p-149, 0x1p-149},
		{ir.Cos, 0, 1}, {ir.Cos, zero, 1}, {ir.Cos, 0x1p-149, 1}, {ir.Cos, inf, nan}, {ir.Cos, nan, nan},
		{ir.Atan, 0, 0}, {ir.Atan, zero, zero}, {ir.Atan, inf, math.Pi / 2}, {ir.Atan, -inf, -math.Pi / 2}, {ir.Atan, nan, nan},
		{ir.Tanh, 0, 0}, {ir.Tanh, zero, zero}, {ir.Tanh, inf, 1}, {ir.Tanh, -inf, -1}, {ir.Tanh, 20, 1}, {ir.Tanh, nan, nan},
		{ir.Erf, 0, 0}, {ir.Erf, zero, zero}, {ir.Erf, inf, 1}, {ir.Erf, -inf, -1}, {ir.Erf, nan, nan},
		{ir.Recip, 0, inf}, {ir.Recip, zero, -inf}, {ir.Recip, -inf, zero}, {ir.Recip, 4, 0.25},
	}
	narrow := []value{{ir.Exp2, 128, inf}, {ir.Exp2, -150, 0}, {ir.Erf, 5, 1}}
	wide := []value{
		{ir.Exp, 709.782712893384, 0x1.fffffffffff2ap1023}, {ir.Exp, 709.7827128933841, inf}, {ir.Exp, -745.1332191019411, 0x1p-1074}, {ir.Exp, -745.1332191019412, 0},
		{ir.Exp2, 128, 0x1p128}, {ir.Exp2, 1023, 0x1p1023}, {ir.Exp2, 1024, inf}, {ir.Exp2, -1074, 0x1p-1074}, {ir.Exp2, -1075, 0}, {ir.Exp2, math.MaxFloat64, inf},
		{ir.Expm1, 0x1p-1074, 0x1p-1074}, {ir.Expm1, -0x1p-1074, -0x1p-1074}, {ir.Expm1, 709.7827128933841, inf}, {ir.Log2, 0x1p-1074, -1074}, {ir.Log2, 0x1p1023, 1023},
		{ir.Log1p, 0x1p-1074, 0x1p-1074}, {ir.Sin, -0x1p-1074, -0x1p-1074}, {ir.Atan, -0x1p-1074, -0x1p-1074}, {ir.Tanh, 0x1p-1074, 0x1p-1074}, {ir.Erf, 0x1p-1074, 0x1p-1074}, {ir.Erf, 6, 1},
	}
	for _, c := range append(narrow, both...) {
		p := compile(t, c.op, ir.F32, 1)
		p.in[0][0] = fb(float32(c.x))
		p.run(1)
		if got, want := p.out[0], fb(float32(c.want)); got != want && !(math.IsNaN(c.want) && fl(got) != fl(got)) {
			t.Errorf("%v(%v) is %v, not %v", c.op, c.x, fl(got), c.want)
		}
	}
	for _, c := range append(wide, both...) {
		p := compile64(t, c.op, 1)
		p.in[0][0] = math.Float64bits(c.x)
		p.run(1)
		if got := math.Float64frombits(p.out[0]); p.out[0] != math.Float64bits(c.want) && !(math.IsNaN(c.want) && got != got) {
			t.Errorf("%v(%v) of f64 is %v, not %v", c.op, c.x, got, c.want)
		}
	}
}

// TestExpandBounded: what a sine, tanh or erf may not exceed, it does not by
// rounding either.
func TestExpandBounded(t *testing.T) {
	for _, op := range []ir.Op{ir.Sin, ir.Cos, ir.Tanh, ir.Erf} {
		p := compile(t, op, ir.F32, 1)
		for b := uint64(fb(0.5)); b < uint64(fb(1000)); {
			for i := range blockSize {
				p.in[0][i] = uint32(b)
				b += 1601
			}
			p.run(blockSize)
			for i, y := range p.out {
				if fl(y) > 1 || fl(y) < -1 {
					t.Fatalf("%v(%v) is %v", op, fl(p.in[0][i]), fl(y))
				}
			}
		}
		wide := compile64(t, op, 1)
		for k := range 40 {
			for i := range blockSize {
				wide.in[0][i] = math.Float64bits(math.Pi/2*float64(k) + float64(i-blockSize/2)*0x1p-30)
			}
			wide.run(blockSize)
			for i, b := range wide.out {
				if y := math.Float64frombits(b); y > 1 || y < -1 {
					t.Fatalf("%v(%v) of f64 is %v", op, math.Float64frombits(wide.in[0][i]), y)
				}
			}
		}
	}
}
