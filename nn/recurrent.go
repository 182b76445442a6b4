package nn

import (
	"errors"
	"fmt"

	"github.com/sinterml/sinter"
)

// Recurrent are the sizes and the weights of LSTM and GRU, named as PyTorch's:
// weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, and the same with
// _reverse for the other direction.
type Recurrent struct {
	In, Hidden    int
	Layers        int     // each over the outputs of the one before; 0: 1
	Bidirectional bool    // a second one from the end of the sequence, its outputs behind the first's
	BatchFirst    bool    // x is [batch, time, In], not [time, batch, In], and so the outputs
	Dropout       float64 // of what goes into every layer but the first, in training
	NoBias        bool

	InWeight     []*sinter.Variable `weight:"weight_ih_l%d"` // by layer: [gates * Hidden, In]
	HiddenWeight []*sinter.Variable `weight:"weight_hh_l%d"` // [gates * Hidden, Hidden]
	InBias       []*sinter.Variable `weight:"bias_ih_l%d"`   // [gates * Hidden]
	HiddenBias   []*sinter.Variable `weight:"bias_hh_l%d"`

	BackInWeight     []*sinter.Variable `weight:"weight_ih_l%d_reverse"`
	BackHiddenWeight []*sinter.Variable `weight:"weight_hh_l%d_reverse"`
	BackInBias       []*sinter.Variable `weight:"bias_ih_l%d_reverse"`
	BackHiddenBias   []*sinter.Variable `weight:"bias_hh_l%d_reverse"`

	path string
}

// cell is the weights of one layer in one direction.
type cell struct {
	inWeight, hiddenWeight, inBias, hiddenBias *sinter.Variable
}

const maxLayers = 1 << 12

func (r *Recurrent) layers() int { return max(r.Layers, 1) }

func (r *Recurrent) directions() int {
	if r.Bidirectional {
		return 2
	}
	return 1
}

// lists are the fields for one direction.
func (r *Recurrent) lists(back bool) [4]*[]*sinter.Variable {
	if back {
		return [4]*[]*sinter.Variable{&r.BackInWeight, &r.BackHiddenWeight, &r.BackInBias, &r.BackHiddenBias}
	}
	return [4]*[]*sinter.Variable{&r.InWeight, &r.HiddenWeight, &r.InBias, &r.HiddenBias}
}

// build makes the variables of layers with a number of gates.
func (r *Recurrent) build(b *Builder, gates int) error {
	r.path = b.Path()
	if err := checkSizes(size{"In", r.In}, size{"Hidden", r.Hidden}); err != nil {
		return err
	}
	if r.Layers < 0 || r.Layers > maxLayers {
		return fmt.Errorf("number of Layers is %d: want 0 to %d", r.Layers, maxLayers)
	}
	init := fanUniform(r.Hidden)
	for direction := range r.directions() {
		lists := r.lists(direction == 1)
		for j, list := range lists {
			if r.NoBias && j >= 2 {
				continue
			}
			if *list == nil {
				*list = make([]*sinter.Variable, r.layers())
			}
			if len(*list) != r.layers() {
				return fmt.Errorf("weights for %d layers, Layers is %d", len(*list), r.layers())
			}
			for i := range *list {
				sizes := []int{gates * r.Hidden, r.Hidden}
				if j == 0 && i == 0 {
					sizes[1] = r.In
				} else if j == 0 {
					sizes[1] = r.Hidden * r.directions()
				}
				if j >= 2 {
					sizes = sizes[:1]
				}
				b.Variable(&(*list)[i], init, sizes...)
			}
		}
	}
	return checkDropout(r.Dropout)
}

var errSequence = errors.New("want a sequence [time, batch, In], or [batch, time, In] with BatchFirst")

// cell finds the weights of a layer in a direction.
func (r *Recurrent) cell(i int, back bool) (c cell, err error) {
	at := [4]**sinter.Variable{&c.inWeight, &c.hiddenWeight, &c.inBias, &c.hiddenBias}
	for j, list := range r.lists(back) {
		if r.NoBias && j >= 2 {
			continue
		}
		if i >= len(*list) {
			return c, errNoWeights
		}
		*at[j] = (*list)[i]
	}
	return c, nil
}

// scan runs one layer in one direction over x [time, batch, in]; states are
// the first [batch, Hidden] of each kind, and the last ones come back.
type scan func(x sinter.Tensor, c cell, states []sinter.Tensor) (ys sinter.Tensor, last []sinter.Tensor)

// run goes through all layers. Each of states is [layers * directions, batch,
// Hidden], or the zero Tensor for zeros.
func (r *Recurrent) run(l layer, x sinter.Tensor, states []sinter.Tensor, m *Mode, s scan) (y sinter.Tensor, last []sinter.Tensor) {
	y, last, err := r.through(x, states, m, s)
	operands := append([]sinter.Tensor{x}, present(states)...)
	if err != nil {
		y = l.fail(err, operands...)
	}
	y = l.named(y, operands...)
	if y.Err() != nil {
		last = make([]sinter.Tensor, len(states))
		for i := range last {
			last[i] = y
		}
	}
	return y, last
}

func present(all []sinter.Tensor) (some []sinter.Tensor) {
	for _, x := range all {
		if given(x) {
			some = append(some, x)
		}
	}
	return some
}

