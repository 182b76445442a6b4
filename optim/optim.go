// Package optim trains: from a loss it makes the graph of a step that changes
// parameters along its gradient. Parameters, and what a method remembers of
// them, are Variables; the step is compiled with everything else into one
// program.
//
//	o, err := optim.New(optim.Options{}, optim.Group{Params: params, Method: optim.AdamW{}})
//	rate := sinter.Input("rate", sinter.F32)
//	step, err := sinter.Compile(sinter.Capture(append(o.Update(loss, rate), loss)...), sinter.Options{})
//	...
//	step.Run(ctx, map[string]sinter.Tensor{"x": x, "y": y, "rate": sinter.Of([]float32{schedule(i)})})
//
// The formulas are those of PyTorch, and give its numbers.
package optim

import (
	"errors"
	"fmt"

	"github.com/sinterml/sinter"
)

// Method says how a parameter follows its gradient: SGD, Adam, AdamW, RMSprop,
// Adagrad or Muon.
type Method interface {
	// check refuses settings, and parameters that the method is not for.
	check(p sinter.Tensor) error
	// state names what is remembered of each parameter, tensors of its shape
	// that start at a value.
	state() []slot
	// update gives the new parameter and the new state from the old.
	update(s step) (param sinter.Tensor, state []sinter.Tensor)
}

// slot is a tensor remembered of each parameter.
type slot struct {
	name  string
	start float64
}

// step is what a method sees of one parameter.
type step struct {
	param, grad sinter.Tensor
	state       []sinter.Tensor
	rate        sinter.Tensor // the learning rate, of the parameter's dtype and rank 0
	number      sinter.Tensor // of the step, from 1, likewise
}

// Group is parameters that share a method.
type Group struct {
	Params []*sinter.Variable // F32 or F64
	Method Method
	// Scale multiplies the learning rate for this group; 0: 1.
	Scale float64
}

// Options are about all groups together. The zero value does nothing special.
type Options struct {
	// ClipNorm scales all gradients down together where their norm, the root of
	// the sum of all squares, is larger; 0: never.
	ClipNorm float64
	// ClipValue brings every element of a gradient between -ClipValue and
	// ClipValue, before ClipNorm; 0: never.
	ClipValue float64
	// Accumulate is how many gradients one update averages: all but the last
	// come by Accumulate. 0: 1.
	Accumulate int
	// Average keeps an exponential moving average of the parameters, of which
	// each update keeps this share, such as 0.999; 0: none.
	Average float64
	// LossScale keeps the gradients of a program in F16 within its range; nil:
	// the loss is what it is.
	LossScale *LossScale
}

// Optimizer changes parameters. The zero Optimizer is an error when used.
type Optimizer struct {
	options Options
	count   *sinter.Variable // updates done, I64
	params  []*param
	scaler  *lossScaler // nil: none
}

// param is a parameter with what is remembered of it.
type param struct {
	v       *sinter.Variable
	group   Group
	state   []*sinter.Variable
	sum     *sinter.Variable // of gradients, where several are averaged
	average *sinter.Variable
}

var errZero = errors.New("optim: the zero Optimizer has no parameters: make one with New")

// New makes an optimizer of at least one parameter. A parameter may be in one
// group only.
func New(o Options, groups ...Group) (*Optimizer, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	opt := &Optimizer{options: o, count: sinter.NewVariable("optim.count", sinter.Of([]int64{0}).Sum())}
	seen := map[*sinter.Variable]bool{}
	for i, g := range groups {
		if g.Method == nil {
			return nil, fmt.Errorf("optim: group %d has no method: use SGD, Adam, AdamW, RMSprop, Adagrad or Muon", i)
		}
		if !(g.Scale >= 0) {
			return nil, fmt.Errorf("optim: group %d: the learning rate is scaled by %v", i, g.Scale)
		}
		for _, v := range g.Params {
			if seen[v] {
				return nil, fmt.Errorf("optim: parameter %q comes twice", v.Name())
			}
			seen[v] = true
			p, err := o.param(v, g)
			if err != nil {
				return nil, fmt.Errorf("optim: parameter %q: %w", v.Name(), err)
			}
			opt.params = append(opt.params, p)
		}
	}
	if len(opt.params) == 0 {
		return nil, errors.New("optim: no parameters")
	}
	if o.LossScale != nil {
		opt.scaler = newLossScaler(*o.LossScale)
	}
	return opt, nil
}

