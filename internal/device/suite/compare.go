package suite

import (
	"fmt"
	"math"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
)

// Difference is what a device has wrong in an output.
type Difference struct {
	Output   int
	DType    ir.DType
	Wrong    int       // elements that are
	Of       int       // all there are
	Elements []Element // the first of those that are wrong
}

// Element is one that is not what it should be.
type Element struct {
	At        int // flat position
	Got, Want uint64
	Bound     float64 // how far Got may be from Want
}

// maxElements is how many of them a Difference shows.
const maxElements = 8

func (e *Difference) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "output %d, %d of %d elements are wrong:", e.Output, e.Wrong, e.Of)
	for _, x := range e.Elements {
		b.WriteString("\n\t" + x.Text(e.DType))
	}
	return b.String()
}

// Text says what is wrong with it.
func (x Element) Text(d ir.DType) string {
	if !d.IsFloat() {
		return fmt.Sprintf("element %d is %d, want %d", x.At, ir.Int(d, x.Got), ir.Int(d, x.Want))
	}
	return fmt.Sprintf("element %d is %v (%#x), want %v (%#x) within %.3g", x.At, ir.Float(d, x.Got), x.Got, ir.Float(d, x.Want), x.Want, x.Bound)
}

// Compare finds elements that are further from the referee's than twice the
// bound: the referee itself may be off by one. The error is a Difference.
func (c *Case) Compare(got [][]byte, r *Sample) error { return Compare(c.graph, got, r, c.Exact) }

// Compare is that for any graph; exact allows no element to be off at all.
func Compare(g *ir.Graph, got [][]byte, r *Sample, exact bool) error {
	for i, o := range g.Outputs {
		d := &Difference{Output: i, DType: o.DType, Of: len(r.Want[i]) / o.DType.Size()}
		for k := range d.Of {
			x, y, bound := element(o.DType, got[i], k), element(o.DType, r.Want[i], k), 2*r.Bounds[i][k]
			if x == y || !exact && near(o.DType, x, y, bound) {
				continue
			}
			d.Wrong++
			if len(d.Elements) < maxElements {
				d.Elements = append(d.Elements, Element{At: k, Got: x, Want: y, Bound: bound})
			}
		}
		if d.Wrong > 0 {
			return d
		}
	}
	return nil
}

// near compares floats. Zeros without an error have a sign.
func near(d ir.DType, x, y uint64, bound float64) bool {
	if !d.IsFloat() {
		return math.IsInf(bound, 1) // an index that errors may have moved
	}
	f, g := ir.Float(d, x), ir.Float(d, y)
	if math.IsNaN(f) && math.IsNaN(g) || math.IsInf(bound, 1) {
		return true
	}
	return bound > 0 && math.Abs(f-g) <= bound
}
