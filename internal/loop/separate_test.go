package loop_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// index is a random index of v, w and a batch.
func index(rng *rand.Rand, vars []*loop.Var, depth int) *loop.Expr {
	leaf := func() *loop.Expr {
		switch n := rng.IntN(len(vars) + 3); n {
		case 0:
			return loop.Int(rng.IntN(9) - 2)
		case 1:
			return loop.SizeOf(ir.Sym("n", 1, 9))
		default:
			return vars[min(n-2, len(vars)-1)].Ref()
		}
	}
	if depth == 0 {
		return leaf()
	}
	x := index(rng, vars, depth-1)
	switch rng.IntN(6) {
	case 0, 1:
		return loop.Apply(ir.Add, ir.I64, x, index(rng, vars, depth-1))
	case 2:
		return loop.Apply(ir.Sub, ir.I64, x, index(rng, vars, depth-1))
	case 3:
		return loop.Apply(ir.Mul, ir.I64, x, leaf())
	case 4:
		return loop.Apply(ir.IDiv, ir.I64, x, loop.Int(1+rng.IntN(5)))
	}
	return loop.Apply(ir.Mod, ir.I64, x, loop.Int(1+rng.IntN(5)))
}

func eval(t *testing.T, e *loop.Expr, at map[*loop.Var]int) int {
	t.Helper()
	n, err := loop.EvalIndex(e, ir.Env{"n": 7}, func(v *loop.Var) int64 { return int64(at[v]) })
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// TestSeparate has the parts of random indices make up the whole.
func TestSeparate(t *testing.T) {
	v, w, batch := &loop.Var{Name: "v"}, &loop.Var{Name: "w"}, &loop.Var{Name: "b"}
	rng := rand.New(rand.NewPCG(1, 2))
	separate, both := 0, 0
	for range 20_000 {
		e := index(rng, []*loop.Var{v, w, batch}, 1+rng.IntN(4))
		rest, byV, byW, ok := loop.Separate(e, v, w)
		if !ok {
			continue
		}
		separate++
		if e.Uses(v) && e.Uses(w) {
			both++
		}
		if rest.Uses(v) || rest.Uses(w) || byV.Uses(w) || byV.Uses(batch) || byW.Uses(v) || byW.Uses(batch) {
			t.Fatalf("%v, %v and %v have other variables", rest, byV, byW)
		}
		for range 5 {
			at := map[*loop.Var]int{v: rng.IntN(40), w: rng.IntN(40), batch: rng.IntN(4)}
			if got, want := eval(t, rest, at)+eval(t, byV, at)+eval(t, byW, at), eval(t, e, at); got != want {
				t.Fatalf("the parts make %d, the whole is %d", got, want)
			}
		}
	}
	t.Logf("%d separate, %d of them with both", separate, both)
	if both < 1000 {
		t.Error("too few have both variables")
	}
}

// TestValues compares runs with single values.
func TestValues(t *testing.T) {
	v, w := &loop.Var{Name: "v"}, &loop.Var{Name: "w"}
	rng := rand.New(rand.NewPCG(3, 4))
	long := 0
	for range 20_000 {
		e := index(rng, []*loop.Var{v}, 1+rng.IntN(4))
		n := rng.IntN(60)
		got, err := loop.ValuesOf(e, v, n, ir.Env{"n": 7})
		if err != nil {
			t.Fatal(err)
		}
		if n > 20 && got.Length > 2 && got.Length < n {
			long++
		}
		for i := range n {
			if want := eval(t, e, map[*loop.Var]int{v: i}); got.At(i) != want {
				t.Fatalf("%d of %d is %d, want %d: %+v", i, n, got.At(i), want, got)
			}
		}
	}
	if long < 500 {
		t.Errorf("%d have runs", long)
	}
	// As of windows of a volume, whose sides a run knows.
	side := loop.SizeOf(ir.Sym("n", 1, 9))
	for _, e := range []*loop.Expr{
		loop.Apply(ir.IDiv, ir.I64, loop.Apply(ir.Mod, ir.I64, v.Ref(), loop.Int(9)), loop.Int(3)),
		loop.Apply(ir.Mod, ir.I64, loop.Apply(ir.IDiv, ir.I64, v.Ref(), loop.Int(3)), loop.Int(3)),
		loop.Apply(ir.Add, ir.I64, loop.Apply(ir.Mul, ir.I64, loop.Apply(ir.IDiv, ir.I64, v.Ref(), side), loop.Int(9)), loop.Apply(ir.Mod, ir.I64, v.Ref(), side)),
	} {
		if got, err := loop.ValuesOf(e, v, 63, ir.Env{"n": 7}); err != nil || got.Length < 3 || len(got.Begins) > 21 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := loop.ValuesOf(loop.Apply(ir.Mod, ir.I64, v.Ref(), loop.SizeOf(ir.Sym("m", 1, 9))), v, 3, ir.Env{}); err == nil {
		t.Error("a size without a value is taken for one")
	}
	if got, err := loop.ValuesOf(w.Ref(), v, 3, nil); err != nil || got.At(2) != 0 {
		t.Errorf("of another variable: %v, %v", got, err)
	}
}
