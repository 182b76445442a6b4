package ir

import (
	"math"
	"math/rand/v2"
	"testing"
)

var (
	symA = Sym("A", 0, 9)
	symB = Sym("B", 1, 7)
	symN = Sym("N", 2, 40)
)

func TestDimCanonicalForm(t *testing.T) {
	tests := []struct {
		d    Dim
		want string
	}{
		{Dim{}, "0"},
		{N(-3), "-3"},
		{symA, "A"},
		{symA.Plus(1), "A+1"},
		{symA.Neg(), "-A"},
		{symB.Add(symA), "A+B"},
		{symA.Sub(symA), "0"},
		{symA.Mul(symB).Add(symN).Plus(-2), "A*B+N-2"},
		{symB.Mul(symA).Mul(N(-3)), "-3*A*B"},
		{symA.Plus(1).Mul(symA.Plus(-1)), "A*A-1"},
		{symA.Plus(1).Mul(symA.Plus(1)), "A*A+2*A+1"},
		{symA.Mul(N(0)), "0"},
		{symN.Mul(N(2)).Sub(symB), "-B+2*N"},
	}
	for _, tt := range tests {
		if got := tt.d.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// poly draws a polynomial by operations, and its value under env beside it.
func poly(rng *rand.Rand, env Env, depth int) (Dim, int) {
	if depth == 0 {
		switch k := rng.IntN(5); k {
		case 0, 1:
			n := rng.IntN(9) - 4
			return N(n), n
		default:
			s := []Dim{symA, symB, symN}[k-2]
			v, _ := s.Eval(env)
			return s, v
		}
	}
	d, x := poly(rng, env, depth-1)
	e, y := poly(rng, env, rng.IntN(depth))
	switch rng.IntN(4) {
	case 0:
		return d.Add(e), x + y
	case 1:
		return d.Sub(e), x - y
	case 2:
		return d.Plus(y), x + y
	}
	return d.Mul(e), x * y
}

// Whatever way a polynomial was made, it has the value that its making says,
// lies within its bounds, is divided exactly by its factors, and comes back
// from its text.
func TestDimArithmeticByEvaluation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := parser{symbols: map[string]Symbol{}}
	for _, d := range []Dim{symA, symB, symN} {
		s, _ := d.Symbol()
		p.symbols[s.Name] = s
	}
	for range 20000 {
		env := Env{"A": rng.IntN(10), "B": 1 + rng.IntN(7), "N": 2 + rng.IntN(39)}
		d, want := poly(rng, env, rng.IntN(4))
		if got, err := d.Eval(env); err != nil || got != want {
			t.Fatalf("%v at %v is %d (%v), want %d", d, env, got, err, want)
		}
		if lo, hi := d.Bounds(); int64(want) < lo || int64(want) > hi {
			t.Fatalf("%v at %v is %d, outside its bounds %d and %d", d, env, want, lo, hi)
		}
		again, err := p.parseDim(d.String())
		if err != nil || !again.Equal(d) {
			t.Fatalf("%v reads back as %v: %v", d, again, err)
		}
		e, _ := poly(rng, env, rng.IntN(3))
		if q, ok := d.Mul(e).Div(e); e.Equal(N(0)) == ok || ok && !q.Equal(d) {
			t.Fatalf("(%v)*(%v)/(%v) = %v, %v", d, e, e, q, ok)
		}
		if q, ok := d.Div(e); ok && !q.Mul(e).Equal(d) {
			t.Fatalf("(%v)/(%v) = %v does not multiply back", d, e, q)
		}
		if sum := d.Add(e); !sum.Equal(e.Add(d)) || !sum.Sub(e).Equal(d) {
			t.Fatalf("%v + %v = %v does not come apart", d, e, sum)
		}
		if !d.Mul(e).Equal(e.Mul(d)) {
			t.Fatalf("%v * %v does not commute", d, e)
		}
	}
}

func TestDimDiv(t *testing.T) {
	tests := []struct {
		d, e Dim
		want string // empty: does not divide
	}{
		{N(12), N(4), "3"},
		{N(12), N(5), ""},
		{N(12), N(0), ""},
		{N(0), N(5), "0"},
		{N(math.MinInt64), N(-1), "9223372036854775807"}, // saturates
		{symA.Mul(N(6)), N(3), "2*A"},
		{symA.Mul(N(6)).Plus(1), N(3), ""},
		{symA.Mul(symA).Plus(-1), symA.Plus(1), "A-1"},
		{symA.Mul(symB), symN, ""},
		{symA, symA.Mul(symB), ""},
	}
	for _, tt := range tests {
		q, ok := tt.d.Div(tt.e)
		if ok != (tt.want != "") || ok && q.String() != tt.want {
			t.Errorf("(%v)/(%v) = %v, %v; want %q", tt.d, tt.e, q, ok, tt.want)
		}
	}
}

func TestDimParts(t *testing.T) {
	if s, c, ok := symN.Plus(3).SymbolPlus(); !ok || c != 3 || s.Name != "N" || s.Min != 2 || s.Max != 40 {
		t.Errorf("N+3 is %v + %d, %v", s, c, ok)
	}
	for _, d := range []Dim{symN.Mul(N(2)), symN.Add(symA), symN.Mul(symN), N(4)} {
		if s, _, ok := d.SymbolPlus(); ok {
			t.Errorf("%v is taken for %v and a constant", d, s)
		}
	}
	if n, ok := N(5).Const(); !ok || n != 5 || symA.Static() || !symA.Sub(symA).Static() {
		t.Error("constants are not told from symbols")
	}
	got := symN.Mul(symA).Add(symA).Symbols()
	if len(got) != 2 || got[0].Name != "A" || got[1].Name != "N" {
		t.Errorf("symbols of N*A+A: %v", got)
	}
}

// Sums and products that leave int64 saturate, stay saturated, and are errors
// once evaluated, even where a second overflow would bring them back.
func TestDimSaturates(t *testing.T) {
	huge := Sym("H", 1, math.MaxInt64-1)
	h, _ := huge.Symbol()
	env := Env{h.Name: 1 << 62}
	back := huge.Mul(huge).Sub(huge.Mul(huge).Mul(huge)) // +inf - inf
	for _, d := range []Dim{huge.Mul(N(4)), huge.Mul(huge), huge.Mul(huge).Neg(), back, N(math.MaxInt64).Plus(1)} {
		if n, err := d.Eval(env); err == nil {
			t.Errorf("%v evaluates to %d", d, n)
		}
	}
	if lo, hi := back.Bounds(); lo != math.MinInt64 || hi != math.MaxInt64 {
		t.Errorf("bounds of %v are %d and %d", back, lo, hi)
	}
	if lo, hi := huge.Mul(huge).Neg().Bounds(); lo != math.MinInt64 || hi != -1 {
		t.Errorf("bounds of -H*H are %d and %d", lo, hi)
	}
	if _, err := symA.Eval(nil); err == nil {
		t.Error("a symbol without a value evaluates")
	}
	for _, tt := range [][3]int64{{1 << 62, 1 << 62, math.MaxInt64}, {-1 << 62, -1<<62 - 1, math.MinInt64}, {math.MaxInt64, -5, math.MaxInt64}, {3, -5, -2}} {
		if got := addSat(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%d + %d = %d, want %d", tt[0], tt[1], got, tt[2])
		}
	}
	for _, tt := range [][3]int64{{1 << 32, 1 << 32, math.MaxInt64}, {1 << 32, -1 << 32, math.MinInt64}, {math.MinInt64, -1, math.MaxInt64}, {math.MaxInt64, -1, math.MinInt64}, {math.MaxInt64, 0, 0}, {-7, 6, -42}} {
		if got := mulSat(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%d * %d = %d, want %d", tt[0], tt[1], got, tt[2])
		}
	}
}

// TestBoundsOfCommonSymbols: terms that share symbols are not least at once.
func TestBoundsOfCommonSymbols(t *testing.T) {
	n, side := Sym("n", 0, 8), Sym("side", 3, 9)
	for _, c := range []struct {
		d      Dim
		lo, hi int64
	}{
		{n.Mul(side.Plus(-2)), 0, 56},
		{n.Mul(N(5).Sub(side)), -32, 16},
		{n.Mul(side).Sub(side), -9, 63},
		{n.Mul(side.Plus(-2)).Plus(3).Add(Sym("m", 1, 2)), 4, 61},
		{side.Plus(-5).Mul(side.Plus(-5)), 0, 16}, // turns between the ends
		{side.Plus(-3).Mul(side.Plus(-8)), -6, 6}, // beside a half
		{N(7).Sub(side.Plus(-5).Mul(side.Plus(-5))), -9, 7},
		{n.Mul(side.Plus(-2).Mul(side.Plus(-2))), 0, 392},
		{n.Mul(side.Plus(-2)).Mul(side.Plus(-4)), -8, 280},
	} {
		if lo, hi := c.d.Bounds(); lo != c.lo || hi != c.hi {
			t.Errorf("%v is %d to %d, want %d to %d", c.d, lo, hi, c.lo, c.hi)
		}
	}
	// Where corners do not tell, bounds are those of the terms apart.
	if lo, hi := side.Mul(side).Mul(side).Sub(side).Bounds(); lo != 18 || hi != 726 {
		t.Errorf("a third power: %d to %d", lo, hi)
	}
}
