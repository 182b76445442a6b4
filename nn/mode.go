package nn

import (
	"github.com/sinterml/sinter"
)

// Mode tells layers whether a graph trains. Nil, and the zero Mode, are for
// evaluation. A training Mode serves one graph: it draws its random numbers,
// and collects the running statistics that the graph changes.
type Mode struct {
	Training bool
	// Rand draws for Dropout. Its seed should be an Input or a Variable that
	// changes from step to step: the program stays the same.
	Rand *sinter.Rand

	changed []*sinter.Variable // in the order of their first change
	latest  map[*sinter.Variable]sinter.Tensor
}

func (m *Mode) training() bool { return m != nil && m.Training }

// Updates gives the assignments of the running statistics that the graph
// changes: outputs of the program, beside those of the optimizer.
func (m *Mode) Updates() []sinter.Tensor {
	if m == nil {
		return nil
	}
	all := make([]sinter.Tensor, len(m.changed))
	for i, v := range m.changed {
		all[i] = v.Assign(m.latest[v])
	}
	return all
}

// UpdatesWhere is Updates that leave the statistics as they were where good, a
// Bool of one element, is false: those of a batch that is not finite would spoil
// all that come after.
func (m *Mode) UpdatesWhere(good sinter.Tensor) []sinter.Tensor {
	if m == nil {
		return nil
	}
	all := make([]sinter.Tensor, len(m.changed))
	for i, v := range m.changed {
		all[i] = v.Assign(sinter.Where(good.Reshape(), m.latest[v], read(v)))
	}
	return all
}

// change replaces a statistic by f of it. A layer that is used several times
// in a graph changes what the last use made of it.
func (m *Mode) change(v *sinter.Variable, f func(old sinter.Tensor) sinter.Tensor) {
	old, ok := m.latest[v]
	if !ok {
		old = read(v)
		m.changed = append(m.changed, v)
	}
	if m.latest == nil {
		m.latest = map[*sinter.Variable]sinter.Tensor{}
	}
	m.latest[v] = f(old).Detach()
}

// Dropout puts 0 in place of each element with probability P while it trains,
// and divides the others by 1-P.
type Dropout struct {
	P float64 // 0: nothing is dropped
}

// Forward is x, in training with elements dropped.
func (d Dropout) Forward(x sinter.Tensor, m *Mode) sinter.Tensor {
	l := layer{kind: "Dropout"}
	switch {
	case !(d.P >= 0 && d.P < 1):
		return l.failf([]sinter.Tensor{x}, "P is %v: want at least 0 and less than 1", d.P)
	case d.P == 0 || !m.training():
		return x
	case m.Rand == nil:
		return l.failf([]sinter.Tensor{x}, "the Mode trains but has no Rand to draw from")
	}
	return l.named(m.Rand.Dropout(x, d.P), x)
}
