package ptxsim

import (
	"errors"
	"fmt"
	"math"
)

// descriptor says where a matrix lies in shared memory: rows of 128 bytes, eight
// of which make a pattern in whose rows pieces of 16 bytes are exchanged. A row
// has values of k for one row of X or column of Y; of a matrix that is turned, it
// has rows or columns, for one k.
type descriptor struct {
	start int // in the address space
	far   int // bytes from the first 64 rows or columns to the next, where turned
	next  int // bytes from a pattern to the next: of rows or columns, or, where turned, of k
}

// decodeDescriptor refuses what no emitter here writes.
func decodeDescriptor(v uint64, turned bool) (descriptor, error) {
	field := func(shift int) int { return int(v>>shift&0x3fff) << 4 }
	d := descriptor{start: field(0), far: field(16), next: field(32)}
	const all = 0x3fff | 0x3fff<<16 | 0x3fff<<32 | 3<<62
	switch {
	case v&^uint64(all) != 0 || v>>62 != 1:
		return d, fmt.Errorf("the descriptor %#x: only patterns of 128 bytes", v)
	case turned && d.start%1024 != 0 || d.start%1024 >= 128 || d.next%1024 != 0 || turned && d.far%1024 != 0:
		return d, fmt.Errorf("the descriptor %#x: a pattern that does not begin at a multiple of 1024", v)
	}
	return d, nil
}

// at is where the 16 bytes lie that have an element: the n-th row or column, and
// the k-th value, of so many bytes; and which of the bytes are its.
func (d descriptor) at(n, k, size int, turned bool) (at, inner int) {
	if turned {
		across := n % 64 * size
		at = d.start + n/64*d.far + k/8*d.next + k%8*128 + across&^15
		inner = across & 15
	} else {
		at = d.start + n/8*d.next + n%8*128 + k*size&^15
		inner = k * size & 15
	}
	return at ^ at>>7&7<<4, inner
}

// each visits the 16 bytes of both operands that the warp reads.
func (op *wgmmaOp) each(w *warp, visit func(at, n int) error) error {
	size := op.bits / 8
	for i, operand := range op.operands(w) {
		d, err := decodeDescriptor(operand.descriptor, op.turned[i])
		if err != nil {
			return err
		}
		seen := -1
		for n := operand.from; n < operand.to; n++ {
			for k := 0; k < op.k; k++ {
				at, inner := d.at(n, k, size, op.turned[i])
				if inner != 0 || at == seen {
					continue
				}
				seen = at
				if at < sharedBase || at-sharedBase+16 > len(w.b.shared.data) {
					return errors.New("a matrix that is outside of shared memory")
				}
				if err := visit(at-sharedBase, 16); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type wgmmaOperand struct {
	descriptor uint64
	from, to   int
}

// operands are the warp's rows of X, and Y.
func (op *wgmmaOp) operands(w *warp) [2]wgmmaOperand {
	first := 16 * (w.number % 4)
	return [2]wgmmaOperand{{op.wgmmaCall.x, first, first + 16}, {op.wgmmaCall.y, 0, op.cols}}
}

// run adds the product to the sums. Lane l holds rows l/4 and 8 below it, of
// each 8 columns 2*(l%4) and the next.
func (op *wgmmaOp) run(w *warp) {
	var all [2][][]float64
	for i, operand := range op.operands(w) {
		d, _ := decodeDescriptor(operand.descriptor, op.turned[i])
		value := [2]func(uint64) float64{op.a, op.b}[i]
		for n := operand.from; n < operand.to; n++ {
			numbers := make([]float64, op.k)
			for k := range numbers {
				at, inner := d.at(n, k, op.bits/8, op.turned[i])
				numbers[k] = value(get(w.b.shared.data[at-sharedBase+inner:], op.bits/8))
			}
			all[i] = append(all[i], numbers)
		}
	}
	for i := range op.sums {
		for lane := range lanes {
			x, y := all[0][lane/4+8*(i/2%2)], all[1][8*(i/4)+2*(lane%4)+i%2]
			sum := 0.0
			for k, v := range x {
				sum += v * y[k]
			}
			c := &op.sums[i][lane]
			if !op.add {
				*c = 0
			}
			if op.floats {
				*c = bits32(float32(float64(math.Float32frombits(uint32(*c))) + sum))
			} else {
				*c = uint64(uint32(*c) + uint32(int32(int64(sum))))
			}
		}
	}
}
