package loop

import (
	"math"
	"math/big"
	"sync"
)

// twofold is a number as the sum of two floats, the second below half a place of
// the first: about 104 bits. The functions of this file are the reference for
// those of f64.
type twofold struct{ hi, lo float64 }

func twice(x float64) twofold { return twofold{x, 0} }

// sumOf is x+y for |x| >= |y|, or x = 0.
func sumOf(x, y float64) twofold {
	s := x + y
	return twofold{s, y - (s - x)}
}

func (x twofold) plus(y twofold) twofold {
	s := x.hi + y.hi
	b := s - x.hi
	rest := (x.hi - (s - b)) + (y.hi - b)
	t := x.lo + y.lo
	c := t - x.lo
	restLo := (x.lo - (t - c)) + (y.lo - c)
	z := sumOf(s, rest+t)
	return sumOf(z.hi, z.lo+restLo)
}

func (x twofold) neg() twofold            { return twofold{-x.hi, -x.lo} }
func (x twofold) minus(y twofold) twofold { return x.plus(y.neg()) }

func (x twofold) times(y twofold) twofold {
	p := x.hi * y.hi
	return sumOf(p, math.FMA(x.hi, y.hi, -p)+(x.hi*y.lo+x.lo*y.hi))
}

func (x twofold) over(y twofold) twofold {
	q := x.hi / y.hi
	rest := x.minus(y.times(twice(q)))
	q2 := rest.hi / y.hi
	rest = rest.minus(y.times(twice(q2)))
	return sumOf(q, q2).plus(twice(rest.hi / y.hi))
}

// scaled is x*2^n without rounding.
func (x twofold) scaled(n int) twofold { return twofold{math.Ldexp(x.hi, n), math.Ldexp(x.lo, n)} }

var (
	ln2Twofold = twofold{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}
	rootPi     = twofold{0x1.20dd750429b6dp0, 0x1.1ae3a914fed8p-56} // 2/sqrt(pi)
	ln2Third   = 0x1.7b57a079a1934p-111                             // ln 2 - ln2Twofold
	quarterPi  = twofold{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}
	wholeOne   = twice(1)
)

// expm1Ref is e^x - 1 = 2^n e^r - 1 with a series for e^r - 1, and n.
func expm1Ref(x twofold) (y twofold, n int) {
	if math.Abs(x.hi) > 0.35 {
		n = int(math.Round(x.hi / math.Ln2))
		k := twice(float64(n))
		x = x.minus(k.times(ln2Twofold)).minus(twice(ln2Third * float64(n)))
	}
	term := x
	for i := 1; math.Abs(term.hi) > 0x1p-115*math.Abs(x.hi); i++ {
		y = y.plus(term)
		term = term.times(x).over(twice(float64(i + 1)))
	}
	return y, n
}

// near is a result before it is rounded: x * 2^n.
type near struct {
	x twofold
	n int
}

func expRef(x twofold) near {
	y, n := expm1Ref(x)
	return near{y.plus(wholeOne), n}
}

func exp2Ref(x float64) near {
	n := math.Round(max(-3000, min(x, 3000)))
	if math.Abs(x) > 3000 {
		x = n
	}
	y, k := expm1Ref(twice(x - n).times(ln2Twofold))
	return near{y.plus(wholeOne), k + int(n)}
}

func expm1Of(x float64) near {
	x = min(x, 3000)
	if x < -200 {
		return near{twice(-1), 0}
	}
	y, n := expm1Ref(twice(x))
	if n == 0 {
		return near{y, 0}
	}
	if n > 200 {
		return near{y.plus(wholeOne), n}
	}
	return near{y.plus(wholeOne).scaled(n).minus(wholeOne), 0}
}

// logRef is the logarithm of x > 0 by a step of Newton from that of package math.
func logRef(x twofold) twofold {
	m, e := math.Frexp(x.hi)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	f := twofold{m, math.Ldexp(x.lo, -e)}
	d := f.minus(wholeOne)
	var y twofold
	if math.Abs(d.hi) < 0x1p-8 {
		y = log1pSeries(d)
	} else {
		guess := twice(math.Log(m))
		r, n := expm1Ref(guess.neg())
		t := f.times(r.plus(wholeOne).scaled(n)).minus(wholeOne) // below 2^-50
		y = guess.plus(t).minus(t.times(t).scaled(-1))
	}
	k := twice(float64(e))
	return y.plus(k.times(ln2Twofold)).plus(twice(ln2Third * float64(e)))
}

func log2Ref(x float64) twofold {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	return logRef(twice(m)).over(ln2Twofold).plus(twice(float64(e)))
}

// log1pSeries is log(1+x) for small x.
func log1pSeries(x twofold) (y twofold) {
	power := x
	for i := 1; math.Abs(power.hi) > 0x1p-115*math.Abs(x.hi); i++ {
		y = y.plus(power.over(twice(float64(i))))
		power = power.times(x).neg()
	}
	return y
}

func log1pRef(x float64) twofold {
	if math.Abs(x) < 0x1p-8 {
		return log1pSeries(twice(x))
	}
	if x > 1 {
		return logRef(sumOf(x, 1))
	}
	return logRef(sumOf(1, x))
}

