package ir

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Symbol is a named size that is bound when a program runs. Symbols of one
// graph are equal by name; Min and Max are inclusive.
type Symbol struct {
	Name     string
	Min, Max int64
}

// term is coef times the product of vars; vars are sorted by name and repeat
// for powers.
type term struct {
	coef int64
	vars []Symbol
}

// Dim is the size of one dimension: a polynomial in symbols with integer
// coefficients, in canonical form (terms sorted, none zero, none equal), so
// that equal polynomials have equal forms. The zero value is 0. Dims are
// immutable. Arithmetic saturates at the ends of int64; Shape.Check refuses
// sizes near them.
type Dim struct {
	c     int64
	terms []term
}

// N is a constant size.
func N(n int) Dim { return Dim{c: int64(n)} }

// Sym is a symbolic size between lo and hi, both inclusive.
func Sym(name string, lo, hi int) Dim {
	return Dim{terms: []term{{1, []Symbol{{name, int64(lo), int64(hi)}}}}}
}

// Const returns the value of a dimension without symbols.
func (d Dim) Const() (int, bool) { return int(d.c), len(d.terms) == 0 }

// IsConst tells whether d is exactly the number n.
func (d Dim) IsConst(n int) bool { return len(d.terms) == 0 && d.c == int64(n) }

// Static is true when d holds no symbol.
func (d Dim) Static() bool { return len(d.terms) == 0 }

// Symbol returns d's symbol when d is that symbol alone.
func (d Dim) Symbol() (Symbol, bool) {
	if d.c == 0 && len(d.terms) == 1 && d.terms[0].coef == 1 && len(d.terms[0].vars) == 1 {
		return d.terms[0].vars[0], true
	}
	return Symbol{}, false
}

// SymbolPlus returns the symbol s and the constant c when d is s + c.
func (d Dim) SymbolPlus() (s Symbol, c int, ok bool) {
	s, ok = Dim{terms: d.terms}.Symbol()
	return s, int(d.c), ok
}

// Symbols returns the symbols of d, each once, sorted by name.
func (d Dim) Symbols() []Symbol {
	var all []Symbol
	for _, t := range d.terms {
		all = append(all, t.vars...)
	}
	slices.SortFunc(all, func(a, b Symbol) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b Symbol) bool { return a.Name == b.Name })
}

// Equal is equality by form: true exactly when the polynomials are the same.
func (d Dim) Equal(e Dim) bool {
	if d.c != e.c || len(d.terms) != len(e.terms) {
		return false
	}
	for i, t := range d.terms {
		if t.coef != e.terms[i].coef || compareVars(t.vars, e.terms[i].vars) != 0 {
			return false
		}
	}
	return true
}

// Add returns d + e.
func (d Dim) Add(e Dim) Dim {
	sum := Dim{c: addSat(d.c, e.c)}
	if len(d.terms) == 0 {
		sum.terms = e.terms
		return sum
	}
	if len(e.terms) == 0 {
		sum.terms = d.terms
		return sum
	}
	sum.terms = make([]term, 0, len(d.terms)+len(e.terms))
	i, j := 0, 0
	for i < len(d.terms) && j < len(e.terms) {
		a, b := d.terms[i], e.terms[j]
		switch c := compareVars(a.vars, b.vars); {
		case c < 0:
			sum.terms = append(sum.terms, a)
			i++
		case c > 0:
			sum.terms = append(sum.terms, b)
			j++
		default:
			if k := addSat(a.coef, b.coef); k != 0 {
				sum.terms = append(sum.terms, term{k, a.vars})
			}
			i, j = i+1, j+1
		}
	}
	sum.terms = append(append(sum.terms, d.terms[i:]...), e.terms[j:]...)
	return sum
}

// Neg returns -d.
func (d Dim) Neg() Dim { return d.Mul(N(-1)) }

// Sub returns d - e.
func (d Dim) Sub(e Dim) Dim { return d.Add(e.Neg()) }

// Plus returns d + n.
func (d Dim) Plus(n int) Dim { return Dim{c: addSat(d.c, int64(n)), terms: d.terms} }

// Mul returns d * e.
func (d Dim) Mul(e Dim) Dim {
	if len(d.terms) == 0 && len(e.terms) == 0 {
		return Dim{c: mulSat(d.c, e.c)}
	}
	if d.IsConst(1) {
		return e
	}
	if e.IsConst(1) {
		return d
	}
	var product Dim
	for _, a := range d.all() {
		for _, b := range e.all() {
			product = product.Add(single(mulSat(a.coef, b.coef), mergeVars(a.vars, b.vars)))
		}
	}
	return product
}

