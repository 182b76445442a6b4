package temporal

import "math"

// Predictor expects a value behind row i.
type Predictor struct {
	Name  string
	Value func(r Rows, i int) float64
	// Class is the class that it expects; nil: that of Value.
	Class func(r Rows, i int) int
}

// Oracle knows everything but the noise: the regime of the step to come and
// whether an impulse precedes it. Nothing is right more often on average.
var Oracle = Predictor{Name: "oracle", Value: oracle, Class: func(r Rows, i int) int { return likeliest(oracle(r, i), r.Sigma) }}

func oracle(r Rows, i int) float64 {
	end := i + Window - 1
	last := r.Last(i)
	if end%every == 0 {
		last += impulse
	}
	return keep*last + drift(r.Series.Regimes[end+1])
}

// likeliest is the most probable class of a normal variable. With much noise it
// is not always the class of the mean: the middle class is narrow.
func likeliest(mean, sigma float64) int {
	if sigma == 0 {
		return ClassOf(mean)
	}
	below := func(x float64) float64 { return 0.5 * math.Erfc((mean-x)/sigma/math.Sqrt2) }
	low, high := below(-boundary), 1-below(boundary)
	switch middle := 1 - low - high; {
	case low > middle && low > high:
		return Low
	case high > middle:
		return High
	}
	return Middle
}

// Regime knows how the series goes on, from what a row shows.
var Regime = Predictor{Name: "regime", Value: func(r Rows, i int) float64 { return keep*r.Last(i) + drift(r.regime(i)) }}

// LastValue expects that nothing changes.
var LastValue = Predictor{Name: "last value", Value: Rows.Last}

// Decay is what the errors of a regression are compared with.
var Decay = Predictor{Name: "0.8 v", Value: func(r Rows, i int) float64 { return keep * r.Last(i) }}

// Outcome says row by row how good a prediction was: 1 or 0 for a class that
// was right or wrong, or a squared error.
type Outcome []float64

// Hits are the outcomes of a predictor's classes.
func (p Predictor) Hits(r Rows, s Span) Outcome {
	o := make(Outcome, 0, s.Len())
	for i := s.From; i < s.To; i++ {
		class := ClassOf(p.Value(r, i))
		if p.Class != nil {
			class = p.Class(r, i)
		}
		o = append(o, r.hit(i, class))
	}
	return o
}

// hit is 1 where a class is that of what follows row i.
func (r Rows) hit(i, class int) float64 {
	if class == ClassOf(r.Target(i)) {
		return 1
	}
	return 0
}

// miss is the squared error of a value for what follows row i.
func (r Rows) miss(i int, value float64) float64 {
	d := value - r.Target(i)
	return d * d
}

// Errors are the squared errors of a predictor.
func (p Predictor) Errors(r Rows, s Span) Outcome {
	o := make(Outcome, 0, s.Len())
	for i := s.From; i < s.To; i++ {
		o = append(o, r.miss(i, p.Value(r, i)))
	}
	return o
}

// Mean is the accuracy, or the mean squared error.
func (o Outcome) Mean() float64 {
	var sum float64
	for _, x := range o {
		sum += x
	}
	return sum / float64(len(o))
}

// Difference is a mean difference with its standard error.
type Difference struct{ Mean, Error float64 }

// Against compares two outcomes of the same rows, row by row: what makes a row
// hard for both does not count as noise.
func (o Outcome) Against(other Outcome) Difference {
	diff := make(Outcome, len(o))
	for i := range o {
		diff[i] = o[i] - other[i]
	}
	mean := diff.Mean()
	var squares float64
	for _, d := range diff {
		squares += (d - mean) * (d - mean)
	}
	n := float64(len(o))
	return Difference{mean, math.Sqrt(squares / (n - 1) / n)}
}
