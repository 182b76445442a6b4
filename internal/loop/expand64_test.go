package loop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// expansions64 are the functions of f64: the reference, the error in ulp that no
// argument is known to exceed, and how many operations an element costs.
var expansions64 = []struct {
	op  ir.Op
	ref func(x float64) near
	ulp float64
	ops int
}{
	{ir.Exp, func(x float64) near { return expRef(twice(max(-3000, min(x, 3000)))) }, 1, 42},
	{ir.Exp2, exp2Ref, 1.3, 35},
	{ir.Expm1, expm1Of, 1.6, 44},
	{ir.Log, func(x float64) near { return near{logRef(twice(x)), 0} }, 0.9, 42},
	{ir.Log2, func(x float64) near { return near{log2Ref(x), 0} }, 0.85, 52},
	{ir.Log1p, func(x float64) near { return near{log1pRef(x), 0} }, 1.4, 44},
	{ir.Sin, func(x float64) near { return near{angleRef(x, 0), 0} }, 1.5, 210},
	{ir.Cos, func(x float64) near { return near{angleRef(x, 1), 0} }, 1.5, 208},
	{ir.Atan, func(x float64) near { return near{atanRef(x), 0} }, 1.05, 48},
	{ir.Tanh, func(x float64) near { return near{tanhRef(x), 0} }, 1.5, 71},
	{ir.Erf, erfRef, 1.6, 79},
}

const (
	pow64ULP = 1.5
	pow64Ops = 197
)

// program64 evaluates an expanded expression over blocks, as program does.
type program64 struct {
	steps []func(n int)
	in    [][]uint64
	out   []uint64
}

func compile64(t testing.TB, op ir.Op, arity int) *program64 {
	t.Helper()
	e, locals := expansion(op, ir.F64, arity)
	p := &program64{in: make([][]uint64, arity)}
	at := map[*Expr][]uint64{}
	e.Walk(func(e *Expr) {
		out := make([]uint64, blockSize)
		at[e] = out
		switch e.Kind {
		case KindLocal:
			for i, l := range locals {
				if l == e.Local {
					p.in[i] = out
				}
			}
			return
		case KindConst:
			for i := range out {
				out[i] = e.Bits
			}
			return
		}
		x := at[e.Args[0]]
		y, z := x, x
		if len(e.Args) > 1 {
			y = at[e.Args[1]]
		}
		if len(e.Args) > 2 {
			z = at[e.Args[2]]
		}
		f := Scalar(e.Op, e.Args[0].DType, e.DType)
		if f == nil {
			t.Fatalf("no step for %v of %v", e.Op, e.Args[0].DType)
		}
		p.steps = append(p.steps, func(n int) {
			for i := range n {
				out[i] = f(x[i], y[i], z[i])
			}
		})
	})
	p.out = at[e]
	return p
}

func (p *program64) run(n int) {
	for _, s := range p.steps {
		s(n)
	}
}

// ulps64 is how far got is from want in units of the last place of want. Beyond
// the largest float64 both count as the next power of two.
func ulps64(got float64, want near) float64 {
	x := want.x.hi
	if math.IsNaN(got) || math.Signbit(got) != math.Signbit(x) || (got == 0) != (x == 0) && math.Abs(x) > 1 && want.n > -1000 {
		return math.Inf(1)
	}
	_, e := math.Frexp(x)
	e += want.n
	if e > 1024 {
		want, e = near{twice(math.Copysign(1, x)), 1024}, 1024
	}
	place := max(e, -1021) - 53
	g := math.Ldexp(got, -place)
	if math.IsInf(got, 0) {
		g = math.Copysign(math.Ldexp(1, 1024-place), got)
	}
	return math.Abs(twice(g).minus(want.x.scaled(want.n - place)).hi)
}

// worst64 is the largest error seen.
type worst64 struct {
	ulp       float64
	x, y, got float64
}

func (w worst64) String() string {
	return fmt.Sprintf("%.3f ulp at %x, %x: %v", w.ulp, w.x, w.y, w.got)
}

func (w *worst64) see(x, y, got float64, want near) {
	if u := ulps64(got, want); u > w.ulp || u != u {
		*w = worst64{u, x, y, got}
	}
}

// domain tells whether the reference has a value at x.
func domain(op ir.Op, x float64) bool {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || x == 0:
		return false
	case op == ir.Log || op == ir.Log2:
		return x > 0
	case op == ir.Log1p:
		return x > -1
	}
	return true
}

// try computes f at all xs.
func (p *program64) try(op ir.Op, ref func(float64) near, xs []float64, w *worst64) {
	for len(xs) > 0 {
		n := min(len(xs), blockSize)
		for i, x := range xs[:n] {
			p.in[0][i] = math.Float64bits(x)
		}
		p.run(n)
		for i, x := range xs[:n] {
			if domain(op, x) {
				w.see(x, 0, math.Float64frombits(p.out[i]), ref(x))
			}
		}
		xs = xs[n:]
	}
}

