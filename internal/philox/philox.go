// Package philox is the counter-based random generator Philox4x32-10 of
// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC 2011). It has no state: a block of four words is a function of a counter
// and a key, so any thread may compute any element of a tensor.
package philox

import "math/bits"

const (
	mul0, mul1   = 0xD2511F53, 0xCD9E8D57 // multipliers of the two halves
	weyl0, weyl1 = 0x9E3779B9, 0xBB67AE85 // added to the key each round: golden ratio, sqrt(3)-1
	rounds       = 10
)

// Block encrypts a counter under a key into four random words.
func Block(counter [4]uint32, key [2]uint32) [4]uint32 {
	c, k := counter, key
	for range rounds {
		hi0, lo0 := bits.Mul32(mul0, c[0])
		hi1, lo1 := bits.Mul32(mul1, c[2])
		c = [4]uint32{hi1 ^ c[1] ^ k[0], lo1, hi0 ^ c[3] ^ k[1], lo0}
		k[0] += weyl0
		k[1] += weyl1
	}
	return c
}

// Key is what a draw is made from: the words of the seed, then of the stream,
// the lower first.
type Key [4]uint32

// Fill writes the words first, first+1, ... of the draw to out. Word i is word i
// mod 4 of the block whose counter is (i/4 low, i/4 high, stream low, stream
// high) under the seed as the key: the layout that cuRAND has for (seed,
// subsequence, offset).
func Fill(k Key, first uint64, out []uint32) {
	for len(out) > 0 {
		words := block(k, first/4)
		n := copy(out, words[first%4:])
		out, first = out[n:], first+uint64(n)
	}
}

func block(k Key, n uint64) [4]uint32 {
	return Block([4]uint32{uint32(n), uint32(n >> 32), k[2], k[3]}, [2]uint32{k[0], k[1]})
}
