package nativetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// CheckWide compares code with the interpreter on what is hard about lanes of 8 bytes:
// every cast from and to f64 and i64 and every operation on them, of values around all
// bounds, the written-out functions of f64, and the ways lanes lie in memory.
func CheckWide(emit Emitter) error {
	var code *Code
	var of *loop.Kernel
	once := func(k *loop.Kernel) (_ *Code, err error) { // several cases of a kernel follow each other
		if k != of {
			of = k
			code, err = emit(k)
		}
		return code, err
	}
	check := func(name string, c *looptest.Case) error {
		if err := Check(c, once, 0); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	for _, e := range wideExprs() {
		for _, l := range wideLayouts[:e.layouts] {
			if err := e.run(l, check); err != nil {
				return err
			}
		}
	}
	return errors.Join(wideReductions(check), wideAccesses(check))
}

// wideExpr is an expression in X, Y and Z, of the values of each.
type wideExpr struct {
	text   string
	to     ir.DType
	from   []ir.DType
	values [][]uint64

	layouts int // how many to try
}

// layout is loops around an expression that is computed at AT, for n of them.
type layout struct {
	name, body string
	out        int // elements of the result to each
	width      int // of what N counts
}

// Each value comes into every lane (the cases begin with another one each time), into
// what is left behind full registers, is done alone, for nothing scatters f64 everywhere,
// and is the same in all lanes, by itself or in a local.
var wideLayouts = []layout{
	{"lanes", "for vector i < size(N) {\n\tout[i] = E(i)\n}\n", 1, 1},
	{"alone", "for vector i < size(N) {\n\tout[3*i] = E(i)\n}\n", 3, 1},
	{"rests of 7", "for global i < size(N) {\n\tfor vector j < 7 {\n\t\tout[7*i + j] = E(7*i + j)\n\t}\n}\n", 1, 7},
	{"rests of 13", "for global i < size(N) {\n\tfor vector j < 13 {\n\t\tout[13*i + j] = E(13*i + j)\n\t}\n}\n", 1, 13},
	{"alike", "for global i < size(N) {\n\tfor vector j < 5 {\n\t\tout[5*i + j] = E(i)\n\t}\n}\n", 5, 1},
	{"local", "for global i < size(N) {\n\tv = E(i)\n\tfor vector j < 5 {\n\t\tout[5*i + j] = v\n\t}\n}\n", 5, 1},
	{"first alike", "for global i < size(N) {\n\tfor vector j < 5 {\n\t\tout[5*i + j] = E(i; 5*i + j)\n\t}\n}\n", 1, 5},
}

func (e *wideExpr) run(l layout, f func(name string, c *looptest.Case) error) error {
	mixed := strings.Contains(l.body, ";")
	if mixed && len(e.from) == 1 {
		return nil
	}
	k, err := Parse(e.kernel(l, mixed))
	if err != nil {
		return fmt.Errorf("%s, %s: %w", e.text, l.name, err)
	}
	k = loop.Expand(k)
	total := 1
	for _, v := range e.values {
		total *= len(v)
	}
	for first := range 4 {
		n := (total + first + l.width - 1) / l.width
		c := &looptest.Case{Kernel: k}
		c.Args.Sizes = ir.Env{"N": n}
		for i, d := range e.from {
			b := make([]byte, 0, n*l.width*d.Size())
			for at := range n * l.width {
				b = appendBits(b, d, e.at(i, at+first))
			}
			c.Args.Buffers = append(c.Args.Buffers, b)
		}
		c.Args.Buffers = append(c.Args.Buffers, make([]byte, n*l.width*l.out*e.to.Size()))
		if c.Args.Start, c.Args.End, err = k.Span(c.Args.Sizes); err != nil {
			return err
		}
		if err := f(fmt.Sprintf("%s of %v, %s, from %d on", e.text, e.from, l.name, first), c); err != nil {
			return err
		}
	}
	return nil
}

// at is element i of param p: all combinations come, those of the last param fastest.
func (e *wideExpr) at(p, i int) uint64 {
	for q := len(e.values) - 1; q > p; q-- {
		i /= len(e.values[q])
	}
	return e.values[p][i%len(e.values[p])]
}

// kernel is the text of the expression in loops.
func (e *wideExpr) kernel(l layout, mixed bool) string {
	var b strings.Builder
	b.WriteString("kernel \"wide\"\nsymbol N 0 1000000\n")
	for i, d := range e.from {
		fmt.Fprintf(&b, "param %c %v[%d*N] read\n", 'x'+i, d, l.width)
	}
	fmt.Fprintf(&b, "param out %v[%d*N] write\n", e.to, l.width*l.out)
	before, rest, _ := strings.Cut(l.body, "E(")
	at, after, _ := strings.Cut(rest, ")")
	first, others := at, at
	if mixed {
		first, others, _ = strings.Cut(at, "; ")
	}
	text := strings.NewReplacer("X", "x["+first+"]", "Y", "y["+others+"]", "Z", "z["+others+"]").Replace(e.text)
	b.WriteString(before + text + after)
	return b.String()
}

func appendBits(b []byte, d ir.DType, v uint64) []byte {
	for j := range d.Size() {
		b = append(b, byte(v>>(8*j)))
	}
	return b
}

// wideReductions are those of f64 and i64 over rows of all lengths up to some registers.
func wideReductions(f func(name string, c *looptest.Case) error) error {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, r := range []struct {
		op      ir.Op
		d       ir.DType
		initial string
	}{
		{ir.Add, ir.F64, "f64(-0)"}, {ir.Mul, ir.F64, "f64(1)"}, {ir.Max, ir.F64, "f64(-inf)"}, {ir.Min, ir.F64, "f64(inf)"},
		{ir.Add, ir.I64, "3"}, {ir.Mul, ir.I64, "3"}, {ir.Max, ir.I64, "-9223372036854775808"}, {ir.Min, ir.I64, "9223372036854775807"},
		{ir.And, ir.I64, "-1"}, {ir.Or, ir.I64, "0"},
	} {
		k, err := Parse(fmt.Sprintf(`kernel "reduced"
symbol M 0 1000
symbol N 0 1000
param x %[1]v[M*N] read
param y %[1]v[M] write
for global i < size(M) {
	all = %[2]s
	for vector j < size(N) {
		all %[3]v= x[i*size(N) + j]
	}
	y[i] = all
}
`, r.d, r.initial, r.op))
		if err != nil {
			return err
		}
		const rows = 4
		values := wideValues(r.d)
		for n := range 45 {
			c := &looptest.Case{Kernel: k}
			c.Args.Sizes = ir.Env{"M": rows, "N": n}
			var b []byte
			for range rows * n {
				v := values[rng.IntN(len(values))]
				if r.d == ir.F64 && (rng.IntN(8) > 0 || r.op == ir.Add || r.op == ir.Mul) { // exact in any order
					v = math.Float64bits(float64(rng.IntN(3) - 1))
				}
				b = appendBits(b, r.d, v)
			}
			c.Args.Buffers = [][]byte{b, make([]byte, rows*r.d.Size())}
			if c.Args.Start, c.Args.End, err = k.Span(c.Args.Sizes); err != nil {
				return err
			}
			if err := f(fmt.Sprintf("%v over %d of %v", r.op, n, r.d), c); err != nil {
				return err
			}
		}
	}
	return nil
}
