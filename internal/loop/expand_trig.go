package loop

// Coefficients and constants of this file are from testdata/minimax.py.

// expandAtan approximates atan(z) for z = |x| or 1/|x|, whichever is below 1.
func expandAtan(x real) real {
	a := x.abs()
	inverse := num(1).less(a)
	z := inverse.pick(num(1).over(a), a)
	s := z.times(z)
	p := s.poly(-0x1.5554dcp-2, 0x1.9978ecp-3, -0x1.230a92p-3, 0x1.b4de8cp-4, -0x1.35506p-4, 0x1.61ed26p-5, -0x1.0c157p-6, 0x1.7ea0d2p-9)
	y := s.times(z).fma(p, z)
	// The product of the two constants is pi/2 to 44 bits.
	rest := num(0x1.21cb5p-1).fma(num(0x1.633afcp1), y.neg())
	return inverse.pick(rest, y).signed(x)
}

// Arguments of sine and cosine are counted in turns, x/2pi, of which the
// fraction matters. A number from 2^e on is a multiple of 2^(e-23), so of
// x = X*2^k with X an integer the fraction is that of X*c where c is the
// fraction of 2^k/2pi. Three values of k keep |X| below 2^65, and then 120 bits
// of c give 2^-57 turns, below the distance of any f32 from a zero by 25 bits
// and more.
type turnClass struct {
	from  float64 // of |x|
	scale float64 // 1/2^k
	c     [5]float64
}

var turnClasses = []turnClass{
	{0, 1, [...]float64{0x1.45f306p-3, 0x1.b9391p-28, 0x1.529fc2p-54, 0x1.d5f47ep-80, -0x1.65912p-105}},
	{0x1p44, 0x1p-21, [...]float64{0x1.b72722p-4, 0x1.529fc2p-33, 0x1.d5f47ep-59, -0x1.65912p-84, 0x1.b6c52cp-110}},
	{0x1p86, 0x1p-63, [...]float64{0x1.fc2758p-3, -0x1.70565ap-30, 0x1.dc0db6p-55, 0x1.4acc9ep-82, 0x1.0e4108p-109}},
}

// turns writes x/2pi as an integer, quarter/4 and the rest r + lo with |r| just
// over 1/8 at most. Only the last two bits of quarter count.
//
// Each of the products X*c[i] comes with its rounding error, 2^-24 (f64: 2^-53)
// of it, which
// is of the next product's size. Of all that can reach 1/2 the whole turns are
// dropped, which is exact. The quarters go first, so that wherever the terms
// cancel, which is where accuracy is wanted, their sum is exact; elsewhere its
// errors are kept.
func (x real) turns() (r, lo real, quarter whole) {
	classes, toQuarter := turnClasses, 0x1.8p21 // adding that rounds to a multiple of 1/4
	if x.wide() {
		classes, toQuarter = turnClasses64, 0x1.8p50
	}
	scaled, c := x.inTurns(classes)
	var p, e [4]real
	for i := range p {
		p[i], e[i] = scaled.product(c[i].halves())
	}
	f := p[0].fraction() // where |X*c| < 2^24
	terms := []real{
		e[0].fraction(), p[1].fraction(), // < 2^48
		e[1].fraction(), p[2].fraction(), // < 2^73
		e[2], p[3], // below 2^-7
	}
	y := f
	for _, term := range terms[:4] {
		y = y.plus(term)
	}
	t := y.plus(y.num(toQuarter))
	f = f.minus(t.minus(y.num(toQuarter)))
	rest := scaled.x.timesPlus(c[4], e[3])
	for _, term := range terms {
		var err real
		f, err = f.sum(term)
		rest = rest.plus(err)
	}
	r, lo = f.sum(rest)
	return r, lo, t.bits()
}

// inTurns gives X and the parts of c of |x|'s class.
func (x real) inTurns(classes []turnClass) (scaled halves, c [5]real) {
	a, scale := x.abs(), x.num(classes[0].scale)
	for i := range c {
		c[i] = x.num(classes[0].c[i])
	}
	for _, class := range classes[1:] {
		below := a.less(x.num(class.from))
		scale = below.pick(scale, x.num(class.scale))
		for i := range c {
			c[i] = below.pick(c[i], x.num(class.c[i]))
		}
	}
	return x.times(scale).halves(), c
}

// sinTurns is the sine of (quarter/4 + r + lo) turns. The sine of r is written
// as 6.25r + r*p(r^2), where p is nearly 0 and brings hardly any error with it.
func sinTurns(r, lo real, quarter whole) real {
	if r.wide() {
		return sinTurns64(r, lo, quarter)
	}
	const tau = 0x1.921fb6p2
	s := r.times(r)
	p := s.poly(0x1.0fda94p-5, -0x1.4abbb4p+5, 0x1.465c8ep+6, -0x1.2d2fc6p+6)
	sin := r.fma(num(6.25), r.fma(p, lo.times(num(tau))))
	cos := s.poly(1, -0x1.3bd3ccp+4, 0x1.03c1b2p+6, -0x1.55b462p+6, 0x1.d59896p+5)
	return quarter.turn(sin, cos)
}

// turn chooses what the sine is after so many quarters of a turn.
func (quarter whole) turn(sin, cos real) real {
	even, by := quarter.and(sin.int(1, 1)).equals(0), uint64(30)
	if sin.wide() {
		by = 62
	}
	return even.pick(sin, cos).bits().xor(quarter.shl(by).real().sign()).real()
}

func expandSin(x real) real {
	small := 0x1p-12 // in so small a number its square is lost; -0 and subnormals stay
	if x.wide() {
		small = 0x1p-27
	}
	return x.abs().less(x.num(small)).pick(x, sinTurns(x.turns()))
}

// expandCos is the sine a quarter on.
func expandCos(x real) real {
	r, lo, quarter := x.turns()
	return sinTurns(r, lo, quarter.plus(x.int(1, 1)))
}
