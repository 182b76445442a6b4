// Package accurate has the functions of float64 that package math has too, but
// does not have within 2 ulp of the exact value everywhere: logarithms near 1 and
// of subnormal numbers, large powers, sines of large angles and of angles near the
// multiples of pi.
package accurate

import "math"

// smallestNormal is the least number that is not subnormal; those, times lift,
// are normal.
const (
	smallestNormal = 0x1p-1022
	lift           = 0x1p54
)

// Log is math.Log, but for subnormal arguments, which that one takes for others
// on some processors.
func Log(x float64) float64 {
	if x > 0 && x < smallestNormal {
		return math.Log(x*lift) - 54*math.Ln2
	}
	return math.Log(x)
}

// Log2 is math.Log2, but for arguments near 1: that one splits off the exponent
// and loses all digits to cancellation just above 1.
func Log2(x float64) float64 {
	if x > 0.75 && x < 1.5 {
		return math.Log(x) * math.Log2E
	}
	return math.Log2(x)
}
