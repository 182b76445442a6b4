package flat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
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
	// flushes says that comparisons and conversions take subnormals for 0.
	flushes     bool
	fusesNormal bool // fma takes subnormals for 0 and makes 0 of them
	vars        []uint64
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
	var room [3]uint64
	a := room[:len(args)]
	for i, x := range args {
		a[i] = m.bits[x.ID]
	}
	if m.flushes && (op == flat.Less || op == flat.Equal || op == flat.NotEqual || op == flat.FloatToFloat) {
		for i, x := range args {
			a[i] = flush(x.Type, a[i])
		}
	}
	if m.fusesNormal && op == flat.FMA {
		for i, x := range args {
			a[i] = flush(x.Type, a[i])
		}
	}
	bits, err := flattest.Eval(op, args[len(args)-1].Type, to, a)
	if err != nil {
		m.t.Fatal(err)
	}
	if m.flushes && op == flat.FloatToFloat || m.fusesNormal && op == flat.FMA {
		bits = flush(to, bits)
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
	n := effort.Of(5000, 20000, 50000, 50000)
	for _, typ := range []flat.Type{flat.F32, flat.F64} {
		rng := rand.New(rand.NewPCG(3, uint64(typ)))
		m := &machine{t: t, rng: rng}
		for range n {
			m.bits, m.vars, m.fma = m.bits[:0], m.vars[:0], true
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
			m.fusesNormal = true
			r := m.Op(flat.FMA, typ, vx, vy, vz)
			if wrong := flat.Flushed(m, func(flat.Value) bool { return false }, vx, vy, vz, r); m.bits[wrong.ID] == 0 {
				check("flushing", flat.FMA, r, x, y, z)
			}
			m.fusesNormal = false
			m.fma = false
			check("parts", flat.FMA, flat.Fused(m, false, vx, vy, vz), x, y, z)
			check("wide", flat.FMA, flat.Fused(m, true, vx, vy, vz), x, y, z)
		}
	}
}

// flush makes 0 of a subnormal.
func flush(t flat.Type, bits uint64) uint64 {
	sign, fraction := uint64(1)<<31, 23
	switch t {
	case flat.F64:
		sign, fraction = 1<<63, 52
	case flat.F32:
	default:
		return bits
	}
	if bits&^sign < 1<<fraction {
		return bits & sign
	}
	return bits
}

// TestBits compares operations by bits, on a machine that takes subnormals for 0,
// with the processor's.
func TestBits(t *testing.T) {
	n := effort.Of(5000, 20000, 50000, 50000)
	for _, typ := range []flat.Type{flat.F32, flat.F64} {
		rng := rand.New(rand.NewPCG(4, uint64(typ)))
		other := flat.F32 + flat.F64 - typ
		for range n {
			m := &machine{t: t, rng: rng, flushes: true}
			x, y := operand(rng, typ), operand(rng, typ)
			switch rng.IntN(4) {
			case 0:
				y = x
			case 1:
				y = x ^ 1<<(8*typ.Size()-1)
			case 2:
				x, y = x&(1<<(8*typ.Size()-1)|3), y&(1<<(8*typ.Size()-1)|3)
			}
			if typ == flat.F64 && rng.IntN(2) == 0 { // near the subnormals of the other
				x = x&^(0x7ff<<52) | uint64(1023-126-30+rng.IntN(35))<<52
			}
			vx, vy := m.value(typ, x), m.value(typ, y)
			check := func(op flat.Op, to flat.Type, got flat.Value, args ...uint64) {
				want, err := flattest.Eval(op, typ, to, args)
				if err != nil {
					t.Fatal(err)
				}
				if g := m.bits[got.ID]; got.Type != to || g != want && !(to.IsFloat() && isNaN(to, g) && isNaN(to, want)) {
					t.Fatalf("%v of %v %#x: %#x, not %#x", op, typ, args, g, want)
				}
			}
			for _, op := range []flat.Op{flat.Less, flat.Equal, flat.NotEqual} {
				check(op, flat.Bool, flat.Compared(m, op, vx, vy), x, y)
			}
			check(flat.Abs, typ, flat.Positive(m, vx), x)
			convert := flat.Widened
			if typ == flat.F64 {
				convert = flat.Narrowed
			}
			check(flat.FloatToFloat, other, convert(m, vx), x)
		}
	}
}

func (m *machine) Var(t flat.Type) flat.Var {
	m.vars = append(m.vars, 0)
	return flat.Var{ID: uint32(len(m.vars) - 1), Type: t}
}

func (m *machine) Get(v flat.Var) flat.Value    { return m.value(v.Type, m.vars[v.ID]) }
func (m *machine) Set(v flat.Var, x flat.Value) { m.vars[v.ID] = m.bits[x.ID] }

func (m *machine) If(cond flat.Value, then func()) {
	if m.bits[cond.ID] != 0 {
		then()
	}
}

func (m *machine) For(from, to flat.Value, step int, _ bool, body func(flat.Value)) {
	for i := m.bits[from.ID]; i < m.bits[to.ID]; i += uint64(step) {
		body(m.value(from.Type, i))
	}
}

// TestDivided compares divisions of all sizes, on a machine that has those of 32
// bits, with the processor's.
func TestDivided(t *testing.T) {
	n := 20000
	if testing.Short() {
		n = 2000
	}
	rng := rand.New(rand.NewPCG(5, 0))
	for i := range n {
		m := &machine{t: t, rng: rng}
		x, y := rng.Uint64()>>rng.IntN(64), max(1, rng.Uint64()>>rng.IntN(64))
		switch rng.IntN(5) {
		case 0:
			x = 1<<32 - 1 + uint64(rng.IntN(3))
		case 1:
			y = 1<<32 - 1 + uint64(rng.IntN(3))
		case 2:
			x, y = x^-uint64(rng.IntN(2)), max(1, y^-uint64(rng.IntN(2)))
		case 3:
			y = 1 + uint64(rng.IntN(1<<16+2))
		}
		op := [...]flat.Op{flat.DivS, flat.DivU, flat.RemS, flat.RemU}[i%4]
		want, err := flattest.Eval(op, flat.I64, flat.I64, []uint64{x, y})
		if err != nil {
			continue // the least by -1
		}
		got := flat.Divided(m, op, y*uint64(rng.IntN(2)), m.value(flat.I64, x), m.value(flat.I64, y))
		if g := m.bits[got.ID]; got.Type != flat.I64 || g != want {
			t.Fatalf("%v of %#x and %#x: %#x, not %#x", op, x, y, g, want)
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
