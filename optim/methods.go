package optim

import (
	"errors"
	"fmt"
	"math"

	"github.com/sinterml/sinter"
)

// or is v, or what zero stands for.
func or(v, zero float64) float64 {
	if v == 0 {
		return zero
	}
	return v
}

// within wants low <= v < high; NaN is neither.
func within(name string, v, low, high float64) error {
	if !(v >= low && v < high) {
		return fmt.Errorf("%s is %v, want at least %v and less than %v", name, v, low, high)
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func scale(x sinter.Tensor, v float64) sinter.Tensor {
	if v == 1 {
		return x
	}
	return x.Mul(sinter.Scalar(v))
}

// decayed adds a share of the parameter to its gradient: the L2 penalty.
func (s step) decayed(share float64) sinter.Tensor {
	if share == 0 {
		return s.grad
	}
	return s.grad.Add(scale(s.param, share))
}

// shrunk is the parameter less a share, by the learning rate: decay that the
// gradient's scale does not change.
func (s step) shrunk(share float64) sinter.Tensor {
	if share == 0 {
		return s.param
	}
	return s.param.Mul(sinter.Scalar(1).Cast(s.rate.DType()).Sub(scale(s.rate, share)))
}

// SGD follows the gradient, with momentum if asked for (Sutskever et al., 2013,
// in PyTorch's form).
type SGD struct {
	Momentum    float64 // share of the last change that is kept
	Dampening   float64 // share of the gradient that momentum leaves out
	Nesterov    bool    // look ahead along the momentum
	WeightDecay float64 // added to the gradient
}

func (m SGD) check(sinter.Tensor) error {
	if m.Nesterov && (m.Momentum <= 0 || m.Dampening != 0) {
		return errors.New("momentum and no dampening are what Nesterov needs")
	}
	return firstOf(within("Momentum", m.Momentum, 0, 1), within("Dampening", m.Dampening, 0, 1), within("WeightDecay", m.WeightDecay, 0, math.Inf(1)))
}

func (m SGD) state() []slot {
	if m.Momentum == 0 {
		return nil
	}
	return []slot{{name: "sgd.momentum"}}
}

func (m SGD) update(s step) (sinter.Tensor, []sinter.Tensor) {
	g := s.decayed(m.WeightDecay)
	if m.Momentum == 0 {
		return s.param.Sub(g.Mul(s.rate)), nil
	}
	added := scale(g, 1-m.Dampening)
	if m.Dampening != 0 { // the first gradient is kept whole
		added = sinter.Where(s.number.Equal(sinter.Scalar(1)), g, added)
	}
	v := scale(s.state[0], m.Momentum).Add(added)
	way := v
	if m.Nesterov {
		way = g.Add(scale(v, m.Momentum))
	}
	return s.param.Sub(way.Mul(s.rate)), []sinter.Tensor{v}
}

// Adam divides a mean of gradients by the root of a mean of their squares
// (Kingma and Ba, 2014).
type Adam struct {
	Beta1, Beta2 float64 // shares of the old means that are kept; 0: 0.9 and 0.999
	Epsilon      float64 // added to the root; 0: 1e-8
	WeightDecay  float64 // added to the gradient; see AdamW
}

func (m Adam) check(sinter.Tensor) error {
	return firstOf(within("Beta1", m.Beta1, 0, 1), within("Beta2", m.Beta2, 0, 1), within("Epsilon", m.Epsilon, 0, math.Inf(1)), within("WeightDecay", m.WeightDecay, 0, math.Inf(1)))
}

func (m Adam) state() []slot { return []slot{{name: "adam.mean"}, {name: "adam.square"}} }

func (m Adam) update(s step) (sinter.Tensor, []sinter.Tensor) {
	s.grad = s.decayed(m.WeightDecay)
	return m.follow(s, s.param)
}

// follow moves param by the means of the gradients.
func (m Adam) follow(s step, param sinter.Tensor) (sinter.Tensor, []sinter.Tensor) {
	beta1, beta2 := or(m.Beta1, 0.9), or(m.Beta2, 0.999)
	mean := mix(s.state[0], s.grad, beta1)
	square := mix(s.state[1], s.grad.Square(), beta2)
	// The means start at 0: after n steps they hold 1 - beta^n of what they
	// should. That difference, close to 0, is expm1's.
	filled := func(beta float64) sinter.Tensor { return scale(s.number, math.Log(beta)).Expm1().Neg() }
	root := square.Sqrt().Mul(filled(beta2).Rsqrt()).Add(sinter.Scalar(or(m.Epsilon, 1e-8)))
	way := mean.Mul(s.rate.Div(filled(beta1))).Div(root)
	return param.Sub(way), []sinter.Tensor{mean, square}
}

// AdamW is Adam with decay apart from the gradient (Loshchilov and Hutter,
// 2017).
type AdamW struct {
	Beta1, Beta2 float64 // 0: 0.9 and 0.999
	Epsilon      float64 // 0: 1e-8
	WeightDecay  float64 // share of the parameter that a step at learning rate 1 takes away
}

func (m AdamW) adam() Adam { return Adam(m) }

func (m AdamW) check(p sinter.Tensor) error { return m.adam().check(p) }

func (m AdamW) state() []slot { return m.adam().state() }

func (m AdamW) update(s step) (sinter.Tensor, []sinter.Tensor) {
	return m.adam().follow(s, s.shrunk(m.WeightDecay))
}

// RMSprop divides the gradient by the root of a mean of its squares (Hinton,
// 2012, in PyTorch's form).
type RMSprop struct {
	Alpha       float64 // share of the old mean that is kept; 0: 0.99
	Epsilon     float64 // added to the root; 0: 1e-8
	Momentum    float64 // share of the last change that is kept
	Centered    bool    // divide by the root of the variance
	WeightDecay float64 // added to the gradient
}

func (m RMSprop) check(sinter.Tensor) error {
	return firstOf(within("Alpha", m.Alpha, 0, 1), within("Epsilon", m.Epsilon, 0, math.Inf(1)), within("Momentum", m.Momentum, 0, 1), within("WeightDecay", m.WeightDecay, 0, math.Inf(1)))
}

func (m RMSprop) state() []slot {
	all := []slot{{name: "rmsprop.square"}}
	if m.Centered {
		all = append(all, slot{name: "rmsprop.mean"})
	}
	if m.Momentum > 0 {
		all = append(all, slot{name: "rmsprop.momentum"})
	}
	return all
}

func (m RMSprop) update(s step) (sinter.Tensor, []sinter.Tensor) {
	g, alpha := s.decayed(m.WeightDecay), or(m.Alpha, 0.99)
	square := mix(s.state[0], g.Square(), alpha)
	state, spread := []sinter.Tensor{square}, square
	if m.Centered {
		mean := mix(s.state[1], g, alpha)
		state = append(state, mean)
		spread = square.Sub(mean.Square()).Maximum(sinter.Scalar(0)) // rounded it may be negative
	}
	way := g.Div(spread.Sqrt().Add(sinter.Scalar(or(m.Epsilon, 1e-8))))
	if m.Momentum > 0 {
		way = scale(s.state[len(state)], m.Momentum).Add(way)
		state = append(state, way)
	}
	return s.param.Sub(way.Mul(s.rate)), state
}

// Adagrad divides the gradient by the root of the sum of all its squares (Duchi
// et al., 2011).
type Adagrad struct {
	Epsilon     float64 // added to the root; 0: 1e-10
	RateDecay   float64 // the learning rate is divided by 1 + RateDecay * (step - 1)
	Initial     float64 // that the sum starts at
	WeightDecay float64 // added to the gradient
}

func (m Adagrad) check(sinter.Tensor) error {
	inf := math.Inf(1)
	return firstOf(within("Epsilon", m.Epsilon, 0, inf), within("RateDecay", m.RateDecay, 0, inf), within("Initial", m.Initial, 0, inf), within("WeightDecay", m.WeightDecay, 0, inf))
}

func (m Adagrad) state() []slot { return []slot{{"adagrad.square", m.Initial}} }

func (m Adagrad) update(s step) (sinter.Tensor, []sinter.Tensor) {
	g, rate := s.decayed(m.WeightDecay), s.rate
	if m.RateDecay > 0 {
		rate = rate.Div(scale(s.number.Sub(sinter.Scalar(1)), m.RateDecay).Add(sinter.Scalar(1)))
	}
	square := s.state[0].Add(g.Square())
	way := g.Div(square.Sqrt().Add(sinter.Scalar(or(m.Epsilon, 1e-10))))
	return s.param.Sub(way.Mul(rate)), []sinter.Tensor{square}
}
