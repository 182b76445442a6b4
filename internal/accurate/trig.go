package accurate

import (
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// Sin is the sine of any angle.
func Sin(x float64) float64 {
	n, hi, lo := quarters(x)
	switch n {
	case 1:
		return cosine(hi, lo)
	case 2:
		return -sine(hi, lo)
	case 3:
		return -cosine(hi, lo)
	}
	return sine(hi, lo)
}

// Cos is the cosine of any angle.
func Cos(x float64) float64 {
	n, hi, lo := quarters(x)
	switch n {
	case 1:
		return -sine(hi, lo)
	case 2:
		return -cosine(hi, lo)
	case 3:
		return sine(hi, lo)
	}
	return cosine(hi, lo)
}

// sine and cosine are those of hi + lo, at most about pi/4, by their first
// derivatives.
func sine(hi, lo float64) float64 {
	if lo == 0 {
		return math.Sin(hi) // and -0
	}
	return math.Sin(hi) + lo*math.Cos(hi)
}

func cosine(hi, lo float64) float64 { return math.Cos(hi) - lo*math.Sin(hi) }

// quarters takes the nearest multiple of pi/2 off an angle: n, modulo 4, and what
// is left as a sum. No float64 comes closer to such a multiple than 2^-62 or so,
// and what is left is right to 2^-130: 1/(2*pi) has as many digits here as that
// takes (Payne and Hanek 1983).
func quarters(x float64) (n int, hi, lo float64) {
	a := math.Abs(x)
	if !(a > math.Pi/4) || math.IsInf(a, 1) { // or NaN
		return 0, x, 0
	}
	fraction, exponent := math.Frexp(a)
	mantissa, at := uint64(fraction*0x1p53), exponent-53 // a = mantissa * 2^at
	turns := times(turnsAt(at), mantissa)
	n = int((turns[0]+1<<61)>>62) & 3
	turns[0] -= uint64(n) << 62
	negative := turns[0]>>63 == 1
	if negative {
		turns = negated(turns)
	}
	hi, lo = inRadians(turns)
	if negative {
		hi, lo = -hi, -lo
	}
	if x < 0 {
		return -n & 3, -hi, -lo
	}
	return n, hi, lo
}

// fixed is a part of one, of 192 binary places.
type fixed [3]uint64

// turnsAt is 2^at / (2*pi) without its whole part.
func turnsAt(at int) (f fixed) {
	digits := turnDigits()
	word, shift := (at+64)/64, (at+64)%64
	for i := range f {
		f[i] = digits[word+i]<<shift | digits[word+i+1]>>(64-shift)
	}
	return f
}

// times is f*m without its whole part.
func times(f fixed, m uint64) (out fixed) {
	carry2, low2 := bits.Mul64(f[2], m)
	carry1, low1 := bits.Mul64(f[1], m)
	out[2] = low2
	var over uint64
	out[1], over = bits.Add64(low1, carry2, 0)
	out[0] = f[0]*m + carry1 + over
	return out
}

// negated is 1-f, or 0.
func negated(f fixed) (out fixed) {
	carry := uint64(1)
	for i := 2; i >= 0; i-- {
		out[i], carry = bits.Add64(^f[i], 0, carry)
	}
	return out
}

// inRadians is f turns as the sum of two floats.
func inRadians(f fixed) (hi, lo float64) {
	zeros := 0
	for f[0] == 0 && zeros < 128 {
		f, zeros = fixed{f[1], f[2]}, zeros+64
	}
	shift := bits.LeadingZeros64(f[0])
	zeros += shift
	top, next := f[0]<<shift|f[1]>>(64-shift), f[1]<<shift|f[2]>>(64-shift)
	const twoPi, rest = 2 * math.Pi, 2.4492935982947064e-16 // of 2*pi, as a sum
	a, b := float64(top>>11)*0x1p-53, float64(top<<53|next>>11)*0x1p-117
	product := a * twoPi
	small := math.FMA(a, twoPi, -product) + (a*rest + b*twoPi)
	hi = product + small
	lo = small - (hi - product)
	return math.Ldexp(hi, -zeros), math.Ldexp(lo, -zeros)
}

// turnDigits is 1/(2*pi) in binary, behind 64 zeros.
var turnDigits = sync.OnceValue(func() (digits [22]uint64) {
	const places = 64 * 22
	// 1/(2*pi) * 2^(places-64), of pi with 64 places more.
	one := new(big.Int).Lsh(big.NewInt(1), places+64)
	turn := new(big.Int).Lsh(one, places-64)
	turn.Quo(turn, new(big.Int).Lsh(pi(one), 1))
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = new(big.Int).And(turn, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		turn.Rsh(turn, 64)
	}
	return digits
})

// pi is pi*one, by Machin's formula.
func pi(one *big.Int) *big.Int {
	// atan(1/k) = 1/k - 1/(3 k^3) + 1/(5 k^5) ...
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
	return p.Sub(p, new(big.Int).Lsh(atan(239), 2))
}
