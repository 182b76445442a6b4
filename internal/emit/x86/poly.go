package x86

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// poly is an i64 expression as a sum of products of atoms: variables, symbols
// and what is neither a sum nor a product. In this form an address splits by
// the loop that each summand changes in. Arithmetic wraps, as does that of the
// machine.
type poly struct {
	c     int64
	monos []mono // by atoms, no two equal, no coefficient 0
}

type mono struct {
	coef  int64
	atoms []*node // by id; repeated for powers
}

// maxMonos bounds what multiplying out may give; larger products stay atoms.
const maxMonos = 24

func compareAtoms(a, b []*node) int {
	return slices.CompareFunc(a, b, func(x, y *node) int { return cmp.Compare(x.id, y.id) })
}

func (p *poly) plus(q *poly, factor int64) *poly {
	sum := &poly{c: p.c + factor*q.c, monos: slices.Clone(p.monos)}
	for _, m := range q.monos {
		m.coef *= factor
		i, found := slices.BinarySearchFunc(sum.monos, m, func(a, b mono) int { return compareAtoms(a.atoms, b.atoms) })
		if !found {
			sum.monos = slices.Insert(sum.monos, i, m)
		} else if sum.monos[i].coef += m.coef; sum.monos[i].coef == 0 {
			sum.monos = slices.Delete(sum.monos, i, i+1)
		}
	}
	sum.monos = slices.DeleteFunc(sum.monos, func(m mono) bool { return m.coef == 0 })
	return sum
}

func (p *poly) scaled(factor int64) *poly {
	if factor == 1 {
		return p
	}
	return (&poly{}).plus(p, factor)
}

func (p *poly) times(q *poly) *poly {
	product := p.scaled(q.c)
	for _, m := range q.monos {
		part := &poly{monos: []mono{{m.coef * p.c, m.atoms}}}
		for _, n := range p.monos {
			atoms := append(slices.Clone(n.atoms), m.atoms...)
			slices.SortFunc(atoms, func(x, y *node) int { return cmp.Compare(x.id, y.id) })
			part = part.plus(&poly{monos: []mono{{m.coef * n.coef, atoms}}}, 1)
		}
		product = product.plus(part, 1)
	}
	return product
}

// size is how many monomials p has, the constant included.
func (p *poly) size() int {
	if p.c != 0 {
		return len(p.monos) + 1
	}
	return len(p.monos)
}

func (p *poly) constant() (int64, bool) { return p.c, len(p.monos) == 0 }

// key is the same for equal polys.
func (p *poly) key(prefix byte, param int) string {
	b := make([]byte, 0, 16+16*len(p.monos))
	b = append(b, prefix)
	b = binary.AppendVarint(b, int64(param))
	b = binary.AppendVarint(b, p.c)
	for _, m := range p.monos {
		b = binary.AppendVarint(b, m.coef)
		b = append(b, byte(len(m.atoms)))
		for _, a := range m.atoms {
			b = binary.AppendVarint(b, int64(a.id))
		}
	}
	return string(b)
}

func atom(n *node) *poly { return &poly{monos: []mono{{1, []*node{n}}}} }

// polyOf is n, which is i64, as a poly.
func (g *graph) polyOf(n *node) *poly {
	if n.poly == nil {
		n.poly = g.makePoly(n)
	}
	return n.poly
}

func (g *graph) makePoly(n *node) *poly {
	switch n.Kind {
	case loop.KindConst:
		return &poly{c: int64(n.Bits)}
	case loop.KindVar:
		p := atom(n)
		p.c = g.plus[n.Var]
		return p
	case loop.KindSize:
		return g.dimPoly(n.Size)
	case loop.KindApply:
		if p := g.arithmetic(n); p != nil && (!n.acts || g.keepsActs(p, n.args)) {
			return p
		}
	}
	return atom(n)
}

// arithmetic is a sum or product, nil for other operations.
func (g *graph) arithmetic(n *node) *poly {
	switch n.Op {
	case ir.Add:
		return g.polyOf(n.args[0]).plus(g.polyOf(n.args[1]), 1)
	case ir.Sub:
		return g.polyOf(n.args[0]).plus(g.polyOf(n.args[1]), -1)
	case ir.Neg:
		return g.polyOf(n.args[0]).scaled(-1)
	case ir.Mul:
		a, b := g.polyOf(n.args[0]), g.polyOf(n.args[1])
		if a.size()*b.size() <= maxMonos {
			return a.times(b)
		}
	}
	return nil
}

// keepsActs tells whether p still has all atoms of the operands that set status
// words: none may be cancelled.
func (g *graph) keepsActs(p *poly, operands []*node) bool {
	for _, x := range operands {
		for _, m := range g.polyOf(x).monos {
			for _, a := range m.atoms {
				if a.acts && !p.has(a) {
					return false
				}
			}
		}
	}
	return true
}

func (p *poly) has(a *node) bool {
	for _, m := range p.monos {
		if slices.Contains(m.atoms, a) {
			return true
		}
	}
	return false
}

// dimPoly is a size; its atoms are the sizes that are one symbol.
func (g *graph) dimPoly(d ir.Dim) *poly {
	p := &poly{}
	d.Terms(func(coef int64, symbols []ir.Symbol) {
		part := &poly{c: coef}
		for _, s := range symbols {
			n := g.node(loop.SizeOf(ir.Sym(s.Name, int(s.Min), int(s.Max))))
			part = part.times(atom(n))
		}
		p = p.plus(part, 1)
	})
	return p
}

// upper is a bound on the magnitude of a poly of symbols alone.
func (p *poly) upper() (int64, bool) {
	sum := ir.N(int(max(p.c, -p.c)))
	for _, m := range p.monos {
		part := ir.N(int(max(m.coef, -m.coef)))
		for _, a := range m.atoms {
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
