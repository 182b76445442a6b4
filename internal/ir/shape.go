package ir

import (
	"fmt"
	"math"
)

// Shape is the sizes of a tensor's dimensions, the slowest first. Tensors are
// dense and row-major; views are ops.
type Shape []Dim

// MaxElements bounds the elements of one tensor, so that sizes in bytes and
// flat indices never overflow.
const MaxElements = math.MaxInt64 >> 16

// Static makes a shape of constants.
func Static(sizes ...int) Shape {
	s := make(Shape, len(sizes))
	for i, n := range sizes {
		s[i] = N(n)
	}
	return s
}

// Equal is equality by form, dimension by dimension.
func (s Shape) Equal(t Shape) bool {
	if len(s) != len(t) {
		return false
	}
	for i := range s {
		if !s[i].Equal(t[i]) {
			return false
		}
	}
	return true
}

// Numel is the number of elements; 1 for rank 0.
func (s Shape) Numel() Dim {
	n := N(1)
	for _, d := range s {
		n = n.Mul(d)
	}
	return n
}

// Ints returns the sizes of a shape without symbols.
func (s Shape) Ints() ([]int, bool) {
	out := make([]int, len(s))
	for i, d := range s {
		n, ok := d.Const()
		if !ok {
			return nil, false
		}
		out[i] = n
	}
	return out, true
}

// Eval computes every size.
func (s Shape) Eval(env Env) ([]int, error) {
	out := make([]int, len(s))
	for i, d := range s {
		n, err := d.Eval(env)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

// maxRank and maxTerms bound what a shape costs to work with: the terms of its
// number of elements are at most the product of its dimensions' terms.
const (
	maxRank  = 32
	maxTerms = 1024

	// maxDegree bounds the symbols that one product holds: a size squared
	// again and again would double them each time.
	maxDegree = 16
)

// Check refuses sizes that may be negative, shapes that may hold more than
// MaxElements, and shapes too complicated to compute with.
func (s Shape) Check() error {
	if len(s) > maxRank {
		return fmt.Errorf("rank %d is above %d", len(s), maxRank)
	}
	total, terms := int64(1), 1
	for _, d := range s {
		if n := len(d.terms); n > 0 {
			if terms *= n + 1; terms > maxTerms || len(d.terms[0].vars) > maxDegree {
				return fmt.Errorf("shape %v has too many symbolic terms: name a sum by a symbol of its own", s)
			}
		}
		lo, hi := d.Bounds()
		if lo < 0 {
			return fmt.Errorf("size %v may be negative (%d)", d, lo)
		}
		total = mulSat(total, max(hi, 1))
	}
	if total > MaxElements {
		return fmt.Errorf("shape %v may hold %d elements, the limit is %d: lower the sizes or the bounds of the symbols", s, total, int64(MaxElements))
	}
	return nil
}

// Strides gives the row-major stride of each dimension, in elements.
func (s Shape) Strides() []Dim {
	st := make([]Dim, len(s))
	n := N(1)
	for i := len(s) - 1; i >= 0; i-- {
		st[i] = n
		n = n.Mul(s[i])
	}
	return st
}

// String prints [3 N 2*B+1].
func (s Shape) String() string { return string(s.Append(nil)) }

// Append appends what String prints.
func (s Shape) Append(b []byte) []byte {
	b = append(b, '[')
	for i, d := range s {
		if i > 0 {
			b = append(b, ' ')
		}
		b = d.Append(b)
	}
	return append(b, ']')
}

// Broadcast gives the shape that a and b are expanded to by numpy's rule:
// aligned at the end, equal sizes or one of them 1.
func Broadcast(a, b Shape) (Shape, error) {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := make(Shape, len(a))
	copy(out, a)
	for i := range b {
		j := len(a) - len(b) + i
		switch {
		case a[j].Equal(b[i]), b[i].IsConst(1):
		case a[j].IsConst(1):
			out[j] = b[i]
		default:
			return nil, fmt.Errorf("shapes %v and %v do not broadcast: sizes %v and %v", a, b, a[j], b[i])
		}
	}
	return out, nil
}
