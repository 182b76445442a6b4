package optim

import (
	"encoding/json"
	"math"
)

// Schedule gives the learning rate of a step, counted from 0. It is bound to a
// program's input at each step, so that none compiles anew.
type Schedule func(step int) float64

// Constant is the same rate at every step.
func Constant(rate float64) Schedule { return func(int) float64 { return rate } }

// Cosine falls from rate to least along half a cosine within a number of steps,
// and stays there.
func Cosine(rate, least float64, steps int) Schedule {
	return func(step int) float64 {
		return least + (rate-least)*0.5*(1+math.Cos(math.Pi*progress(step, steps)))
	}
}

// Linear goes from one rate to another within a number of steps.
func Linear(from, to float64, steps int) Schedule {
	return func(step int) float64 { return from + (to-from)*progress(step, steps) }
}

// progress is the share of steps that are done.
func progress(step, steps int) float64 {
	if steps <= 0 {
		return 1
	}
	return min(1, max(0, float64(step)/float64(steps)))
}

// Steps multiplies the rate by factor after every so many steps.
func Steps(rate, factor float64, every int) Schedule {
	return func(step int) float64 { return rate * math.Pow(factor, float64(step/max(1, every))) }
}

// Warmup climbs in a number of steps to what a schedule begins with, which then
// begins: its first step is at a warmup-th of it.
func Warmup(steps int, then Schedule) Schedule {
	return func(step int) float64 {
		if step < steps {
			return then(0) * float64(step+1) / float64(steps)
		}
		return then(step - steps)
	}
}

// OneCycle climbs from most/25 to most in the first 30 % of the steps and falls
// to most/250,000 in the others, both along half a cosine (Smith and Topin,
// 2017, in PyTorch's form).
func OneCycle(most float64, steps int) Schedule {
	const share, start, end = 0.3, 25, 1e4
	steps = max(1, steps) // of none, it is at its end
	peak := share*float64(steps) - 1
	last := float64(steps) - 1
	between := func(from, to, done float64) float64 { return to + (from-to)/2*(1+math.Cos(math.Pi*done)) }
	return func(step int) float64 {
		s := min(float64(max(0, step)), last)
		if s <= peak {
			return between(most/start, most, s/peak)
		}
		return between(most, most/start/end, (s-peak)/(last-peak))
	}
}

// Plateau lowers a rate when what is observed, such as the loss on held-out
// data, stops falling. The zero Plateau is at rate 0.
type Plateau struct {
	Rate     float64 // at present
	Factor   float64 // that the rate is multiplied by; 0: 0.1
	Patience int     // observations without a new least that are waited for
	// Threshold is the share by which an observation must lie below the least
	// before to count; 0: 1e-4.
	Threshold float64
	Least     float64 // that the rate does not go below

	best    float64
	some    bool // best is set
	waiting int
}

// Observe takes a value and gives the rate from here on. What is not finite is no
// improvement.
func (p *Plateau) Observe(value float64) float64 {
	if !p.some || value < p.best-or(p.Threshold, 1e-4)*math.Abs(p.best) {
		if finite := value-value == 0; finite {
			p.best, p.some, p.waiting = value, true, 0
			return p.Rate
		}
	}
	if p.waiting++; p.waiting > p.Patience {
		p.Rate = max(p.Least, p.Rate*or(p.Factor, 0.1))
		p.waiting = 0
	}
	return p.Rate
}

// plateauState is a Plateau as a checkpoint has it.
type plateauState struct {
	Rate, Factor     float64
	Patience         int
	Threshold, Least float64
	Best             float64
	Some             bool
	Waiting          int
}

// MarshalJSON keeps what was observed beside the settings.
func (p Plateau) MarshalJSON() ([]byte, error) {
	return json.Marshal(plateauState{p.Rate, p.Factor, p.Patience, p.Threshold, p.Least, p.best, p.some, p.waiting})
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (p *Plateau) UnmarshalJSON(data []byte) error {
	var s plateauState
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*p = Plateau{s.Rate, s.Factor, s.Patience, s.Threshold, s.Least, s.Best, s.Some, s.Waiting}
	return nil
}
