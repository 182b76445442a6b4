package temporal

import (
	"math"
	"testing"
)

// The references' accuracies are known: the oracle's from the definition of the
// benchmark, the others from 20 series of another generator.
func TestReferences(t *testing.T) {
	for _, c := range []struct {
		sigma, oracle, regime, last float64
	}{
		{0.3, 0.678, 0.663, 0.663},
		{0.15, 0.784, 0.762, 0.750},
	} {
		var sums [3]float64
		const seeds = 20
		for seed := range uint64(seeds) {
			r, err := NewRows(seed+1, c.sigma, 100_000)
			if err != nil {
				t.Fatal(err)
			}
			all := Span{0, r.Count}
			for i, p := range []Predictor{Oracle, Regime, LastValue} {
				sums[i] += p.Hits(r, all).Mean() / seeds
			}
		}
		for i, want := range []float64{c.oracle, c.regime, c.last} {
			if !(math.Abs(sums[i]-want) <= 0.003) {
				t.Errorf("sigma %v: reference %d is right in %.4f, want %v", c.sigma, i, sums[i], want)
			}
		}
		t.Logf("sigma %v: oracle %.4f, regime predictor %.4f, last value %.4f", c.sigma, sums[0], sums[1], sums[2])
	}
}

func TestOracleIsExactWithoutNoise(t *testing.T) {
	r, err := NewRows(5, 0, 400)
	if err != nil {
		t.Fatal(err)
	}
	all := Span{0, r.Count}
	if e := Oracle.Errors(r, all).Mean(); !(e <= 1e-30) {
		t.Errorf("without noise the oracle is off by %v", e)
	}
	if e := Regime.Errors(r, all).Mean(); !(e >= 0.01) {
		t.Errorf("the regime predictor is off by %v, though it knows no impulse", e)
	}
}

// At the edge of the middle class the narrow class loses to the wide one.
func TestLikeliest(t *testing.T) {
	for _, c := range []struct {
		mean, sigma float64
		want        int
	}{{0.24, 0.3, High}, {0.24, 0.15, Middle}, {-0.24, 0.3, Low}, {0, 0.3, Middle}, {0.01, 5, High}, {0.3, 0, High}} {
		if got := likeliest(c.mean, c.sigma); got != c.want {
			t.Errorf("around %v with noise %v class %d is the likeliest, want %d", c.mean, c.sigma, got, c.want)
		}
	}
}

func TestAgainst(t *testing.T) {
	d := Outcome{1, 1, 0, 1}.Against(Outcome{1, 0, 0, 1})
	// Differences 0, 1, 0, 0: mean 1/4, variance 1/4.
	if d.Mean != 0.25 || !(math.Abs(d.Error-0.25) <= 1e-15) {
		t.Errorf("got %v ± %v, want 0.25 ± 0.25", d.Mean, d.Error)
	}
}