var piDigits = sync.OnceValue(func() *big.Float {
	// Machin: pi/4 = 4 atan(1/5) - atan(1/239), in units of 2^-1400.
	one := new(big.Int).Lsh(big.NewInt(1), 1400)
	atan := func(k int64) *big.Int {
		sum, power := new(big.Int), new(big.Int).Quo(one, big.NewInt(k))
		for n := int64(1); power.Sign() != 0; n += 2 {
			term := new(big.Int).Quo(power, big.NewInt(n))
			if n%4 == 3 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, big.NewInt(k*k))
		}
		return sum
	}
	p := new(big.Int).Lsh(atan(5), 4)
	p.Sub(p, new(big.Int).Lsh(atan(239), 2))
	f := new(big.Float).SetPrec(1400).SetInt(p)
	return f.SetMantExp(f, -1400)
})

// quartersRef takes the nearest multiple n of pi/2 off x.
func quartersRef(x float64) (n int, r twofold) {
	if math.Abs(x) < 0.78 {
		return 0, twice(x)
	}
	half := new(big.Float).SetMantExp(piDigits(), -1)
	v := new(big.Float).SetPrec(1400).SetFloat64(x)
	q := new(big.Float).SetPrec(1400).Quo(v, half)
	nearest := new(big.Float).SetPrec(1400).Add(q, big.NewFloat(math.Copysign(0.5, x)))
	k, _ := nearest.Int(nil)
	v.Sub(v, new(big.Float).SetPrec(1400).Mul(half, new(big.Float).SetPrec(1400).SetInt(k)))
	hi, _ := v.Float64()
	lo, _ := v.Sub(v, big.NewFloat(hi)).Float64()
	return int(new(big.Int).And(k, big.NewInt(3)).Int64()), twofold{hi, lo}
}

// sinCosRef are sine and cosine of small x, by their series.
func sinCosRef(x twofold) (sin, cos twofold) {
	s := x.times(x).neg()
	term, other := x, wholeOne
	for i := 1; i < 60; i += 2 {
		sin, cos = sin.plus(term), cos.plus(other)
		other = other.times(s).over(twice(float64(i * (i + 1))))
		term = term.times(s).over(twice(float64((i + 1) * (i + 2))))
	}
	return sin, cos
}

// angleRef is the sine of x and as many quarters more.
func angleRef(x float64, more int) twofold {
	n, r := quartersRef(x)
	sin, cos := sinCosRef(r)
	switch (n + more) & 3 {
	case 0:
		return sin
	case 1:
		return cos
	case 2:
		return sin.neg()
	}
	return cos.neg()
}

// atanRef takes the guess of package math off the angle: what is left is small.
func atanRef(x float64) twofold {
	if math.Abs(x) < 0x1p-20 { // x - x^3/3 + x^5/5 - x^7/7
		s := twice(x).times(twice(x)).neg()
		y := wholeOne.over(twice(7))
		for _, n := range []float64{5, 3, 1} {
			y = y.times(s).plus(wholeOne.over(twice(n)))
		}
		return y.times(twice(x))
	}
	a := twice(math.Abs(x))
	y := quarterPi.scaled(1).minus(wholeOne.over(a))
	if a.hi < 0x1p60 {
		guess := math.Atan(a.hi)
		sin, cos := sinCosRef(twice(guess))
		y = twice(guess).plus(a.times(cos).minus(sin).over(cos.plus(a.times(sin)))) // an angle below 2^-50
	}
	return y.times(twice(math.Copysign(1, x)))
}

// tanhRef is (e^2x - 1)/(e^2x + 1).
func tanhRef(x float64) twofold {
	x = max(-60, min(x, 60))
	y, n := expm1Ref(twice(2 * x))
	if n != 0 {
		y = y.plus(wholeOne).scaled(n).minus(wholeOne)
	}
	return y.over(y.plus(twice(2)))
}

// erfRef is 2/sqrt(pi) e^(-x^2) (x + 2/3 x^3 + 4/15 x^5 + ...), all positive.
func erfRef(x float64) near {
	switch {
	case math.Abs(x) > 6.5:
		return near{twice(math.Copysign(1, x)), 0}
	case math.Abs(x) < 0x1p-300:
		return near{rootPi.times(twice(x * 0x1p300)), -300}
	}
	s := twice(x).times(twice(x))
	sum, term := twofold{}, twice(x)
	for i := 1; math.Abs(term.hi) > 0x1p-112*math.Abs(sum.hi); i++ {
		sum = sum.plus(term)
		term = term.times(s).scaled(1).over(twice(float64(2*i + 1)))
	}
	y, n := expm1Ref(s.neg())
	return near{sum.times(y.plus(wholeOne).scaled(n)).times(rootPi), 0}
}

// powRef is e^(y log x) for x > 0.
func powRef(x, y float64) near {
	z := logRef(twice(x)).times(twice(max(-0x1p80, min(y, 0x1p80))))
	if !(math.Abs(z.hi) < 800) {
		return near{twice(0.5), int(math.Copysign(3000, z.hi))}
	}
	return expRef(z)
}
