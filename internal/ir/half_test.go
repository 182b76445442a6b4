package ir

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every 16-bit value goes to f32 and comes back; NaNs stay NaNs.
func TestHalfRoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		h := uint16(h)
		f, b := F16ToFloat32(h), BF16ToFloat32(h)
		if back := F16FromFloat32(f); back != h && !(f != f && F16ToFloat32(back) != F16ToFloat32(back)) {
			t.Fatalf("f16 %#04x is %v, back %#04x", h, f, back)
		}
		if back := BF16FromFloat32(b); back != h && !(b != b && BF16ToFloat32(back) != BF16ToFloat32(back)) {
			t.Fatalf("bf16 %#04x is %v, back %#04x", h, b, back)
		}
	}
}

// f16 by the formula of IEEE 754: 5 bits of exponent, 10 of fraction.
func TestF16ByFormula(t *testing.T) {
	for h := range 1 << 16 {
		sign, exp, frac := 1.0, h>>10&31, float64(h&1023)
		if h>>15 == 1 {
			sign = -1
		}
		var want float64
		switch exp {
		case 0:
			want = math.Copysign(math.Ldexp(frac, -24), sign)
		case 31:
			if want = math.Inf(int(sign)); frac != 0 {
				want = math.NaN()
			}
		default:
			want = sign * math.Ldexp(1024+frac, exp-25)
		}
		got := float64(F16ToFloat32(uint16(h)))
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%#04x is %v, want %v", h, got, want)
		}
	}
}

// oracle rounds by search: the nearest of all values of the type, of two
// equally near the one with an even code. Past the largest, the next step of
// the grid stands for infinity.
type oracle struct {
	values []float64 // not negative, ascending; the last stands for infinity
}

func newOracle(toFloat func(uint16) float32, infinity uint16) oracle {
	var o oracle
	for h := range infinity {
		o.values = append(o.values, float64(toFloat(h)))
	}
	n := len(o.values)
	o.values = append(o.values, o.values[n-1]+(o.values[n-1]-o.values[n-2]))
	return o
}

func (o oracle) round(f float64) uint16 {
	i, found := slices.BinarySearch(o.values, f)
	if found || i == 0 {
		return uint16(i)
	}
	if i == len(o.values) {
		return uint16(i - 1)
	}
	below, above := f-o.values[i-1], o.values[i]-f
	if below < above || below == above && (i-1)%2 == 0 {
		return uint16(i - 1)
	}
	return uint16(i)
}

// Rounding to nearest, half to even, at every boundary between two values, one
// f32 to its either side, and on random bits.
func TestHalfRounding(t *testing.T) {
	types := []struct {
		name      string
		infinity  uint16
		toFloat   func(uint16) float32
		fromFloat func(float32) uint16
	}{
		{"f16", 0x7c00, F16ToFloat32, F16FromFloat32},
		{"bf16", 0x7f80, BF16ToFloat32, BF16FromFloat32},
	}
	for _, tt := range types {
		t.Run(tt.name, func(t *testing.T) {
			o := newOracle(tt.toFloat, tt.infinity)
			check := func(f float32) {
				want := tt.infinity
				if !math.IsInf(float64(f), 0) {
					want = o.round(math.Abs(float64(f)))
				}
				if math.Signbit(float64(f)) {
					want |= 0x8000
				}
				if got := tt.fromFloat(f); got != want {
					t.Fatalf("%v (%#08x) rounds to %#04x, want %#04x", f, math.Float32bits(f), got, want)
				}
			}
			for i := range o.values[1:] {
				middle := float32((o.values[i] + o.values[i+1]) / 2)
				for _, f := range []float32{middle, math.Nextafter32(middle, 0), math.Nextafter32(middle, float32(math.Inf(1)))} {
					check(f)
					check(-f)
				}
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for range 200000 {
				if f := math.Float32frombits(rng.Uint32()); f == f {
					check(f)
				}
			}
			for _, bits := range []uint32{0x7f800001, 0x7fc00000, 0xffffffff, 0xff800001} {
				if h := tt.fromFloat(math.Float32frombits(bits)); tt.toFloat(h) == tt.toFloat(h) {
					t.Errorf("NaN %#x becomes %#04x, no NaN", bits, h)
				}
			}
		})
	}
}

func TestBitsAndFloat(t *testing.T) {
	tests := []struct {
		d    DType
		v    float64
		bits uint64
		ok   bool
	}{
		{F32, 1.5, 0x3fc00000, true},
		{F64, -2, 0xc000000000000000, true},
		{F16, 65520, 0x7c00, true},
		{BF16, -1, 0xbf80, true},
		{I8, -128, 0x80, true},
		{I8, 128, 0, false},
		{I8, 0.5, 0, false},
		{U8, 255, 0xff, true},
		{U8, -1, 0, false},
		{I64, -1, math.MaxUint64, true},
		{I64, math.Exp2(63), 0, false},
		{I64, -math.Exp2(63), 1 << 63, true},
		{U64, math.Exp2(63), 1 << 63, true},
		{U64, math.Exp2(64), 0, false},
		{U32, math.NaN(), 0, false},
		{Bool, 7, 1, true},
		{NoType, 0, 0, false},
	}
	for _, tt := range tests {
		bits, err := Bits(tt.d, tt.v)
		if (err == nil) != tt.ok || bits != tt.bits {
			t.Errorf("%v %v: %#x, %v", tt.d, tt.v, bits, err)
		}
		if tt.ok && tt.d != Bool && tt.v != 65520 && Float(tt.d, bits) != tt.v {
			t.Errorf("%v %v comes back as %v", tt.d, tt.v, Float(tt.d, bits))
		}
	}
	for _, d := range DTypes() {
		lo, hi := Float(d, Lowest(d)), Float(d, Highest(d))
		if d.IsFloat() && (!math.IsInf(lo, -1) || !math.IsInf(hi, 1)) || !d.IsFloat() && (lo > 0 || hi < 1 || d.IsInt() && d.Size() < 8 && hi-lo != math.Exp2(float64(8*d.Size()))-1) {
			t.Errorf("%v lies between %v and %v", d, lo, hi)
		}
		if again, err := ParseDType(d.String()); err != nil || again != d {
			t.Errorf("%v reads back as %v, %v", d, again, err)
		}
	}
}

// TF32 by search among its values: those f32 whose last 13 digits are 0. Of two
// equally near it is the one farther from zero.
func TestRoundTF32(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 0))
	const step = 1 << 13
	check := func(b uint32) {
		f := math.Float32frombits(b)
		got := RoundTF32(f)
		if f != f {
			if got == got {
				t.Fatalf("NaN %#08x is %v", b, got)
			}
			return
		}
		low := b &^ (step - 1)
		want := math.Float32frombits(low)
		// The grid goes on behind the largest: what is there is infinity.
		below, spacing := float64(want), math.Ldexp(1, max(int(low>>23&0xff), 1)-127-10)
		above := below + math.Copysign(spacing, float64(f))
		if !math.IsInf(float64(f), 0) && math.Abs(float64(f)-below) >= math.Abs(above-float64(f)) {
			want = math.Float32frombits(low + step)
		}
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("%v (%#08x) is %v, want %v", f, b, got, want)
		}
	}
	for _, b := range []uint32{0, 1 << 31, 0xfff, 0x1000, 0x1001, 0x80001000, 0x3f800fff, 0x3f801000, 0x3f803000, 0x7f7fefff, 0x7f7ff000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fffffff} {
		check(b)
	}
	for range 200000 {
		check(rng.Uint32())
	}
}