func (o Options) check() error {
	switch {
	case !(o.ClipNorm >= 0):
		return fmt.Errorf("a norm of %v clips nothing: use a positive norm, or 0 for no clipping", o.ClipNorm)
	case !(o.ClipValue >= 0):
		return fmt.Errorf("a limit of %v clips nothing: use a positive limit, or 0 for no clipping", o.ClipValue)
	case o.Accumulate < 0:
		return fmt.Errorf("gradients are averaged over %d: use at least 1, or 0 for 1", o.Accumulate)
	case !(o.Average >= 0 && o.Average < 1):
		return fmt.Errorf("an average that keeps %v: want at least 0 and less than 1", o.Average)
	case o.LossScale != nil:
		return o.LossScale.check()
	}
	return nil
}

func (o Options) param(v *sinter.Variable, g Group) (*param, error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	x := v.Tensor()
	if dt := x.DType(); dt != sinter.F32 && dt != sinter.F64 {
		return nil, fmt.Errorf("it is %v: want f32 or f64", dt)
	}
	if err := g.Method.check(x); err != nil {
		return nil, err
	}
	p := &param{v: v, group: g}
	for _, s := range g.Method.state() {
		p.state = append(p.state, like(s.name+"."+v.Name(), x, s.start))
	}
	if o.Accumulate > 1 {
		p.sum = like("sum."+v.Name(), x, 0)
	}
	if o.Average > 0 {
		p.average = sinter.NewVariable("average."+v.Name(), x)
	}
	return p, nil
}

// like is a variable of the shape of x, filled with a value.
func like(name string, x sinter.Tensor, v float64) *sinter.Variable {
	return sinter.NewVariable(name, sinter.Full(x.DType(), v, x.Shape()...))
}

// State lists what the optimizer remembers, for checkpoints: the number of
// updates, what finds the factor of the loss, then by parameter, in the order of
// the groups.
func (o *Optimizer) State() []*sinter.Variable {
	if o == nil || o.count == nil {
		return nil
	}
	all := []*sinter.Variable{o.count}
	if o.scaler != nil {
		all = append(all, o.scaler.state()...)
	}
	for _, p := range o.params {
		all = append(all, p.state...)
		if p.sum != nil {
			all = append(all, p.sum)
		}
		if p.average != nil {
			all = append(all, p.average)
		}
	}
	return all
}

// Averages are the moving averages of the parameters, in the order of the
// groups; nil where none are kept.
func (o *Optimizer) Averages() []*sinter.Variable {
	if o == nil || o.options.Average == 0 {
		return nil
	}
	all := make([]*sinter.Variable, len(o.params))
	for i, p := range o.params {
		all[i] = p.average
	}
	return all
}

// Averaged is how many gradients one update averages: 1, or what the options
// say.
func (o *Optimizer) Averaged() int {
	if o == nil {
		return 1
	}
	return max(1, o.options.Accumulate)
}

// gradients of the loss, divided by the number that are averaged, and times the
// factor that the scaler has.
func (o *Optimizer) gradients(loss sinter.Tensor) []sinter.Tensor {
	wrt := make([]sinter.Tensor, len(o.params))
	for i, p := range o.params {
		wrt[i] = p.v.Tensor()
	}
	if n := o.options.Accumulate; n > 1 {
		loss = loss.Mul(sinter.Scalar(1 / float64(n)))
	}
	if o.scaler != nil {
		loss = loss.Mul(o.scaler.factor.Tensor().Cast(loss.DType()))
	}
	return sinter.Grad(loss, wrt...)
}