// arguments64 are n random arguments: of any bits, of middling size, near 1 and
// near multiples of pi/4 or ln2/2, where reductions change, and small.
func arguments64(r *rand.Rand, n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		x := 0.0
		switch i % 8 {
		case 0:
			x = math.Float64frombits(r.Uint64())
		case 1:
			x = (r.Float64() - 0.5) * 1500
		case 2:
			x = 1 + (r.Float64()-0.5)*math.Ldexp(1, -r.IntN(52))
		case 3:
			x = math.Pi / 4 * float64(r.IntN(200)) * (1 + (r.Float64()-0.5)*math.Ldexp(1, -r.IntN(53)))
		case 4:
			x = math.Ln2 / 2 * float64(r.IntN(200)-100) * (1 + (r.Float64()-0.5)*math.Ldexp(1, -r.IntN(53)))
		case 5:
			x = math.Ldexp(r.Float64()-0.5, r.IntN(60)-50)
		case 6:
			x = (r.Float64() - 0.5) * 3
		default:
			x = (r.Float64() - 0.5) * 14
		}
		xs[i] = x
	}
	return xs
}

// thresholds64 are what thresholds is for f32.
var thresholds64 = []float64{
	0x1p-1074, 0x1p-1022, 0x1p-54, 0x1p-53, 0x1p-27, 0.25, 0.375, 0x1.62e42fefa39efp-2, 0.5, 0.55, 0.6, 0x1.6a09e667f3bcdp-1, 1, 1.0625, 1.25, 0x1.6a09e667f3bcdp0, 1.5, 0x1.aaaaaaaaaaaabp0, 2,
	math.Pi / 4, math.Pi / 2, math.Pi, 2 * math.Pi, 5.86, 5.92, 5.9375, 18, 19.06, 22, 36.7, 37.4, 40, 708.3964, 709.782712893384, 710, 745.1332191019411, 745.13, 746,
	1022, 1023, 1024, 1025, 1074, 1075, 1076, 0x1p52, 0x1p53, 0x1p54, 0x1p150, 0x1p248, 0x1p346, 0x1p444, 0x1p542, 0x1p640, 0x1p738, 0x1p836, 0x1p934, 0x1p1023, math.MaxFloat64,
}

// edges64 are the thresholds and their neighbours.
func edges64() (xs []float64) {
	for _, x := range thresholds64 {
		b := math.Float64bits(x)
		for d := max(b, 50) - 50; d < b+50; d++ {
			xs = append(xs, math.Float64frombits(d), -math.Float64frombits(d))
		}
	}
	return xs
}

func expand64Random(t *testing.T, n int, seed uint64) {
	for _, f := range expansions64 {
		t.Run(f.op.String(), func(t *testing.T) {
			p := compile64(t, f.op, 1)
			var w worst64
			p.try(f.op, f.ref, edges64(), &w)
			p.try(f.op, f.ref, arguments64(rand.New(rand.NewPCG(seed, 64)), n), &w)
			t.Log(w)
			if !(w.ulp <= f.ulp) {
				t.Errorf("more than %v: %v", f.ulp, w)
			}
		})
	}
}

func TestExpand64(t *testing.T) { expand64Random(t, effort.Of(15_000, 15_000, 40_000, 40_000), 1) }