func (r *Recurrent) through(x sinter.Tensor, states []sinter.Tensor, m *Mode, s scan) (y sinter.Tensor, last []sinter.Tensor, err error) {
	if x.Err() != nil {
		return x, nil, nil
	}
	if x.Rank() != 3 || !x.Dim(2).IsConst(r.In) || r.layers() > maxLayers {
		return x, nil, errSequence
	}
	if r.BatchFirst {
		x = x.Transpose(0, 1)
	}
	for _, h := range states {
		if given(h) && h.Err() == nil && !r.fits(h, x.Dim(1)) {
			return x, nil, fmt.Errorf("a state of shape %v: want [%d, %v, %d]", h.Shape(), r.layers()*r.directions(), x.Dim(1), r.Hidden)
		}
	}
	ends := make([][]sinter.Tensor, len(states))
	for i := range r.layers() {
		if i > 0 {
			x = Dropout{P: r.Dropout}.Forward(x, m)
		}
		outs := make([]sinter.Tensor, r.directions())
		for d := range outs {
			c, err := r.cell(i, d == 1)
			if err != nil {
				return x, nil, err
			}
			first := make([]sinter.Tensor, len(states))
			for j, h := range states {
				first[j] = sinter.Zeros(x.DType(), x.Dim(1), sinter.N(r.Hidden))
				if given(h) {
					first[j] = h.Index(0, i*r.directions()+d)
				}
			}
			in := x
			if d == 1 {
				in = x.Flip(0)
			}
			ys, end := s(in, c, first)
			if d == 1 {
				ys = ys.Flip(0)
			}
			outs[d] = ys
			for j := range end {
				ends[j] = append(ends[j], end[j])
			}
		}
		x = sinter.Concat(-1, outs...)
	}
	for _, all := range ends {
		last = append(last, sinter.Stack(0, all...))
	}
	if r.BatchFirst {
		x = x.Transpose(0, 1)
	}
	return x, last, nil
}

// fits tells whether a state is [layers * directions, batch, Hidden].
func (r *Recurrent) fits(h sinter.Tensor, batch sinter.Dim) bool {
	return h.Rank() == 3 && h.Dim(0).IsConst(r.layers()*r.directions()) && h.Dim(1).Equal(batch) && h.Dim(2).IsConst(r.Hidden)
}

// LSTM is a long short-term memory. Sequences are unrolled: the number of
// steps is part of the program.
type LSTM struct{ Recurrent }

// Make is for Init.
func (l *LSTM) Make(b *Builder) error { return l.build(b, 4) }

// Forward runs over x [time, batch, In] from h0 and c0 [layers * directions,
// batch, Hidden], or zeros for the zero Tensor. It gives all outputs of the
// last layer [time, batch, Hidden * directions], and the last outputs and cells
// of all layers.
func (l *LSTM) Forward(x, h0, c0 sinter.Tensor, m *Mode) (y, h, c sinter.Tensor) {
	y, last := l.run(layer{"LSTM", l.path}, x, []sinter.Tensor{h0, c0}, m, func(x sinter.Tensor, w cell, states []sinter.Tensor) (sinter.Tensor, []sinter.Tensor) {
		ys, h, c := sinter.LSTM(x, read(w.inWeight), read(w.hiddenWeight), sinter.LSTMOptions{
			InputBias: readIf(!l.NoBias, w.inBias), HiddenBias: readIf(!l.NoBias, w.hiddenBias), H0: states[0], C0: states[1]})
		return ys, []sinter.Tensor{h, c}
	})
	return y, last[0], last[1]
}

// GRU is a network of gated recurrent units. Sequences are unrolled: the number
// of steps is part of the program.
type GRU struct{ Recurrent }

// Make is for Init.
func (g *GRU) Make(b *Builder) error { return g.build(b, 3) }

// Forward runs over x [time, batch, In] from h0 [layers * directions, batch,
// Hidden], or zeros for the zero Tensor. It gives all outputs of the last
// layer [time, batch, Hidden * directions], and the last of all layers.
func (g *GRU) Forward(x, h0 sinter.Tensor, m *Mode) (y, h sinter.Tensor) {
	y, last := g.run(layer{"GRU", g.path}, x, []sinter.Tensor{h0}, m, g.scan)
	return y, last[0]
}

// scan has the gates in PyTorch's order: reset, update, new.
func (g *GRU) scan(x sinter.Tensor, w cell, states []sinter.Tensor) (sinter.Tensor, []sinter.Tensor) {
	steps, ok := x.Dim(0).Const()
	if !ok || steps < 1 {
		bad := sinter.Fail(fmt.Errorf("%v steps: want a constant of at least 1", x.Dim(0)), x)
		return bad, []sinter.Tensor{bad}
	}
	h, width := states[0], sinter.N(g.Hidden)
	hiddenWeight, hiddenBias := read(w.hiddenWeight), readIf(!g.NoBias, w.hiddenBias)
	fromIn := sinter.Linear(x, read(w.inWeight), readIf(!g.NoBias, w.inBias)) // of all steps in one product
	outs := make([]sinter.Tensor, steps)
	for t := range outs {
		a, b := fromIn.Index(0, t), sinter.Linear(h, hiddenWeight, hiddenBias)
		gate := func(x sinter.Tensor, i int) sinter.Tensor { return x.Narrow(-1, sinter.N(i*g.Hidden), width) }
		reset := gate(a, 0).Add(gate(b, 0)).Sigmoid()
		update := gate(a, 1).Add(gate(b, 1)).Sigmoid()
		next := gate(a, 2).Add(reset.Mul(gate(b, 2))).Tanh()
		h = next.Add(update.Mul(h.Sub(next)))
		if h.Err() != nil {
			return h, []sinter.Tensor{h}
		}
		outs[t] = h
	}
	return sinter.Stack(0, outs...), []sinter.Tensor{h}
}
