package accurate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const precision = 1400

// exactSin is the sine of x + quarter*pi/2 by its series.
func exactSin(x float64, quarter int64) *big.Float {
	float := func() *big.Float { return new(big.Float).SetPrec(precision) }
	half := float().SetInt(pi(new(big.Int).Lsh(big.NewInt(1), precision)))
	half.SetMantExp(half, -precision-1)
	angle := float().SetFloat64(x)
	n, _ := float().Quo(angle, half).Int(nil)
	angle.Sub(angle, float().Mul(half, float().SetInt(n)))
	angle.SetPrec(300)
	quarter += new(big.Int).Mod(n, big.NewInt(4)).Int64()
	// sin and cos of what is left, which is less than pi/2 in size.
	sum, term := new(big.Float).SetPrec(300), new(big.Float).SetPrec(300).SetInt64(1)
	square := new(big.Float).Mul(angle, angle)
	first := int64(1)
	if quarter%2 == 0 {
		term.Set(angle)
		first = 2
	}
	for k := first; k < first+160; k += 2 {
		sum.Add(sum, term)
		term.Mul(term, square)
		term.Quo(term, new(big.Float).SetInt64(-k*(k+1)))
	}
	if quarter%4 >= 2 {
		sum.Neg(sum)
	}
	return sum
}

// ulps is how far got is from want.
func ulps(got float64, want *big.Float) float64 {
	near, _ := want.Float64()
	_, exponent := math.Frexp(near)
	apart, _ := new(big.Float).Sub(new(big.Float).SetPrec(300).SetFloat64(got), want).Float64()
	return math.Abs(apart) / math.Ldexp(1, max(exponent-53, -1074))
}

func TestSinCos(t *testing.T) {
	angles := []float64{
		0.5, 0.7853981633974484, 1, 2, 3, math.Pi, math.Pi / 2, 3 * math.Pi, 1e5, 1e10, 1e22, 1e300, math.MaxFloat64,
		6381956970095103 * 0x1p797, // of all that there are, nearest to a multiple of pi/2
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		angles = append(angles, math.Ldexp(0.5+rng.Float64()/2, rng.IntN(1026)-1))
		angles = append(angles, math.Round(math.Ldexp(rng.Float64(), 1+rng.IntN(50)))*(math.Pi/2))
	}
	worst := 0.0
	for _, x := range angles {
		for _, x := range []float64{x, -x} {
			for quarter, got := range []float64{Sin(x), Cos(x)} {
				off := ulps(got, exactSin(x, int64(quarter)))
				worst = max(worst, off)
				if !(off <= 1.5) {
					t.Errorf("function %d of %v is %v, %v ulp off", quarter, x, got, off)
				}
			}
		}
	}
	t.Logf("at most %.2f ulp off", worst)
}

func TestSpecial(t *testing.T) {
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if s, c := Sin(x), Cos(x); s == s || c == c {
			t.Errorf("of %v: %v and %v", x, s, c)
		}
	}
	negative := math.Copysign(0, -1)
	if s := Sin(negative); s != 0 || !math.Signbit(s) {
		t.Errorf("the sine of -0 is %v", s)
	}
	if s := Sin(5e-324); s != 5e-324 {
		t.Errorf("the sine of the least number is %v", s)
	}
}

// The values are of glibc, which is within 1 ulp.
func TestSubnormal(t *testing.T) {
	for _, c := range []struct{ got, want, ulps float64 }{
		{Log(5e-324), -744.4400719213812, 2},
		{Log2(5e-324), -1074, 0},
		{Log2(1 + 0x1p-52), 3.203426503814917e-16, 2},
		{Pow(5e-324, 0.5), 2.2227587494850775e-162, 0},
		{Pow(5e-324, 0.2766903626661935), 3.501757153217376e-90, 1},
		{Pow(-5e-324, -1), math.Inf(-1), 0},
		{Pow(-0x1p-1023, -1), -0x1p1023, 0},
		{Pow(5e-324, 1), 5e-324, 0},
		{Pow(-1e-310, 0.3), math.NaN(), 0},
		{Pow(1e-310, 0), 1, 0},
		{Pow(1e-310, 1e300), 0, 0},
		{Pow(1e-310, -1e300), math.Inf(1), 0},
		{Pow(1e-310, math.Inf(1)), 0, 0},
		{Pow(1e-310, math.Inf(-1)), math.Inf(1), 0},
		{Pow(2, 10), 1024, 0},
	} {
		same := c.got == c.want || c.got != c.got && c.want != c.want
		if !same && !(math.Abs(c.got-c.want) <= c.ulps*(math.Nextafter(math.Abs(c.want), math.Inf(1))-math.Abs(c.want))) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func BenchmarkSin(b *testing.B) {
	x := 1.0
	for b.Loop() {
		x = 2 + Sin(x*1e3)
	}
}

// TestPow compares with powers of whole numbers and of eighths, by products.
func TestPow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	worst := 0.0
	for range 4000 {
		x := math.Ldexp(0.5+rng.Float64()/2, rng.IntN(2100)-1074)
		n := rng.IntN(99) - 49
		if rng.IntN(2) == 0 {
			x = 1 + math.Ldexp(rng.Float64()-0.5, -rng.IntN(30))
			n = rng.IntN(1<<17) - 1<<16
		}
		eighths := rng.IntN(2) == 0
		y := float64(n)
		if eighths {
			y /= 8
		}
		got := Pow(x, y)
		if got < 0x1p-1000 || math.IsInf(got, 0) {
			continue
		}
		// (got/exact)^8, or got/exact
		ratio := new(big.Float).SetPrec(200).SetFloat64(got)
		root := 1.0
		if eighths {
			ratio, root = power(ratio, 8), 8
		}
		exact := power(new(big.Float).SetPrec(200).SetFloat64(x), max(n, -n))
		if n < 0 {
			ratio.Mul(ratio, exact)
		} else {
			ratio.Quo(ratio, exact)
		}
		off, _ := ratio.Sub(ratio, big.NewFloat(1)).Float64()
		off = math.Abs(off) / root * 0x1p53
		worst = max(worst, off)
		if !(off <= 2) { // an ulp is 1 to 2 of these
			t.Errorf("%v to the power of %v is %v: %v * 2^-53 off", x, y, got, off)
		}
	}
	t.Logf("at most %.2f * 2^-53 off", worst)
}

func power(x *big.Float, n int) *big.Float {
	result := new(big.Float).SetPrec(200).SetInt64(1)
	for square := new(big.Float).Set(x); n > 0; n >>= 1 {
		if n&1 == 1 {
			result.Mul(result, square)
		}
		square.Mul(square, square)
	}
	return result
}
