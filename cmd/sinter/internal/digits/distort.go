package digits

import (
	"math"
	"math/rand/v2"
)

// Distortion says how far images are changed at most, so that a net sees more
// hands than those of the set. The zero Distortion changes nothing.
type Distortion struct {
	Turn  float64 // radians, to either side
	Scale float64 // the logarithm of the factor of each axis
	Shear float64 // of x by y
	Shift float64 // pixels along each axis
}

// apply draws an image as another hand might have written it: each pixel of the
// result is looked up in m, between four pixels by their nearness, and outside
// there is no ink.
func (d Distortion) apply(m *Image, r *rand.Rand) Image {
	if d == (Distortion{}) {
		return *m
	}
	within := func(most float64) float64 { return most * (2*r.Float64() - 1) }
	sin, cos := math.Sincos(within(d.Turn))
	sx, sy := math.Exp(within(d.Scale)), math.Exp(within(d.Scale))
	xx, xy := float32(cos*sx), float32(-sin*sy+within(d.Shear))
	yx, yy := float32(sin*sx), float32(cos*sy)
	const middle = float32(Side-1) / 2
	dx, dy := middle+float32(within(d.Shift)), middle+float32(within(d.Shift))
	var out Image
	for i := range out {
		x, y := float32(i%Side)-middle, float32(i/Side)-middle
		out[i] = m.between(xx*x+xy*y+dx, yx*x+yy*y+dy)
	}
	return out
}

// between is the ink at a place between pixels.
func (m *Image) between(x, y float32) float32 {
	// Rounded down, where a conversion rounds to 0.
	x0, y0 := int(x+Side)-Side, int(y+Side)-Side
	fx, fy := x-float32(x0), y-float32(y0)
	top := m.at(x0, y0)*(1-fx) + m.at(x0+1, y0)*fx
	bottom := m.at(x0, y0+1)*(1-fx) + m.at(x0+1, y0+1)*fx
	return top*(1-fy) + bottom*fy
}

func (m *Image) at(x, y int) float32 {
	if uint(x) >= Side || uint(y) >= Side {
		return 0
	}
	return m[y*Side+x]
}
