package temporal

import (
	"math"
	"testing"
)

// script is random numbers written down.
type script struct{ uniform, normal []float64 }

func (s *script) Float64() float64 {
	v := s.uniform[0]
	s.uniform = s.uniform[1:]
	return v
}

func (s *script) NormFloat64() float64 {
	v := s.normal[0]
	s.normal = s.normal[1:]
	return v
}

// Five steps by hand. Step 0 is followed by an impulse, the regime changes
// before steps 2 and 3.
func TestSeriesByHand(t *testing.T) {
	from := &script{[]float64{0.5, 0.02, 0.0199, 0, 0.9}, []float64{1, -2, 0.5, 0, 3}}
	s := simulate(from, 0.3, 5)
	want := []float64{
		0.02 + 0.3,
		0.8*(0.32+0.9) + 0.02 - 0.6, // 0.396
		0.8*0.396 - 0.015 + 0.15,    // 0.4518
		0.8*0.4518 + 0.02,           // 0.38144
		0.8*0.38144 + 0.02 + 0.9,    // 1.225152
	}
	regimes := []uint8{0, 0, 1, 0, 0}
	for i := range want {
		if !(math.Abs(s.Values[i]-want[i]) <= 1e-12) || s.Regimes[i] != regimes[i] {
			t.Errorf("step %d: %v in regime %d, want %v in %d", i, s.Values[i], s.Regimes[i], want[i], regimes[i])
		}
	}
}

// The impulse comes with every 37th step, and the seed alone decides the rest.
func TestSimulate(t *testing.T) {
	s := Simulate(3, 0, 80)
	for at, v := range s.Values[1:] {
		rise := v - keep*s.Values[at] - drift(s.Regimes[at+1])
		want := 0.0
		if at%every == 0 {
			want = keep * impulse
		}
		if !(math.Abs(rise-want) <= 1e-12) {
			t.Errorf("step %d rises by %v, want %v", at+1, rise, want)
		}
	}
	again, other := Simulate(3, 0.3, 50), Simulate(4, 0.3, 50)
	if first := Simulate(3, 0.3, 50); first.Values[49] != again.Values[49] || first.Values[49] == other.Values[49] {
		t.Error("the seed does not decide the series")
	}
}

func TestClassOf(t *testing.T) {
	for v, want := range map[float64]int{-0.26: Low, -0.25: Middle, 0: Middle, 0.25: Middle, 0.2501: High} {
		if got := ClassOf(v); got != want {
			t.Errorf("%v is of class %d, want %d", v, got, want)
		}
	}
}