// TestReference64 compares the reference with values of mpmath, to 700 digits.
func TestReference64(t *testing.T) {
	for _, c := range []struct {
		op   ir.Op
		x    float64
		want twofold
	}{
		{ir.Exp, 0.7, twofold{0x1.01c2a61268987p+1, -0x1.ce82f8a77f530p-53}},
		{ir.Exp, -33.3, twofold{0x1.f165bb9b59d94p-49, 0x1.b56f661e02463p-105}},
		{ir.Exp, 300.1, twofold{0x1.ef839024b01d7p+432, -0x1.f8f598492969ep+378}},
		{ir.Exp2, 0.3, twofold{0x1.3b2c47bff8329p+0, -0x1.497d7d4b14dddp-55}},
		{ir.Exp2, -77.7, twofold{0x1.3b2c47bff831ep-78, -0x1.522729da6b098p-135}},
		{ir.Exp2, 1000.9, twofold{0x1.ddb680117aa8ep+1000, -0x1.966dfb916d538p+946}},
		{ir.Expm1, 1e-09, twofold{0x1.12e0be84bbb51p-30, -0x1.709a9c30d68a7p-84}},
		{ir.Expm1, 0.4, twofold{0x1.f7a0e4beeff80p-2, 0x1.fc9f8bcb72b62p-59}},
		{ir.Expm1, -3.7, twofold{-0x1.f357701cbc77ep-1, 0x1.d03a69f55da07p-57}},
		{ir.Expm1, 50.5, twofold{0x1.cf65319c5751ap+72, 0x1.b230755d45840p+17}},
		{ir.Log, 0.9999, twofold{-0x1.a3738d2cf1cc2p-14, 0x1.3694792ff3a76p-68}},
		{ir.Log, 3.3, twofold{0x1.31a4e7240c777p+0, -0x1.e738f3f0a3f4bp-55}},
		{ir.Log, 1e-310, twofold{-0x1.64e69394d9508p+9, -0x1.35918fe61c196p-47}},
		{ir.Log, 1e+300, twofold{0x1.5963447f87fb5p+9, 0x1.abccc0710fcd4p-46}},
		{ir.Log2, 1.001, twofold{0x1.7a013faca698fp-10, -0x1.e4765be0f28e3p-64}},
		{ir.Log2, 0.1, twofold{-0x1.a934f0979a371p+1, -0x1.8cf4b5a4471ddp-54}},
		{ir.Log2, 1e+200, twofold{0x1.4c315bf6707b1p+9, -0x1.b5101a9be796ap-45}},
		{ir.Log1p, 1e-09, twofold{0x1.12e0be801f1d9p-30, 0x1.73146f77b063ap-84}},
		{ir.Log1p, -0.7, twofold{-0x1.34378fcbda720p+0, 0x1.e2d2b46fa8d23p-55}},
		{ir.Log1p, 0.4, twofold{0x1.588c2d9133490p-2, -0x1.115a67a6d2606p-58}},
		{ir.Log1p, 12345.6, twofold{0x1.2d79f234ab651p+3, -0x1.4e6c4617cb4d5p-52}},
		{ir.Sin, 0.5, twofold{0x1.eaee8744b05f0p-2, -0x1.789b43c9b027dp-58}},
		{ir.Sin, 3.14159, twofold{0x1.6428a6aa44cd0p-19, 0x1.2adb045dcbd41p-73}},
		{ir.Sin, 1e+22, twofold{-0x1.b453ab76bf397p-1, -0x1.f453790772648p-58}},
		{ir.Sin, 1.7e+308, twofold{-0x1.30c567d277075p-1, 0x1.d02010ce3f790p-56}},
		{ir.Cos, 1.6, twofold{-0x1.de67ac55f1633p-6, 0x1.ea94089cc5b92p-62}},
		{ir.Cos, 5.319372648326541e+255, twofold{-0x1.14ae72e6ba22fp-61, 0x1.73eef1477d90ep-118}},
		{ir.Cos, 1e+100, twofold{0x1.d9757496841f5p-1, 0x1.33eb4677577a7p-56}},
		{ir.Atan, 1e-08, twofold{0x1.5798ee2308c3ap-27, -0x1.9ca58cce0be35p-82}},
		{ir.Atan, 0.3, twofold{0x1.2a73a661eaf06p-2, -0x1.2f6c1b5c5f02cp-56}},
		{ir.Atan, 1.1, twofold{0x1.aa7c8545183cdp-1, 0x1.13c7f9e32346bp-56}},
		{ir.Atan, 77.7, twofold{0x1.8ed44e3384d23p+0, -0x1.20fdc32cf733dp-55}},
		{ir.Atan, 1e+30, twofold{0x1.921fb54442d18p+0, 0x1.1a62633145bb6p-54}},
		{ir.Tanh, 1e-06, twofold{0x1.0c6f7a0b5e767p-20, -0x1.f45f0be84ab16p-76}},
		{ir.Tanh, 0.3, twofold{0x1.2a4dda7d914fap-2, -0x1.dcaef7d34268ap-58}},
		{ir.Tanh, 1.9, twofold{0x1.e997f4c3bcd48p-1, -0x1.5737c7744ec9ap-55}},
		{ir.Tanh, 15.5, twofold{0x1.ffffffffffd94p-1, -0x1.21e24d3afdc18p-56}},
		{ir.Erf, 1e-12, twofold{0x1.3d9c49b6a903ep-40, -0x1.3320489a0bec7p-96}},
		{ir.Erf, 0.3, twofold{0x1.50838881dea0fp-2, 0x1.a6952c4883ab9p-56}},
		{ir.Erf, 1.2, twofold{0x1.d214ac7b2d067p-1, 0x1.39567bb818696p-55}},
		{ir.Erf, 3.3, twofold{0x1.ffff9966790c8p-1, 0x1.3b517ec6c0fffp-55}},
		{ir.Erf, 5.5, twofold{0x1.fffffffffffbep-1, -0x1.182b326b228dcp-55}},
	} {
		for _, f := range expansions64 {
			if f.op != c.op {
				continue
			}
			got := f.ref(c.x)
			if off := got.x.scaled(got.n).minus(c.want).hi; !(math.Abs(off) <= 0x1p-90*math.Abs(c.want.hi)) {
				t.Errorf("%v(%v) is off by %v", c.op, c.x, off/c.want.hi)
			}
		}
	}
}
