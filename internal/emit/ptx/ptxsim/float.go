package ptxsim

import (
	"fmt"
	"math"
	"strings"

	"github.com/sinterml/sinter/internal/loop"
)

func f32(v uint64) float32 { return math.Float32frombits(uint32(v)) }

// bits32 is a result: a GPU has one NaN.
func bits32(x float32) uint64 {
	if x != x {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(x))
}

func bits64(x float64) uint64 {
	if x != x {
		return 0x7fffffffffffffff
	}
	return math.Float64bits(x)
}

// float decodes arithmetic on f32 and f64. Rounding must be said: without it
// assemblers may fuse a product and a sum.
func (d *decoder) float(x *instruction) (run, error) {
	kind := x.kind()
	kinds := []string{kind, kind, kind}
	arity := 2
	var f func(d, a, b, c *row)
	op := x.name + "." + strings.Join(x.mods, ".")
	switch {
	case fast32[op] != nil:
		f = fast32[op]
		if x.name == "fma" {
			arity = 3
		}
	case one32[op] != nil:
		g := one32[op]
		arity = 1
		f = func(d, a, _, _ *row) {
			for i := range d {
				d[i] = g(a[i])
			}
		}
	case op == "fma.rn.f64":
		arity = 3
		f = func(d, a, b, c *row) {
			for i := range d {
				d[i] = bits64(math.FMA(math.Float64frombits(a[i]), math.Float64frombits(b[i]), math.Float64frombits(c[i])))
			}
		}
	case two64[op] != nil:
		g := two64[op]
		f = func(d, a, b, _ *row) {
			for i := range d {
				d[i] = bits64(g(math.Float64frombits(a[i]), math.Float64frombits(b[i])))
			}
		}
	default:
		return nil, fmt.Errorf("no way to run %s", op)
	}
	return d.pure(x, kind, f, kinds[:arity]...)
}

// fast32 is the operations that occur most.
var fast32 = map[string]func(d, a, b, c *row){
	"add.rn.f32": func(d, a, b, _ *row) {
		for i := range d {
			d[i] = bits32(f32(a[i]) + f32(b[i]))
		}
	},
	"sub.rn.f32": func(d, a, b, _ *row) {
		for i := range d {
			d[i] = bits32(f32(a[i]) - f32(b[i]))
		}
	},
	"mul.rn.f32": func(d, a, b, _ *row) {
		for i := range d {
			d[i] = bits32(f32(a[i]) * f32(b[i]))
		}
	},
	"div.rn.f32": func(d, a, b, _ *row) {
		for i := range d {
			d[i] = bits32(f32(a[i]) / f32(b[i]))
		}
	},
	"fma.rn.f32": func(d, a, b, c *row) {
		for i := range d {
			d[i] = bits32(loop.FMA32(f32(a[i]), f32(b[i]), f32(c[i])))
		}
	},
	"min.f32": func(d, a, b, _ *row) {
		for i := range d {
			d[i] = bits32(float32(math.Min(number(a[i], b[i]), number(b[i], a[i]))))
		}
	},
	"max.NaN.f32": func(d, a, b, _ *row) {
		for i := range d {
			d[i] = bits32(max(f32(a[i]), f32(b[i])))
		}
	},
	"max.f32": func(d, a, b, _ *row) {
		for i := range d {
			d[i] = bits32(float32(math.Max(number(a[i], b[i]), number(b[i], a[i]))))
		}
	},
}

// number is x, or y if that is NaN: min and max leave NaN out.
func number(x, y uint64) float64 {
	if v := f32(x); v == v {
		return float64(v)
	}
	return float64(f32(y))
}

// one32 is operations on one number, which a change of sign leaves NaN as it is.
var one32 = map[string]func(uint64) uint64{
	"neg.f32":     func(x uint64) uint64 { return x ^ 1<<31 },
	"abs.f32":     func(x uint64) uint64 { return x &^ (1 << 31) },
	"sqrt.rn.f32": func(x uint64) uint64 { return bits32(float32(math.Sqrt(float64(f32(x))))) },
	"rcp.rn.f32":  func(x uint64) uint64 { return bits32(1 / f32(x)) },
	// These have 20 bits, and look at as many.
	"rcp.approx.ftz.f64":   func(x uint64) uint64 { return bits64(1/math.Float64frombits(x>>32<<32)) >> 32 << 32 },
	"rsqrt.approx.ftz.f64": func(x uint64) uint64 { return bits64(1/math.Sqrt(math.Float64frombits(x>>32<<32))) >> 32 << 32 },
	// Cut, as a device may be off by an ulp.
	"sqrt.approx.f32": func(x uint64) uint64 {
		y := bits32(float32(math.Sqrt(float64(f32(x)))))
		if y != 0 && y < 0x7f800000 {
			y--
		}
		return y
	},
	"neg.f64":     func(x uint64) uint64 { return x ^ 1<<63 },
	"abs.f64":     func(x uint64) uint64 { return x &^ (1 << 63) },
	"sqrt.rn.f64": func(x uint64) uint64 { return bits64(math.Sqrt(math.Float64frombits(x))) },
	"rcp.rn.f64":  func(x uint64) uint64 { return bits64(1 / math.Float64frombits(x)) },
}

var two64 = map[string]func(x, y float64) float64{
	"add.rn.f64": func(x, y float64) float64 { return x + y },
	"sub.rn.f64": func(x, y float64) float64 { return x - y },
	"mul.rn.f64": func(x, y float64) float64 { return x * y },
	"div.rn.f64": func(x, y float64) float64 { return x / y },
	"min.f64": func(x, y float64) float64 {
		switch {
		case x != x:
			return y
		case y != y:
			return x
		}
		return min(x, y)
	},
	"max.f64": func(x, y float64) float64 {
		switch {
		case x != x:
			return y
		case y != y:
			return x
		}
		return max(x, y)
	},
}
