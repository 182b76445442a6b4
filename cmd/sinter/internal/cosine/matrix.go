package cosine

import (
	"context"
	"math"
	"slices"

	"github.com/sinterml/sinter"
)

// Matrix calls row with the cosines of each vector with all, in order, as f32
// products give them; where these cannot tell them from 1 they are exact, so
// that equal vectors have 1. They are the same on both sides of the diagonal. A
// vector of zeros has cosine 0 with all, one with NaN or an infinity in it NaN.
// row must not keep the slice.
func (s *Vectors) Matrix(ctx context.Context, d *sinter.Device, row func(i int, cosines []float32) error) error {
	p, err := newProduct(s.dim, d)
	if err != nil {
		return err
	}
	defer p.close()
	const panel = 64 // rows at a time, which bounds memory
	var (
		cosines  = make([]float32, s.Len())
		products []float32 // panel x rows
		first    = 0       // the row of the panel's first
	)
	for i, r := range s.rowOf {
		if r >= 0 && (products == nil || int(r) < first || int(r) >= first+panel) {
			first = int(r) / panel * panel
			if products, err = s.panel(ctx, p, first, min(first+panel, len(s.ids))); err != nil {
				return err
			}
		}
		if r < 0 {
			for j := range cosines {
				cosines[j] = float32(math.NaN())
			}
		} else {
			s.spread(cosines, products[(int(r)-first)*len(s.ids):][:len(s.ids)])
		}
		if err := row(i, cosines); err != nil {
			return err
		}
	}
	return ctx.Err()
}

var ones = slices.Repeat([]float32{1}, blockRows)

// panel is the cosines of rows from to to, all of one block, with all rows.
func (s *Vectors) panel(ctx context.Context, p *product, from, to int) ([]float32, error) {
	a := &s.blocks[from/blockRows]
	nearOne := float32(1 - s.margin())
	all := make([]float32, (to-from)*len(s.ids))
	for i := range s.blocks {
		b := &s.blocks[i]
		products, err := p.run(ctx, a, from-a.first, to-a.first, b, ones[:len(b.norms)])
		if err != nil {
			return nil, err
		}
		width := len(b.norms)
		for r := range to - from {
			norm := a.norms[from-a.first+r]
			out := all[r*len(s.ids)+b.first:][:width]
			for j, v := range products[r*width : (r+1)*width] {
				c := float32(float64(v) / (float64(norm) * float64(b.norms[j])))
				if c >= nearOne {
					c = s.exact(from+r, b.first+j)
				}
				out[j] = max(-1, c)
			}
		}
	}
	return all, nil
}

// spread makes of the cosines with rows those with vectors.
func (s *Vectors) spread(cosines, rows []float32) {
	for j, r := range s.rowOf {
		if r < 0 {
			cosines[j] = float32(math.NaN())
		} else {
			cosines[j] = rows[r]
		}
	}
}
