package loop

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// indexCase builds one expression twice: through the simplifying constructors
// and plainly.
type indexCase struct {
	rng    *rand.Rand
	vars   []*Var
	bounds []ir.Dim
	env    ir.Env
	sizes  []ir.Dim
}

func newIndexCase(seed uint64, symbolic bool) *indexCase {
	rng := rand.New(rand.NewPCG(seed, 7))
	c := &indexCase{rng: rng, env: ir.Env{"N": 1 + rng.IntN(4), "M": 2 + rng.IntN(3)}}
	c.sizes = []ir.Dim{ir.N(1), ir.N(2), ir.N(3), ir.N(4), ir.N(6)}
	if symbolic {
		n, m := ir.Sym("N", 1, 100), ir.Sym("M", 2, 50)
		c.sizes = append(c.sizes, n, m, n.Mul(m), n.Mul(ir.N(2)), n.Plus(1), m.Plus(-1))
	}
	for range 3 {
		c.vars = append(c.vars, &Var{})
		c.bounds = append(c.bounds, c.size())
	}
	return c
}

func (c *indexCase) size() ir.Dim { return c.sizes[c.rng.IntN(len(c.sizes))] }

func (c *indexCase) bound(v *Var) (ir.Dim, bool) {
	for i, w := range c.vars {
		if v == w {
			return c.bounds[i], true
		}
	}
	return ir.Dim{}, false
}

// each calls f for all values of the variables.
func (c *indexCase) each(t *testing.T, f func(at map[*Var]int)) {
	var n [3]int
	for i, b := range c.bounds {
		n[i] = evalDim(t, b, c.env)
	}
	for x := range n[0] {
		for y := range n[1] {
			for z := range n[2] {
				f(map[*Var]int{c.vars[0]: x, c.vars[1]: y, c.vars[2]: z})
			}
		}
	}
}

