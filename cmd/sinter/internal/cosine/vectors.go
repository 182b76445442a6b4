// Package cosine compares many vectors with one another: it groups those that
// are alike, and gives the matrix of all cosines.
package cosine

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter/embed"
)

// Vectors are vectors of one length, numbered from 0 as they were added.
type Vectors struct {
	dim    int
	rowOf  []int32 // of a vector, its row; -1 where it is not finite
	copies [][2]int
	ids    []int32 // of a row, its vector
	blocks []block
}

// blockRows is how many rows are multiplied with as many others at a time: the
// products, 1 MiB, stay in a processor's cache until they have been looked at.
const blockRows = 512

// block is up to blockRows rows.
type block struct {
	first  int // row
	values []float32
	norms  []float32 // lengths of the rows; 1 for a row of zeros
	scales []float32 // one over them
}

// New makes an empty set of vectors of length dim.
func New(dim int) *Vectors { return &Vectors{dim: max(0, dim)} }

// Len is the number of vectors.
func (s *Vectors) Len() int { return len(s.rowOf) }

// most is how many vectors there may be: they are numbered by int32.
const most = math.MaxInt32

// Add copies a vector into the set.
func (s *Vectors) Add(v []float32) error {
	switch {
	case len(v) != s.dim:
		return fmt.Errorf("vector %d has length %d, those before it %d", s.Len(), len(v), s.dim)
	case s.Len() >= most:
		return fmt.Errorf("more than %d vectors", most)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		s.rowOf = append(s.rowOf, -1)
		return nil
	}
	s.rowOf = append(s.rowOf, int32(len(s.ids)))
	s.ids = append(s.ids, int32(s.Len()-1))
	if n := len(s.blocks); n == 0 || len(s.blocks[n-1].norms) == blockRows {
		s.blocks = append(s.blocks, block{
			first:  len(s.ids) - 1,
			values: make([]float32, 0, blockRows*s.dim),
			norms:  make([]float32, 0, blockRows),
			scales: make([]float32, 0, blockRows),
		})
	}
	s.blocks[len(s.blocks)-1].add(v, math.Sqrt(sum))
	return nil
}

// add appends a row of a finite length. One that is far from 1 is brought near
// by a power of two, so that products of rows neither overflow nor vanish; the
// cosines stay what they are.
func (b *block) add(v []float32, norm float64) {
	const far = 20 // bits
	_, exponent := math.Frexp(norm)
	b.values = append(b.values, v...)
	if norm != 0 && (exponent > far || exponent < -far) {
		row := b.values[len(b.values)-len(v):]
		for i, x := range row {
			row[i] = float32(math.Ldexp(float64(x), -exponent))
		}
		norm = math.Ldexp(norm, -exponent)
	}
	if norm == 0 {
		norm = 1
	}
	b.norms = append(b.norms, float32(norm))
	b.scales = append(b.scales, float32(1/norm))
}

// AddCopy adds a vector that is the same as one before.
func (s *Vectors) AddCopy(of int) error {
	if of < 0 || of >= s.Len() {
		return fmt.Errorf("a copy of vector %d: there are %d", of, s.Len())
	}
	if s.Len() >= most {
		return fmt.Errorf("more than %d vectors", most)
	}
	s.copies = append(s.copies, [2]int{s.Len(), of})
	s.rowOf = append(s.rowOf, s.rowOf[of])
	return nil
}

// row is the values of a row.
func (s *Vectors) row(i int) []float32 {
	b, at := &s.blocks[i/blockRows], i%blockRows
	return b.values[at*s.dim : (at+1)*s.dim]
}

// exact is the cosine of two rows to the last bit.
func (s *Vectors) exact(i, j int) float32 { return embed.Cosine(s.row(i), s.row(j)) }

// margin is more than the cosine of two rows by f32 products, whatever their
// order, may be away from the exact one. A sum of n products has a relative
// error of n rounding steps of 2^-24 at most (Higham, Accuracy and Stability of
// Numerical Algorithms, section 3.1); norms and scales add a few.
func (s *Vectors) margin() float64 { return float64(s.dim+8) * 0x1p-23 }
