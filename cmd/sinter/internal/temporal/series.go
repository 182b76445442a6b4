// Package temporal is a benchmark of learning from a series whose best
// prediction is known: an autoregression with a hidden regime and impulses,
// nets that predict the class or the value of its next step, and predictors
// that know more or less of how it came about.
package temporal

import (
	"math/rand/v2"
)

// What the series is made of.
const (
	flip     = 0.02   // probability that the regime changes before a step
	keep     = 0.8    // share of the last value that the next begins with
	rising   = 0.02   // drift in regime 0
	falling  = -0.015 // in regime 1
	every    = 37     // steps from one impulse to the next
	impulse  = 0.9    // added to what the next step begins with
	boundary = 0.25   // between the middle class and the others
)

// source is the random numbers of a series. *rand.Rand is one.
type source interface {
	Float64() float64     // uniform in [0, 1)
	NormFloat64() float64 // standard normal
}

// Series is a simulated one, by step.
type Series struct {
	Values  []float64
	Regimes []uint8 // in force at the step: 0 or 1
}

// Simulate makes as many steps as asked, the same for the same seed.
func Simulate(seed uint64, sigma float64, steps int) Series {
	// The second word only has to be some constant: the golden ratio's bits.
	return simulate(rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)), sigma, steps)
}

func simulate(from source, sigma float64, steps int) Series {
	s := Series{make([]float64, steps), make([]uint8, steps)}
	var last float64
	var regime uint8
	for t := range steps {
		if from.Float64() < flip {
			regime = 1 - regime
		}
		// Conversions forbid fused multiply-adds, which some processors would
		// use: a seed is the same series everywhere.
		v := float64(keep*last) + drift(regime) + float64(sigma*from.NormFloat64())
		s.Values[t], s.Regimes[t] = v, regime
		last = v
		if t%every == 0 {
			last += impulse
		}
	}
	return s
}

func drift(regime uint8) float64 {
	if regime == 0 {
		return rising
	}
	return falling
}

// Classes of a value.
const (
	Low = iota
	Middle
	High
	Classes = 3
)

// ClassOf is the class of a value.
func ClassOf(v float64) int {
	switch {
	case v < -boundary:
		return Low
	case v > boundary:
		return High
	}
	return Middle
}