func evalDim(t *testing.T, d ir.Dim, env ir.Env) int {
	t.Helper()
	n, err := d.Eval(env)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func evalIndex(t *testing.T, e *Expr, at map[*Var]int, env ir.Env) int {
	t.Helper()
	switch e.Kind {
	case KindConst:
		return int(int64(e.Bits))
	case KindSize:
		return evalDim(t, e.Size, env)
	case KindVar:
		return at[e.Var]
	}
	x, y := evalIndex(t, e.Args[0], at, env), evalIndex(t, e.Args[1], at, env)
	return int(BinaryInt[int64](e.Op)(int64(x), int64(y)))
}

// build makes an expression and its plain twin.
func (c *indexCase) build(t *testing.T, depth int) (simple, plain *Expr) {
	if depth == 0 || c.rng.IntN(5) == 0 {
		var e *Expr
		switch c.rng.IntN(4) {
		case 0:
			e = Int(c.rng.IntN(8))
		case 1:
			e = SizeOf(c.size())
		default:
			e = c.vars[c.rng.IntN(3)].Ref()
		}
		return e, e
	}
	a, pa := c.build(t, depth-1)
	op := c.rng.IntN(7)
	if op < 2 { // divisors are sizes, and what they divide is not negative
		lowest := 0
		c.each(t, func(at map[*Var]int) { lowest = min(lowest, evalIndex(t, pa, at, c.env)) })
		d := c.size()
		switch {
		case lowest < 0:
			op = 2
		case op == 0:
			return DivIndex(a, d, c.bound), Apply(ir.IDiv, ir.I64, pa, SizeOf(d))
		default:
			return ModIndex(a, d, c.bound), Apply(ir.Mod, ir.I64, pa, SizeOf(d))
		}
	}
	b, pb := c.build(t, depth-1)
	switch op {
	case 2:
		return SubIndex(a, b), Apply(ir.Sub, ir.I64, pa, pb)
	case 3, 4:
		return AddIndex(a, b), Apply(ir.Add, ir.I64, pa, pb)
	}
	return MulIndex(a, b), Apply(ir.Mul, ir.I64, pa, pb)
}

func TestIndexSimplification(t *testing.T) {
	for seed := range uint64(2000) {
		c := newIndexCase(seed, seed%2 == 1)
		simple, plain := c.build(t, 4)
		c.each(t, func(at map[*Var]int) {
			if got, want := evalIndex(t, simple, at, c.env), evalIndex(t, plain, at, c.env); got != want {
				t.Fatalf("seed %d at %v %v, sizes %v:\n%v\nis %d, not %d as\n%v", seed, at, c.bounds, c.env, text(simple), got, want, text(plain))
			}
		})
	}
}

// text prints an index expression through a kernel that stores it.
func text(e *Expr) string {
	return (&Kernel{Body: []Stmt{&Set{Local: &Local{Name: "t"}, Value: e}}}).String()
}

func TestAffine(t *testing.T) {
	found := 0
	for seed := range uint64(3000) {
		c := newIndexCase(seed, seed%2 == 1)
		e, _ := c.build(t, 3)
		v := c.vars[0]
		base, stride, ok := Affine(e, v)
		if !ok {
			continue
		}
		if base.Uses(v) || stride.Uses(v) {
			t.Fatalf("seed %d: base or stride depend on the variable", seed)
		}
		if e.Uses(v) {
			found++
		}
		c.each(t, func(at map[*Var]int) {
			got := evalIndex(t, base, at, c.env) + at[v]*evalIndex(t, stride, at, c.env)
			if want := evalIndex(t, e, at, c.env); got != want {
				t.Fatalf("seed %d at %v: %d, not %d", seed, at, got, want)
			}
		})
	}
	if found < 300 {
		t.Errorf("only %d of the expressions depend on the variable", found)
	}
}

// What lowering composes must come out as plain as it was.
func TestIndexForms(t *testing.T) {
	i, j := &Var{Name: "i"}, &Var{Name: "j"}
	n := ir.Sym("N", 1, 4096)
	bound := func(v *Var) (ir.Dim, bool) {
		if v == i {
			return n, true
		}
		return ir.N(64), true
	}
	flat := AddIndex(MulIndex(i.Ref(), Int(64)), j.Ref())
	byN := AddIndex(MulIndex(j.Ref(), SizeOf(n)), i.Ref())
	back := SubIndex(Int(63), j.Ref())
	for _, c := range []struct {
		name string
		got  *Expr
		want string
	}{
		{"div of flat", DivIndex(flat, ir.N(64), bound), "i"},
		{"mod of flat", ModIndex(flat, ir.N(64), bound), "j"},
		{"div by half", DivIndex(flat, ir.N(32), bound), "i*2 + idiv(j, 32)"},
		{"div by symbol", DivIndex(byN, n, bound), "j"},
		{"mod by symbol", ModIndex(byN, n, bound), "i"},
		{"flipped div", DivIndex(AddIndex(MulIndex(i.Ref(), Int(64)), back), ir.N(64), bound), "i"},
		{"flipped mod", ModIndex(AddIndex(MulIndex(i.Ref(), Int(64)), back), ir.N(64), bound), "63 - j"},
		{"may be left of zero", DivIndex(AddIndex(MulIndex(i.Ref(), Int(64)), AddIndex(j.Ref(), Int(-3))), ir.N(64), bound), "i + idiv(j + -3, 64)"},
		{"taken apart and joined", AddIndex(AddIndex(i.Ref(), MulIndex(DivIndex(flat, ir.N(5), bound), Int(5))), ModIndex(flat, ir.N(5), bound)), "i + (i*64 + j)"},
		{"joined with a stride", AddIndex(AddIndex(i.Ref(), MulIndex(DivIndex(j.Ref(), ir.N(5), bound), Int(35))), MulIndex(ModIndex(j.Ref(), ir.N(5), bound), Int(7))), "i + j*7"},
		{"joined with a size as stride", AddIndex(MulIndex(DivIndex(j.Ref(), ir.N(5), bound), SizeOf(n.Mul(ir.N(5)))), MulIndex(ModIndex(j.Ref(), ir.N(5), bound), SizeOf(n))), "j*size(N)"},
		{"joined from three", AddIndex(AddIndex(MulIndex(DivIndex(j.Ref(), ir.N(15), bound), Int(15)), MulIndex(ModIndex(DivIndex(j.Ref(), ir.N(5), bound), ir.N(3), bound), Int(5))), ModIndex(j.Ref(), ir.N(5), bound)), "j"},
		{"of another stride", AddIndex(MulIndex(DivIndex(j.Ref(), ir.N(5), bound), Int(35)), MulIndex(ModIndex(j.Ref(), ir.N(5), bound), Int(8))), "idiv(j, 5)*35 + mod(j, 5)*8"},
		{"of other numbers", AddIndex(MulIndex(DivIndex(flat, ir.N(5), bound), Int(5)), ModIndex(byN, ir.N(5), bound)), "idiv(i*64 + j, 5)*5 + mod(j*size(N) + i, 5)"},
		{"by other sizes", AddIndex(MulIndex(DivIndex(j.Ref(), ir.N(5), bound), Int(5)), ModIndex(j.Ref(), ir.N(10), bound)), "idiv(j, 5)*5 + mod(j, 10)"},
		{"joined from the inner two", AddIndex(AddIndex(MulIndex(DivIndex(j.Ref(), ir.N(15), bound), Int(40)), MulIndex(ModIndex(DivIndex(j.Ref(), ir.N(5), bound), ir.N(3), bound), Int(5))), ModIndex(j.Ref(), ir.N(5), bound)), "idiv(j, 15)*40 + mod(j, 15)"},
		{"joined to a factor's part", AddIndex(MulIndex(AddIndex(i.Ref(), DivIndex(j.Ref(), ir.N(8), bound)), Int(8)), ModIndex(j.Ref(), ir.N(8), bound)), "i*8 + j"},
		{"a sum joined", AddIndex(MulIndex(DivIndex(i.Ref(), ir.N(8), bound), Int(512)), AddIndex(MulIndex(ModIndex(i.Ref(), ir.N(8), bound), Int(64)), j.Ref())), "i*64 + j"},
		{"div by a multiple of a step", DivIndex(flat, ir.N(512), bound), "idiv(i, 8)"},
		{"mod by a multiple of a step", ModIndex(flat, ir.N(512), bound), "mod(i, 8)*64 + j"},
		{"div by a multiple of a size", DivIndex(byN, n.Mul(ir.N(4)), bound), "idiv(j, 4)"},
		{"of a step that is passed", DivIndex(AddIndex(MulIndex(i.Ref(), Int(32)), j.Ref()), ir.N(512), bound), "idiv(i*32 + j, 512)"},
		{"constants meet", AddIndex(AddIndex(i.Ref(), Int(3)), Int(-3)), "i"},
		{"constants multiply", MulIndex(MulIndex(i.Ref(), Int(3)), Int(4)), "i*12"},
	} {
		k := &Kernel{Body: []Stmt{&Loop{Var: i, Hi: SizeOf(n), Range: Serial, Body: []Stmt{
			&Loop{Var: j, Hi: Int(64), Range: Serial, Body: []Stmt{&Set{Local: &Local{Name: "t"}, Value: c.got}}}}}}}
		want := "kernel \"\"\nsymbol N 1 4096\nfor serial i < size(N) {\n\tfor serial j < 64 {\n\t\tt = " + c.want + "\n\t}\n}\n"
		if got := k.String(); got != want {
			t.Errorf("%s: %s, not %s", c.name, got, want)
		}
	}
}

// TestIndexOfReshapes takes an index through shapes with the same number of
// elements, as views of views do, and compares with the numbers themselves.
func TestIndexOfReshapes(t *testing.T) {
	plain := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		factors := []int{2, 3, 2, 1 + rng.IntN(3), 2, 1 + rng.IntN(4)}
		shape := func() (sizes []int) { // of some neighbours multiplied
			for _, f := range factors {
				if len(sizes) > 0 && rng.IntN(2) == 0 {
					sizes[len(sizes)-1] *= f
				} else {
					sizes = append(sizes, f)
				}
			}
			return sizes
		}
		first := shape()
		bounds, index := map[*Var]int{}, []*Expr{}
		var vars []*Var
		for _, n := range first {
			v := &Var{}
			vars, index = append(vars, v), append(index, v.Ref())
			bounds[v] = n
		}
		bound := func(v *Var) (ir.Dim, bool) { n, ok := bounds[v]; return ir.N(n), ok }
		sizes := first
		for range 1 + rng.IntN(3) {
			next := shape()
			index, sizes = reshaped(index, sizes, next, bound), next
		}
		flat := flatIndex(index, sizes)
		if !strings.Contains(text(flat), "idiv") {
			plain++
		}
		at := map[*Var]int{}
		for n := range product(first) {
			rest := n
			for i := len(vars) - 1; i >= 0; i-- {
				at[vars[i]], rest = rest%first[i], rest/first[i]
			}
			if got := evalIndex(t, flat, at, nil); got != n {
				t.Fatalf("seed %d: element %d of %v is read at %d by %v", seed, n, first, got, text(flat))
			}
		}
	}
	if plain < 2900 {
		t.Errorf("only %d of 3000 indices are free of divisions", plain)
	}
}

func product(sizes []int) int {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	return n
}

func flatIndex(index []*Expr, sizes []int) *Expr {
	flat := Int(0)
	for i, e := range index {
		flat = AddIndex(flat, MulIndex(e, Int(product(sizes[i+1:]))))
	}
	return flat
}

// reshaped is the index in another shape of the same element.
func reshaped(index []*Expr, from, to []int, bound Bound) []*Expr {
	flat := flatIndex(index, from)
	all := make([]*Expr, len(to))
	for i := len(to) - 1; i >= 0; i-- {
		all[i] = ModIndex(flat, ir.N(to[i]), bound)
		flat = DivIndex(flat, ir.N(to[i]), bound)
	}
	return all
}