// Accumulate gives the assignments that keep the gradient of loss for the next
// Update: outputs of a program of its own.
func (o *Optimizer) Accumulate(loss sinter.Tensor) ([]sinter.Tensor, error) {
	switch {
	case o == nil || o.count == nil:
		return nil, errZero
	case o.options.Accumulate < 2:
		return nil, errors.New("optim: set Options.Accumulate to the number of gradients that an update averages")
	}
	all := make([]sinter.Tensor, len(o.params))
	for i, g := range o.gradients(loss) {
		sum := o.params[i].sum
		all[i] = sum.Assign(sum.Tensor().Add(g))
	}
	return all, firstErr(all)
}

// Update gives the assignments of a step along the gradient of loss, a float of
// one element: outputs of the program that does it. rate is the learning rate,
// a float of rank 0: an Input, so that no change of it compiles anew.
func (o *Optimizer) Update(loss, rate sinter.Tensor) ([]sinter.Tensor, error) {
	return o.update(loss, rate, nil)
}

// UpdateFinite is Update that changes nothing where the loss, or with ClipNorm a
// gradient, is not finite: then one can still look for what made it so. good,
// a Bool of rank 0, tells. What Accumulate has kept is forgotten all the same. With
// LossScale gradients count without ClipNorm, but not for good; and the factor
// becomes smaller whatever was not finite.
func (o *Optimizer) UpdateFinite(loss, rate sinter.Tensor) (updates []sinter.Tensor, good sinter.Tensor, err error) {
	good = loss.IsFinite().Reshape()
	updates, err = o.update(loss, rate, &good)
	return updates, good, err
}

// update leaves itself out where good is false; nil: never. It narrows good
// down.
func (o *Optimizer) update(loss, rate sinter.Tensor, good *sinter.Tensor) ([]sinter.Tensor, error) {
	if o == nil || o.count == nil {
		return nil, errZero
	}
	grads := o.gradients(loss)
	if err := firstErr(append(grads, rate)); err != nil {
		return nil, err
	}
	if rate.Rank() != 0 || !rate.DType().IsFloat() {
		return nil, fmt.Errorf("optim: the learning rate is %v%v, want a float of rank 0", rate.DType(), rate.Shape())
	}
	var all []sinter.Tensor
	if o.options.Accumulate > 1 {
		for i, p := range o.params {
			grads[i] = grads[i].Add(p.sum.Tensor())
			all = append(all, p.sum.Assign(sinter.Full(grads[i].DType(), 0, grads[i].Shape()...)))
		}
	}
	// Gradients are unscaled before they are clipped.
	var finite sinter.Tensor
	if o.scaler != nil {
		finite = o.scaler.unscale(grads)
		if good != nil {
			finite = finite.And(*good)
		}
		all = append(all, o.scaler.follow(finite)...)
	}
	grads, norm := o.clip(grads)
	if good != nil && o.scaler == nil && o.options.ClipNorm > 0 {
		*good = good.And(norm.IsFinite())
	}
	// set assigns, unless the update is left out.
	set := (*sinter.Variable).Assign
	if o.scaler != nil {
		set = func(v *sinter.Variable, x sinter.Tensor) sinter.Tensor {
			return v.Assign(sinter.Where(finite, x, v.Tensor()))
		}
	} else if good != nil {
		set = func(v *sinter.Variable, x sinter.Tensor) sinter.Tensor {
			return v.Assign(sinter.Where(*good, x, v.Tensor()))
		}
	}
	number := o.count.Tensor().Add(sinter.Scalar(1))
	all = append(all, set(o.count, number))
	for i, p := range o.params {
		dt := grads[i].DType()
		s := step{param: p.v.Tensor(), grad: grads[i], rate: rate.Cast(dt), number: number.Cast(dt)}
		if p.group.Scale > 0 {
			s.rate = s.rate.Mul(sinter.Scalar(p.group.Scale))
		}
		for _, v := range p.state {
			s.state = append(s.state, v.Tensor())
		}
		param, state := p.group.Method.update(s)
		all = append(all, set(p.v, param))
		for j, x := range state {
			all = append(all, set(p.state[j], x))
		}
		if p.average != nil {
			all = append(all, set(p.average, mix(p.average.Tensor(), param, o.options.Average)))
		}
	}
	return all, firstErr(all)
}