// Div returns the polynomial q with q*e == d, if there is one.
func (d Dim) Div(e Dim) (Dim, bool) {
	if len(d.terms) == 0 && len(e.terms) == 0 {
		if e.c == 0 || d.c%e.c != 0 {
			return Dim{}, false
		}
		return Dim{c: quotient(d.c, e.c)}, true
	}
	ea := e.all()
	if len(ea) == 0 {
		return Dim{}, false
	}
	lead := ea[0]
	var q Dim
	// Long division: each round removes the leading term of the rest.
	for rest, rounds := d, 0; ; rounds++ {
		ra := rest.all()
		if len(ra) == 0 {
			return q, true
		}
		vars, ok := divVars(ra[0].vars, lead.vars)
		if !ok || ra[0].coef%lead.coef != 0 || rounds > 64 {
			return Dim{}, false
		}
		part := single(quotient(ra[0].coef, lead.coef), vars)
		q = q.Add(part)
		rest = rest.Sub(part.Mul(e))
	}
}

// Env gives the values of symbols by name.
type Env map[string]int

// Eval computes d. A symbol that env lacks is an error, as is overflow.
func (d Dim) Eval(env Env) (int, error) {
	sum, over := d.c, infinite(d.c)
	for _, t := range d.terms {
		p := t.coef
		for _, s := range t.vars {
			v, ok := env[s.Name]
			if !ok {
				return 0, fmt.Errorf("size %q is not bound", s.Name)
			}
			p = mulSat(p, int64(v))
		}
		sum = addSat(sum, p)
		over = over || infinite(p) || infinite(sum)
	}
	if over {
		return 0, errors.New("size " + d.String() + " overflows")
	}
	return int(sum), nil
}

// String prints the canonical form: 784, N, 2*B*T+1.
func (d Dim) String() string { return string(d.Append(nil)) }

// Append appends the canonical form to b.
func (d Dim) Append(b []byte) []byte {
	for i, t := range d.terms {
		switch {
		case t.coef == -1:
			b = append(b, '-')
		case t.coef < 0 || i == 0:
		default:
			b = append(b, '+')
		}
		if t.coef != 1 && t.coef != -1 {
			b = append(strconv.AppendInt(b, t.coef, 10), '*')
		}
		for j, s := range t.vars {
			if j > 0 {
				b = append(b, '*')
			}
			b = append(b, s.Name...)
		}
	}
	if len(d.terms) == 0 {
		return strconv.AppendInt(b, d.c, 10)
	}
	if d.c > 0 {
		b = append(b, '+')
	}
	if d.c != 0 {
		b = strconv.AppendInt(b, d.c, 10)
	}
	return b
}

// Terms visits the summands of d in canonical order: a coefficient and the
// symbols it multiplies, none for the constant.
func (d Dim) Terms(visit func(coef int64, symbols []Symbol)) {
	for _, t := range d.all() {
		visit(t.coef, t.vars)
	}
}

// all returns the terms with the constant as the last.
func (d Dim) all() []term {
	if d.c == 0 {
		return d.terms
	}
	return append(d.terms[:len(d.terms):len(d.terms)], term{coef: d.c})
}

func single(coef int64, vars []Symbol) Dim {
	switch {
	case coef == 0:
		return Dim{}
	case len(vars) == 0:
		return Dim{c: coef}
	}
	return Dim{terms: []term{{coef, vars}}}
}

// compareVars orders monomials: higher degree first, then by names.
func compareVars(a, b []Symbol) int {
	if len(a) != len(b) {
		return len(b) - len(a)
	}
	for i := range a {
		if c := strings.Compare(a[i].Name, b[i].Name); c != 0 {
			return c
		}
	}
	return 0
}

func mergeVars(a, b []Symbol) []Symbol {
	vars := append(slices.Clone(a), b...)
	slices.SortStableFunc(vars, func(x, y Symbol) int { return strings.Compare(x.Name, y.Name) })
	return vars
}

// divVars removes the symbols of b from a.
func divVars(a, b []Symbol) ([]Symbol, bool) {
	rest := slices.Clone(a)
	for _, s := range b {
		i := slices.IndexFunc(rest, func(t Symbol) bool { return t.Name == s.Name })
		if i < 0 {
			return nil, false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return rest, true
}

// infinite tells a sum or product that left the range of int64; its sign is
// still right, and it stays so in further sums and products.
func infinite(a int64) bool { return a == math.MaxInt64 || a == math.MinInt64 }

func addSat(a, b int64) int64 {
	if infinite(a) {
		return a
	}
	if infinite(b) {
		return b
	}
	s := a + b
	if (a > 0) == (b > 0) && a != 0 && b != 0 && (s > 0) != (a > 0) {
		return saturated(a < 0)
	}
	return s
}

func mulSat(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	neg := (a < 0) != (b < 0)
	hi, lo := bits.Mul64(absU(a), absU(b))
	if hi != 0 || lo >= math.MaxInt64 || infinite(a) || infinite(b) {
		return saturated(neg)
	}
	if neg {
		return -int64(lo)
	}
	return int64(lo)
}

func saturated(neg bool) int64 {
	if neg {
		return math.MinInt64
	}
	return math.MaxInt64
}

// quotient is a / b where b divides a; -1 << 63 has no negative.
func quotient(a, b int64) int64 {
	if b == -1 {
		return mulSat(a, b)
	}
	return a / b
}

func absU(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}
