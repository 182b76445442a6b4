package temporal

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter"
)

const (
	// Window is how many values a row shows.
	Window = 32
	// Features of a row: its values, the time of day, the regime at its end.
	Features = Window + 2
	day      = 24
)

// Rows are windows of a series with what follows each: row i shows steps i to
// i+Window-1, and step i+Window is to be predicted.
type Rows struct {
	Series Series
	Sigma  float64 // of its noise
	Count  int
}

// NewRows simulates a series for a number of rows.
func NewRows(seed uint64, sigma float64, count int) (Rows, error) {
	if err := checkRows(sigma, count); err != nil {
		return Rows{}, err
	}
	return Rows{Simulate(seed, sigma, count+Window), sigma, count}, nil
}

func checkRows(sigma float64, count int) error {
	switch {
	case count < minRows || count > maxRows:
		return fmt.Errorf("%d rows: use %d to %d", count, minRows, maxRows)
	case !(sigma >= 0 && sigma <= maxSigma):
		return fmt.Errorf("a noise of %v: use 0 to %v", sigma, float64(maxSigma))
	}
	return nil
}

// Below minRows a part has too few rows to say anything; above maxRows their
// numbers and tables come near what an i32 holds.
const (
	minRows  = 200
	maxRows  = 100_000_000
	maxSigma = 1e6
)

// Span is rows From up to To, without To.
type Span struct{ From, To int }

// Len is how many rows there are.
func (s Span) Len() int { return s.To - s.From }

// Split parts rows by time: 70 % to train, 15 % to validate, the rest to test.
func (r Rows) Split() (train, valid, test Span) {
	a, b := r.Count*70/100, r.Count*85/100
	return Span{0, a}, Span{a, b}, Span{b, r.Count}
}

// Last is the newest value that row i shows.
func (r Rows) Last(i int) float64 { return r.Series.Values[i+Window-1] }

// Target is the value that follows row i.
func (r Rows) Target(i int) float64 { return r.Series.Values[i+Window] }

// regime is that of the newest step that row i shows.
func (r Rows) regime(i int) uint8 { return r.Series.Regimes[i+Window-1] }

// phase is the time of day of row i.
func phase(i int) float64 { return float64(i%day) / day }

// Features writes what a net is shown of row i.
func (r Rows) Features(i int, to *[Features]float32) {
	for j := range Window {
		to[j] = float32(r.Series.Values[i+j])
	}
	to[Window] = float32(phase(i))
	to[Window+1] = float32(r.regime(i))
}

// features are those of a span, row after row.
func (r Rows) features(s Span) []float32 {
	all := make([]float32, 0, s.Len()*Features)
	var row [Features]float32
	for i := s.From; i < s.To; i++ {
		r.Features(i, &row)
		all = append(all, row[:]...)
	}
	return all
}

// Scale is how features become numbers around 0: (x - Mean) / Deviation.
type Scale struct {
	Values, Phase, Regime Moments
}

// Moments are the mean and the standard deviation of a feature.
type Moments struct{ Mean, Deviation float64 }

func (m Moments) apply(x float64) float32 { return float32((x - m.Mean) / m.Deviation) }

// of gives the moments of a feature by its number.
func (s Scale) of(feature int) Moments {
	switch feature {
	case Window:
		return s.Phase
	case Window + 1:
		return s.Regime
	}
	return s.Values
}

// Fit finds the scale of the rows in a span: that of training, so that nothing
// is known of others.
func (r Rows) Fit(s Span) Scale {
	last := func(f func(i int) float64) Moments { return moments(s, f) }
	return Scale{
		Values: last(r.Last),
		Phase:  last(phase),
		Regime: last(func(i int) float64 { return float64(r.regime(i)) }),
	}
}

func moments(s Span, f func(i int) float64) Moments {
	var sum, squares float64
	for i := s.From; i < s.To; i++ {
		sum += f(i)
	}
	mean := sum / float64(s.Len())
	for i := s.From; i < s.To; i++ {
		squares += (f(i) - mean) * (f(i) - mean)
	}
	m := Moments{mean, math.Sqrt(squares / float64(s.Len()))}
	if m.Deviation == 0 { // a feature that never changes is 0
		m.Deviation = 1
	}
	return m
}

// Table is all rows on a device, scaled, without a copy of each window: what
// every row shows lies in one vector at the row's number plus an offset that
// the feature has, the same for all rows.
type Table struct {
	flat    sinter.Tensor // F32: values, then phases, then regimes
	offsets sinter.Tensor // I32 [1, Features]
	classes sinter.Tensor // I32 [rows]
	values  sinter.Tensor // F32 [rows], as they are
	bytes   int64         // of all these
}

// NewTable lays out rows.
func NewTable(r Rows, scale Scale) Table {
	flat := make([]float32, 0, len(r.Series.Values)+2*r.Count)
	for _, v := range r.Series.Values {
		flat = append(flat, scale.Values.apply(v))
	}
	offsets := make([]int32, Features)
	for j := range Window {
		offsets[j] = int32(j)
	}
	offsets[Window] = int32(len(flat))
	for i := range r.Count {
		flat = append(flat, scale.Phase.apply(phase(i)))
	}
	offsets[Window+1] = int32(len(flat))
	classes, values := make([]int32, r.Count), make([]float32, r.Count)
	for i := range r.Count {
		flat = append(flat, scale.Regime.apply(float64(r.regime(i))))
		classes[i], values[i] = int32(ClassOf(r.Target(i))), float32(r.Target(i))
	}
	return Table{
		sinter.Of(flat, len(flat)), sinter.Of(offsets, 1, Features), sinter.Of(classes, r.Count), sinter.Of(values, r.Count),
		4 * int64(len(flat)+len(offsets)+len(classes)+len(values)),
	}
}

// Gather reads rows by their numbers, I32 [n]: features [n, Features].
func (t Table) Gather(rows sinter.Tensor) sinter.Tensor {
	return t.flat.Take(rows.Unsqueeze(1).Add(t.offsets), 0)
}

// Classes and Values are what follows each row.
func (t Table) Classes(rows sinter.Tensor) sinter.Tensor { return t.classes.Take(rows, 0) }
func (t Table) Values(rows sinter.Tensor) sinter.Tensor  { return t.values.Take(rows, 0) }