// mix is share of a and the rest of b.
func mix(a, b sinter.Tensor, share float64) sinter.Tensor {
	return a.Mul(sinter.Scalar(share)).Add(b.Mul(sinter.Scalar(1 - share)))
}

func firstErr(all []sinter.Tensor) error {
	for _, x := range all {
		if err := x.Err(); err != nil {
			return fmt.Errorf("optim: %w", err)
		}
	}
	return nil
}

// clip bounds the gradients as the options say. norm is that of all before
// ClipNorm, if there is one.
func (o *Optimizer) clip(grads []sinter.Tensor) (clipped []sinter.Tensor, norm sinter.Tensor) {
	if c := o.options.ClipValue; c > 0 {
		for i, g := range grads {
			grads[i] = g.Clamp(-c, c)
		}
	}
	if o.options.ClipNorm == 0 {
		return grads, norm
	}
	// PyTorch adds 1e-6 to the norm before it divides.
	norm = sumSquares(grads).Sqrt().Add(sinter.Scalar(1e-6))
	scale := norm.Reciprocal().Mul(sinter.Scalar(o.options.ClipNorm)).Minimum(sinter.Scalar(1))
	for i, g := range grads {
		grads[i] = g.Mul(scale.Cast(g.DType()))
	}
	return grads, norm
}

// Norm is the root of the sum of the squares of all elements, in the dtype of
// the first of x. Where all are 0 its gradient is 0.
func Norm(x ...sinter.Tensor) sinter.Tensor {
	sum := sumSquares(x)
	none := sum.Equal(sinter.Scalar(0)) // where the slope of the root is infinite
	norm := sinter.Where(none, sum, sinter.Where(none, sinter.Scalar(1), sum).Sqrt())
	if len(x) == 0 {
		return norm
	}
	return norm.Cast(x[0].DType())
}

// sumSquares is a sum in F64: the square of an F32 of 1e20 is no F32.
func sumSquares(x []sinter.Tensor) sinter.Tensor {
	sum := sinter.Scalar(0).Cast(sinter.F64)
	for _, g := range x {
		switch g.DType() {
		case sinter.F32, sinter.F16, sinter.BF16:
			g = sinter.CustomGrad(
				func(in []sinter.Tensor) sinter.Tensor { return squaresBySize(in[0].Cast(sinter.F32)) },
				func(in []sinter.Tensor, _, dy sinter.Tensor) []sinter.Tensor {
					return []sinter.Tensor{in[0].Cast(sinter.F64).Mul(dy).Mul(sinter.Scalar(2)).Cast(in[0].DType())}
				}, g)
		default:
			g = g.Cast(sinter.F64).Square().Sum()
		}
		sum = sum.Add(g)
	}
	return sum
}

// squaresBySize adds up the squares of x, F32, in F64. They are taken in F32, for which
// there is machine code and in which those of 1e20 and of 1e-30 have no place: so large and
// small elements are scaled beforehand, and rows of each size added up for themselves.
func squaresBySize(x sinter.Tensor) sinter.Tensor {
	const large, small = 0x1p+40, 0x1p-40
	isLarge, isSmall, zero := x.Abs().Greater(sinter.Scalar(large)), x.Abs().Less(sinter.Scalar(small)), sinter.Scalar(0)
	sum := sinter.Scalar(0).Cast(sinter.F64)
	for _, part := range []struct {
		of    sinter.Tensor
		scale float64
	}{
		{sinter.Where(isLarge, zero, sinter.Where(isSmall, zero, x)), 1}, // and NaN
		{sinter.Where(isLarge, x, zero), 0x1p-80},
		{sinter.Where(isSmall, x, zero), 0x1p+80},
	} {
		rows := part.of.Mul(sinter.Scalar(part.scale)).Square()
		if rows.Rank() > 1 {
			rows = rows.Sum(-1)
		}
		sum = sum.Add(rows.Cast(sinter.F64).Sum().Mul(sinter.Scalar(1 / (part.scale * part.scale)).Cast(sinter.F64)))
	}
	return sum
}
