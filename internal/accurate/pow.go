package accurate

import "math"

// Pow is x to the power of y, with the special cases of math.Pow, whose error
// grows with y.
func Pow(x, y float64) float64 {
	a, whole := math.Abs(x), y == math.Trunc(y)
	switch {
	case !(a > 0 && a <= math.MaxFloat64) || a == 1 || !(math.Abs(y) < 0x1p63), whole && math.Abs(y) <= 2:
		return math.Pow(x, y)
	case x < 0 && !whole:
		return math.NaN()
	}
	hi, lo := log2Sum(a)
	exponent := y * hi
	rest := math.FMA(y, hi, -exponent) + y*lo
	result := 0.0
	switch {
	case exponent > 1100:
		result = math.Inf(1)
	case exponent > -1100:
		n := math.RoundToEven(exponent)
		result = math.Ldexp(math.Exp2(exponent-n+rest), int(n))
	}
	if x < 0 && math.Mod(y, 2) != 0 {
		return -result
	}
	return result
}

// log2Sum is the binary logarithm of a positive number as a sum, right to about
// 2^-63 of it: x = m * 2^k, log m = 2 atanh t = 2 (t + t^3/3 + t^5/5 ...) where
// t = (m-1)/(m+1) is at most 0.18, so that two terms have to be sums too.
func log2Sum(x float64) (hi, lo float64) {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	above, below := m-1, m+1 // the first is exact
	t := above / below
	tRest := (math.FMA(-t, below, above) - t*(m-(below-1))) / below
	square := t * t
	squareRest := math.FMA(t, t, -square) + 2*t*tRest
	cube := t * square
	cubeRest := math.FMA(t, square, -cube) + t*squareRest + tRest*square
	third := cube / 3
	thirdRest := (math.FMA(-third, 3, cube) + cubeRest) / 3
	series := 0.0
	for n := 23.0; n >= 5; n -= 2 {
		series = series*square + 1/n
	}
	sum := t + third
	sumRest := third - (sum - t) + thirdRest + tRest + cube*square*series
	const scale, scaleRest = 2 * math.Log2E, 4.0710547481862066e-17 // of 2/ln2, as a sum
	product := sum * scale
	productRest := math.FMA(sum, scale, -product) + (sum*scaleRest + sumRest*scale)
	// k is 0 or larger than the product.
	hi = float64(k) + product
	lo = (float64(k) - hi) + product + productRest
	return hi, lo
}
