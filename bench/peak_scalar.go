package bench

import "sync/atomic"

const (
	scalarRounds = 8192
	scalarChains = 14 // and two factors: the vector registers that amd64 has
	scalarFlops  = 2 * scalarChains
)

// scalarSink keeps the loop from being dropped as useless.
var scalarSink atomic.Value

// scalarLoop multiplies and adds in independent chains, as fast as code by Go's
// compiler can: it uses no vectors. Products are rounded before they are
// added, as in the kernels that it bounds.
func scalarLoop() float32 {
	const a, b = 0.999, 0.001
	var c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13 float32
	for range scalarRounds {
		c0 = float32(c0*a) + b
		c1 = float32(c1*a) + b
		c2 = float32(c2*a) + b
		c3 = float32(c3*a) + b
		c4 = float32(c4*a) + b
		c5 = float32(c5*a) + b
		c6 = float32(c6*a) + b
		c7 = float32(c7*a) + b
		c8 = float32(c8*a) + b
		c9 = float32(c9*a) + b
		c10 = float32(c10*a) + b
		c11 = float32(c11*a) + b
		c12 = float32(c12*a) + b
		c13 = float32(c13*a) + b
	}
	return c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + c10 + c11 + c12 + c13
}
