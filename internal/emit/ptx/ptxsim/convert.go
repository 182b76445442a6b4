package ptxsim

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
)

// convert decodes cvt, whose last two modifiers are the types.
func (d *decoder) convert(x *instruction) (run, error) {
	if len(x.mods) < 2 {
		return nil, errors.New("cvt takes two types")
	}
	n := len(x.mods)
	to, from := x.mods[n-2], x.mods[n-1]
	round := strings.Join(x.mods[:n-2], ".")
	if to == "bf16x2" || to == "f16x2" {
		return d.convertPair(x, to, round, from)
	}
	f, err := conversion(to, from, round)
	if err != nil {
		return nil, err
	}
	if err := x.want(2); err != nil {
		return nil, err
	}
	return d.pure(x, d.holder(to, x.args[0]), func(d, a, _, _ *row) {
		for i := range d {
			d[i] = f(a[i])
		}
	}, d.holder(from, x.args[1]))
}

// holder is the type of a register for values of a type: a byte takes 16 bits
// or 32, and the narrow floats are bits.
func (d *decoder) holder(kind, register string) string {
	switch kind {
	case "bf16", "f16":
		return "b16"
	case "tf32":
		return "b32"
	case "u8", "s8":
		if sizeOf(d.regs[register].kind) == 4 {
			return kind[:1] + "32"
		}
		return kind[:1] + "16"
	}
	return kind
}

// convertPair rounds two numbers into the halves of a register, the second
// into the lower.
func (d *decoder) convertPair(x *instruction, to, round, from string) (run, error) {
	if round != "rn" || from != "f32" {
		return nil, fmt.Errorf("no way to convert %s to %s", from, to)
	}
	half := narrow(to[:len(to)-2])
	return d.pure(x, "b32", func(d, a, b, _ *row) {
		for i := range d {
			d[i] = half(a[i])<<16 | half(b[i])
		}
	}, "f32", "f32")
}

// narrow rounds f32 to a narrow float; of NaN there is one.
func narrow(to string) func(uint64) uint64 {
	if to == "bf16" {
		return func(x uint64) uint64 {
			if v := f32(x); v == v {
				return uint64(ir.BF16FromFloat32(v))
			}
			return 0x7fff
		}
	}
	return func(x uint64) uint64 {
		if v := f32(x); v == v {
			return uint64(ir.F16FromFloat32(v))
		}
		return 0x7fff
	}
}

// conversion is cvt of one value.
func conversion(to, from, round string) (func(uint64) uint64, error) {
	floats := [2]bool{strings.Contains(to, "f"), strings.Contains(from, "f")}
	switch {
	case floats == [2]bool{false, false}:
		return resize(to, from, round)
	case floats == [2]bool{true, false} && round == "rn":
		return fromInteger(to, from)
	case floats == [2]bool{false, true} && round == "rzi":
		return toInteger(to, from)
	}
	switch to + "." + from + "." + round {
	case "f32.f16.":
		return func(x uint64) uint64 { return bits32(ir.F16ToFloat32(uint16(x))) }, nil
	case "f16.f32.rn", "bf16.f32.rn":
		return narrow(to), nil
	case "tf32.f32.rna":
		return func(x uint64) uint64 { return bits32(ir.RoundTF32(f32(x))) }, nil
	case "f64.f32.":
		return func(x uint64) uint64 { return bits64(float64(f32(x))) }, nil
	case "f32.f64.rn":
		return func(x uint64) uint64 { return bits32(float32(math.Float64frombits(x))) }, nil
	case "f32.f32.rni", "f32.f32.rmi", "f32.f32.rzi", "f32.f32.rpi":
		whole := rounding[round]
		return func(x uint64) uint64 { return bits32(float32(whole(float64(f32(x))))) }, nil
	case "f64.f64.rni", "f64.f64.rmi", "f64.f64.rzi", "f64.f64.rpi":
		whole := rounding[round]
		return func(x uint64) uint64 { return bits64(whole(math.Float64frombits(x))) }, nil
	}
	return nil, fmt.Errorf("no way to convert %s to %s by %q", from, to, round)
}

var rounding = map[string]func(float64) float64{"rni": math.RoundToEven, "rmi": math.Floor, "rzi": math.Trunc, "rpi": math.Ceil}

// resize is between integers: the sign is that of the source.
func resize(to, from, round string) (func(uint64) uint64, error) {
	if round != "" {
		return nil, fmt.Errorf("no way to convert %s to %s by %q", from, to, round)
	}
	in, out := sizeOf(from), mask(sizeOf(to))
	if to == "s8" {
		return nil, errors.New("the sign of a byte is extended by the conversion from it")
	}
	if from[0] == 's' {
		return func(x uint64) uint64 { return uint64(signed(x, in)) & out }, nil
	}
	k := mask(in)
	return func(x uint64) uint64 { return x & k & out }, nil
}

func fromInteger(to, from string) (func(uint64) uint64, error) {
	size := sizeOf(from)
	k := mask(size)
	isSigned := from[0] == 's'
	switch to {
	case "f32":
		if isSigned {
			return func(x uint64) uint64 { return bits32(float32(signed(x, size))) }, nil
		}
		return func(x uint64) uint64 { return bits32(float32(x & k)) }, nil
	case "f64":
		if isSigned {
			return func(x uint64) uint64 { return bits64(float64(signed(x, size))) }, nil
		}
		return func(x uint64) uint64 { return bits64(float64(x & k)) }, nil
	}
	return nil, fmt.Errorf("no way to convert %s to %s", from, to)
}

// toInteger clamps. NaN gives 0, but for f64 and for 64 bits, where it gives
// the highest bit.
func toInteger(to, from string) (func(uint64) uint64, error) {
	var value func(uint64) float64
	switch from {
	case "f32":
		value = func(x uint64) float64 { return float64(f32(x)) }
	case "f64":
		value = math.Float64frombits
	default:
		return nil, fmt.Errorf("no way to convert %s to %s", from, to)
	}
	size := sizeOf(to)
	nan := uint64(0)
	if from == "f64" || size == 8 {
		nan = 1 << (8*size - 1)
	}
	width := 8 * size
	out := mask(max(size, 2))
	if to[0] == 's' {
		limit := math.Ldexp(1, width-1)
		return func(x uint64) uint64 {
			switch v := value(x); {
			case v != v:
				return nan
			case v >= limit:
				return 1<<(width-1) - 1
			case v < -limit:
				return uint64(int64(-1)<<(width-1)) & out
			default:
				return uint64(int64(v)) & out
			}
		}, nil
	}
	limit := math.Ldexp(1, width)
	return func(x uint64) uint64 {
		switch v := value(x); {
		case v != v:
			return nan
		case v >= limit:
			return mask(size)
		case v <= 0:
			return 0
		default:
			return uint64(v)
		}
	}, nil
}
