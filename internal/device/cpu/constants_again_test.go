package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// againGraph multiplies two results of a constant kernel: one that is kept, as others read
// it, and one that is computed again for the product.
const againGraph = `graph
symbol n 1 64
leaf 0 input "x" f32[n 8]
leaf 1 weight "w" f32[8 8]
%0 = input : f32[n 8]
%1 = weight leaf=1 : f32[8 8]
%2 = permute %1 axes=[1 0] : f32[8 8]
%3 = reducemax %2 axes=[1] : f32[8 1]
%4 = expand %3 : f32[8 8]
%5 = sub %4 %1 : f32[8 8]
%6 = max %2 %1 : f32[8 8]
%7 = mul %6 %4 : f32[8 8]
%8 = flip %5 axes=[0] : f32[8 8]
%9 = matmul %7 %8 : f32[8 8]
%10 = matmul %0 %9 : f32[n 8]
%11 = matmul %0 %5 : f32[n 8]
%12 = add %10 %11 : f32[n 8]
return %12
`

// TestConstantsComputedAgain: a product of weights finds its right operand where the
// kernel that runs again for the left one leaves it.
func TestConstantsComputedAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for _, d := range machines(t) {
		c := newConstantTest(t, d, againGraph, d.weight(t, rng, 64))
		for n := range 3 {
			c.check(t, randomElements(rng, ir.F32, (1+n)*8, false), 1+n)
		}
	}
}
