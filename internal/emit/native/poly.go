package native

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Poly is an i64 expression as a sum of products of atoms: variables, symbols
// and what is neither a sum nor a product. In this form an address splits by
// the loop that each summand changes in. Arithmetic wraps, as does that of the
// machine.
type Poly struct {
	C     int64
	Monos []Mono // by atoms, no two equal, no coefficient 0
}

type Mono struct {
	Coef  int64
	Atoms []*Node // by id; repeated for powers
}

// maxMonos bounds what multiplying out may give; larger products stay atoms.
const maxMonos = 24

func compareAtoms(a, b []*Node) int {
	return slices.CompareFunc(a, b, func(x, y *Node) int { return cmp.Compare(x.ID, y.ID) })
}

func (p *Poly) Plus(q *Poly, factor int64) *Poly {
	sum := &Poly{C: p.C + factor*q.C, Monos: slices.Clone(p.Monos)}
	for _, m := range q.Monos {
		m.Coef *= factor
		i, found := slices.BinarySearchFunc(sum.Monos, m, func(a, b Mono) int { return compareAtoms(a.Atoms, b.Atoms) })
		if !found {
			sum.Monos = slices.Insert(sum.Monos, i, m)
		} else if sum.Monos[i].Coef += m.Coef; sum.Monos[i].Coef == 0 {
			sum.Monos = slices.Delete(sum.Monos, i, i+1)
		}
	}
	sum.Monos = slices.DeleteFunc(sum.Monos, func(m Mono) bool { return m.Coef == 0 })
	return sum
}

func (p *Poly) Scaled(factor int64) *Poly {
	if factor == 1 {
		return p
	}
	return (&Poly{}).Plus(p, factor)
}

func (p *Poly) times(q *Poly) *Poly {
	product := p.Scaled(q.C)
	for _, m := range q.Monos {
		part := &Poly{Monos: []Mono{{m.Coef * p.C, m.Atoms}}}
		for _, n := range p.Monos {
			atoms := append(slices.Clone(n.Atoms), m.Atoms...)
			slices.SortFunc(atoms, func(x, y *Node) int { return cmp.Compare(x.ID, y.ID) })
			part = part.Plus(&Poly{Monos: []Mono{{m.Coef * n.Coef, atoms}}}, 1)
		}
		product = product.Plus(part, 1)
	}
	return product
}

// Size is how many monomials p has, the constant included.
func (p *Poly) Size() int {
	if p.C != 0 {
		return len(p.Monos) + 1
	}
	return len(p.Monos)
}

func (p *Poly) Constant() (int64, bool) { return p.C, len(p.Monos) == 0 }

// Key is the same for equal polys.
func (p *Poly) Key(prefix byte, param int) string {
	b := make([]byte, 0, 16+16*len(p.Monos))
	b = append(b, prefix)
	b = binary.AppendVarint(b, int64(param))
	b = binary.AppendVarint(b, p.C)
	for _, m := range p.Monos {
		b = binary.AppendVarint(b, m.Coef)
		b = append(b, byte(len(m.Atoms)))
		for _, a := range m.Atoms {
			b = binary.AppendVarint(b, int64(a.ID))
		}
	}
	return string(b)
}

func Atom(n *Node) *Poly { return &Poly{Monos: []Mono{{1, []*Node{n}}}} }

// PolyOf is n, which is i64, as a sum.
func (g *Graph) PolyOf(n *Node) *Poly {
	if n.poly == nil {
		n.poly = g.makePoly(n)
	}
	return n.poly
}

func (g *Graph) makePoly(n *Node) *Poly {
	switch n.Kind {
	case loop.KindConst:
		return &Poly{C: int64(n.Bits)}
	case loop.KindVar:
		p := Atom(n)
		p.C = g.Plus[n.Var]
		return p
	case loop.KindSize:
		return g.DimPoly(n.Size)
	case loop.KindApply:
		if p := g.arithmetic(n); p != nil && (!n.Acts || g.keepsActs(p, n.Operands)) {
			return p
		}
	}
	return Atom(n)
}

// arithmetic is a sum or product, nil for other operations.
func (g *Graph) arithmetic(n *Node) *Poly {
	switch n.Op {
	case ir.Add:
		return g.PolyOf(n.Operands[0]).Plus(g.PolyOf(n.Operands[1]), 1)
	case ir.Sub:
		return g.PolyOf(n.Operands[0]).Plus(g.PolyOf(n.Operands[1]), -1)
	case ir.Neg:
		return g.PolyOf(n.Operands[0]).Scaled(-1)
	case ir.Mul:
		a, b := g.PolyOf(n.Operands[0]), g.PolyOf(n.Operands[1])
		if a.Size()*b.Size() <= maxMonos {
			return a.times(b)
		}
	}
	return nil
}

// keepsActs tells whether p still has all atoms of the operands that set status
// words: none may be cancelled.
func (g *Graph) keepsActs(p *Poly, operands []*Node) bool {
	for _, x := range operands {
		for _, m := range g.PolyOf(x).Monos {
			for _, a := range m.Atoms {
				if a.Acts && !p.has(a) {
					return false
				}
			}
		}
	}
	return true
}

func (p *Poly) has(a *Node) bool {
	for _, m := range p.Monos {
		if slices.Contains(m.Atoms, a) {
			return true
		}
	}
	return false
}

// DimPoly is a size; its atoms are the sizes that are one symbol.
func (g *Graph) DimPoly(d ir.Dim) *Poly {
	p := &Poly{}
	d.Terms(func(coef int64, symbols []ir.Symbol) {
		part := &Poly{C: coef}
		for _, s := range symbols {
			n := g.Node(loop.SizeOf(ir.Sym(s.Name, int(s.Min), int(s.Max))))
			part = part.times(Atom(n))
		}
		p = p.Plus(part, 1)
	})
	return p
}

// Upper is a bound on the magnitude of a sum of symbols alone.
func (p *Poly) Upper() (int64, bool) {
	sum := ir.N(int(max(p.C, -p.C)))
	for _, m := range p.Monos {
		part := ir.N(int(max(m.Coef, -m.Coef)))
		for _, a := range m.Atoms {
			if a.Kind != loop.KindSize {
				return 0, false
			}
			part = part.Mul(a.Size)
		}
		sum = sum.Add(part)
	}
	_, hi := sum.Bounds()
	return hi, true
}

// MultipleOf tells whether n, a power of two, divides p whatever the atoms are.
func (p *Poly) MultipleOf(n int64) bool {
	for _, m := range p.Monos {
		if m.Coef%n != 0 {
			return false
		}
	}
	return p.C%n == 0
}
