package sinter

import (
	"context"
	"slices"
	"testing"
)

// What simplifies to an assignment that stands beside it is a value of its own: the
// next run writes over the variable, not over it.
func TestResultsThatSimplifyToAssignments(t *testing.T) {
	resultsThatSimplifyToAssignments(t, open(t, "interp"))
	onBoth(t, resultsThatSimplifyToAssignments)
}

func resultsThatSimplifyToAssignments(t *testing.T, d *Device) {
	ctx := context.Background()
	assigned := map[string]int{"times one": 0, "before it": 1, "twice": 0, "with others": 1}
	for name, others := range map[string]func(a Tensor) []Tensor{
		"times one":   func(a Tensor) []Tensor { return []Tensor{a, a.Mul(Scalar(1))} },
		"before it":   func(a Tensor) []Tensor { return []Tensor{a.Mul(Scalar(1)), a} },
		"twice":       func(a Tensor) []Tensor { return []Tensor{a, a.Neg().Neg(), a.Reshape(2, 4).Reshape(8), a} },
		"with others": func(a Tensor) []Tensor { return []Tensor{a.Mul(Scalar(1)), a, a.Mul(Scalar(2)), a.Sum()} },
	} {
		v := NewVariable("v", Of([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 8))
		x := Input("x", F32, N(8))
		outs := others(v.Assign(v.Tensor().Add(x)))
		p, err := Compile(Capture(outs...), Options{Device: d, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		one := Of(slices.Repeat([]float32{1}, 8), 8)
		var kept [][]Tensor
		for range 4 {
			results, err := p.Run(ctx, map[string]Tensor{"x": one})
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, results)
		}
		for run, results := range kept {
			for i, r := range results {
				got, err := Values[float32](ctx, r)
				if err != nil {
					t.Fatal(err)
				}
				want := float32(run + 1)
				switch {
				case outs[i] == outs[assigned[name]]: // the variable itself, as it is now
					want = 4
				case len(got) == 1:
					want = 28 + 8*want
				case name == "with others" && i == 2:
					want *= 2
				}
				if got[0] != want {
					t.Errorf("%s: result %d of run %d begins with %v, want %v", name, i, run, got[0], want)
				}
			}
		}
		if got, err := Values[float32](ctx, v.Tensor()); err != nil || got[0] != 4 || got[7] != 11 {
			t.Errorf("%s: the variable is %v, %v", name, got, err)
		}
		_ = p.Close()
	}
}
