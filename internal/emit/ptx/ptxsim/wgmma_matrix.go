package ptxsim

import (
	"encoding/binary"
	"errors"
	"fmt"
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

// piece is where the 16 bytes lie that begin with an element: the n-th row or
// column, and the k-th value, of so many bytes.
func (d descriptor) piece(n, k, size int, turned bool) int {
	var at int
	if turned {
		at = d.start + n/64*d.far + k/8*d.next + k%8*128 + n%64*size
	} else {
		at = d.start + n/8*d.next + n%8*128 + k*size
	}
	return at ^ at>>7&7<<4
}

// each visits the 16 bytes of both operands that the warp reads, and of which
// operand they are and what row or column and value of k they begin with.
func (op *wgmmaOp) each(w *warp, visit func(at, operand, n, k int) error) error {
	size := op.bits / 8
	for i, operand := range op.operands(w) {
		if i == 0 && op.regsX != nil {
			continue
		}
		d, err := decodeDescriptor(operand.descriptor, op.turned[i])
		if err != nil {
			return err
		}
		along, down := 16/size, 1 // elements of a piece
		if op.turned[i] {
			along, down = down, along
		}
		for n := operand.from; n < operand.to; n += down {
			for k := 0; k < op.k; k += along {
				at := d.piece(n, k, size, op.turned[i])
				if at < sharedBase || at-sharedBase+16 > len(w.b.shared.data) {
					return errors.New("a matrix that is outside of shared memory")
				}
				if err := visit(at-sharedBase, i, n-operand.from, k); err != nil {
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

// run adds the product to the sums, eight columns after eight.
func (op *wgmmaOp) run(w *warp) {
	x, y := op.numbers(w)
	o := &w.b.operands
	copy(o.a[:], x)
	for i := 0; i < len(op.sums); i += 4 {
		copy(o.b[:], y[2*i:])
		sums := op.product.sums(o)
		for j := range 4 {
			c := &op.sums[i+j]
			if !op.add {
				*c = row{}
			}
			op.product.add(c, c, &sums, j)
		}
	}
}

// numbers are the warp's rows of X and the columns of Y.
func (op *wgmmaOp) numbers(w *warp) (x, y [][32]float64) {
	x, y = make([][32]float64, 16), make([][32]float64, op.cols)
	for i, held := range op.held { // rows lane/4, and 8 below, of 8 values of k, and of the next
		for lane, v := range held {
			op.a.values(uint32(v), x[lane/4+i%2*8][i/2*8+lane%4*2:])
		}
	}
	to, elements := [2][][32]float64{x, y}, [2]element{op.a, op.b}
	_ = op.each(w, func(at, i, n, k int) error { // nothing is amiss, or the product had not begun
		var piece [16]float64
		per := 32 / op.bits
		for j := range 4 {
			elements[i].values(binary.LittleEndian.Uint32(w.b.shared.data[at+4*j:]), piece[j*per:])
		}
		if !op.turned[i] {
			copy(to[i][n][k:], piece[:4*per])
			return nil
		}
		for j, v := range piece[:4*per] {
			to[i][n+j][k] = v
		}
		return nil
	})
	return x, y
}
