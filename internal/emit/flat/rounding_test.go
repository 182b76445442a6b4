package flat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
)

// machine evaluates at once. Quotients and roots of it are wrong by up to three
// units in the last place.
type machine struct {
	t    *testing.T
	rng  *rand.Rand
	bits []uint64
	fma  bool // there is one
}

func (m *machine) value(t flat.Type, bits uint64) flat.Value {
	m.bits = append(m.bits, bits)
	return flat.Value{ID: uint32(len(m.bits) - 1), Type: t}
}

func (m *machine) Const(t flat.Type, bits uint64) flat.Value {
	if t.Size() == 4 {
		bits &= math.MaxUint32
	}
	return m.value(t, bits)
}

func (m *machine) Op(op flat.Op, to flat.Type, args ...flat.Value) flat.Value {
	a := make([]uint64, len(args))
	for i, x := range args {
		a[i] = m.bits[x.ID]
	}
	bits, err := flattest.Eval(op, args[len(args)-1].Type, to, a)
	if err != nil {
		m.t.Fatal(err)
	}
	switch op {
	case flat.Div, flat.Sqrt:
		bits += uint64(m.rng.IntN(7) - 3)
	case flat.FMA:
		if !m.fma {
			m.t.Fatal("there is no fma")
		}
	}
	return m.value(to, bits)
}

// operand draws a float: of any size, special, close to a power of two.
func operand(rng *rand.Rand, t flat.Type) uint64 {
	fraction, exponent := 23, 8
	if t == flat.F64 {
		fraction, exponent = 52, 11
	}
	e := uint64(1)<<(exponent-1) - 1 + uint64(rng.IntN(9)) - 4
	f := rng.Uint64() & (1<<fraction - 1)
	switch rng.IntN(8) {
	case 0:
		e = rng.Uint64() & (1<<exponent - 1)
	case 1:
		e = uint64(rng.IntN(3))
	case 2:
		e = 1<<exponent - 1 - uint64(rng.IntN(3))
	}
	switch rng.IntN(6) {
	case 0:
		f = uint64(rng.IntN(4))
	case 1:
		f = 1<<fraction - 1 - uint64(rng.IntN(4))
	}
	return rng.Uint64()&1<<(fraction+exponent) | e<<fraction | f
}

// TestRounding compares corrected results of random operands, those of which the
// result is close to 0 among them, with the processor's.
func TestRounding(t *testing.T) {
	n := 50000
	if testing.Short() {
		n = 5000
	}
	for _, typ := range []flat.Type{flat.F32, flat.F64} {
		rng := rand.New(rand.NewPCG(3, uint64(typ)))
		for range n {
			m := &machine{t: t, rng: rng, fma: true}
			x, y, z := operand(rng, typ), operand(rng, typ), operand(rng, typ)
			if rng.IntN(4) == 0 { // the sum cancels
				p, _ := flattest.Eval(flat.Mul, typ, typ, []uint64{x, y})
				z = p ^ 1<<(8*typ.Size()-1) + uint64(rng.IntN(3)) - 1
			}
			check := func(name string, op flat.Op, got flat.Value, args ...uint64) {
				want, err := flattest.Eval(op, typ, typ, args)
				if err != nil {
					t.Fatal(err)
				}
				if g := m.bits[got.ID]; g != want && !(isNaN(typ, g) && isNaN(typ, want)) {
					t.Fatalf("%s %v of %#x: %#x, not %#x", name, typ, args, g, want)
				}
			}
			vx, vy, vz := m.value(typ, x), m.value(typ, y), m.value(typ, z)
			check("quotient", flat.Div, flat.Quotient(m, vx, vy), x, y)
			check("root", flat.Sqrt, flat.Root(m, vx), x)
			for _, op := range []flat.Op{flat.Floor, flat.Trunc, flat.Round} {
				check("whole", op, flat.Whole(m, op, vx), x)
			}
			m.fma = false
			check("parts", flat.FMA, flat.Fused(m, false, vx, vy, vz), x, y, z)
			check("wide", flat.FMA, flat.Fused(m, true, vx, vy, vz), x, y, z)
		}
	}
}

func isNaN(t flat.Type, bits uint64) bool {
	if t == flat.F32 {
		f := math.Float32frombits(uint32(bits))
		return f != f
	}
	return math.IsNaN(math.Float64frombits(bits))
}
