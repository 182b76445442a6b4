package x86

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// This file puts panels of B into the form that kernels by pairs read, which gemm_pairs.go
// describes: EmitPairRows' code lays out weights by k, PairOrders finds orders of these, and
// EmitPairSteps' code writes steps in them.

// PairRows is the weights of half a chunk: for each k those of PackedCols columns, and a row
// of zeros behind.
type PairRows [pairsHalf + 1][2]uint64

const (
	pairRowBytes  = 16
	pairRowsBytes = (pairsHalf + 1) * pairRowBytes
	pairSteps     = PairsSteps / 2 // of half a chunk
)

// PairOrder is the order of a chunk's values of k, or of those that are multiplied first or
// at last: for each byte of a column's steps, which of the same half of the chunk it is;
// pairsNone: 0.
type PairOrder struct {
	Bytes [PairsChunk]uint8
	More  bool // another order of the same chunk follows
}

// PairOrders appends the orders of a panel, whose weights are in two of rows a chunk. It
// gives up, and returns nil, where more than most are needed.
func PairOrders(orders []PairOrder, rows []PairRows, most int) []PairOrder {
	for ; len(rows) > 0; rows = rows[2:] {
		var first, second PairOrder
		for half := range 2 {
			at := half * pairsHalf
			if !rows[half].match(first.Bytes[at:][:pairsHalf], second.Bytes[at:][:pairsHalf]) {
				first.More = true
			}
		}
		if orders = append(orders, first); first.More {
			orders = append(orders, second)
		}
		if len(orders) > most {
			return nil
		}
	}
	return orders
}

// PairPanelBytes is the bytes of a panel of at most so many orders.
func PairPanelBytes(orders int) int {
	return pairStart(orders) + orders*PairsSteps*PackedBytes
}

// pairStart is where steps begin in a panel of so many orders.
func pairStart(orders int) int {
	return (pairsOrders + orders*pairsOrder + PackedBytes - 1) &^ (PackedBytes - 1)
}

// KeepColumns makes all but the first n columns 0.
func (p *PairRows) KeepColumns(n int) {
	for k := range p {
		for half := range p[k] {
			p[k][half] &= 1<<(8*max(0, min(8, n-8*half))) - 1
		}
	}
}

// PairHead writes the head of a panel, and returns its steps.
func PairHead(panel []byte, orders []PairOrder) (steps []byte) {
	start := pairStart(len(orders))
	binary.LittleEndian.PutUint64(panel[pairsChunks:], uint64(len(orders)))
	binary.LittleEndian.PutUint64(panel[pairsStart:], uint64(start))
	for i := range orders {
		at, skip := panel[pairsOrders+i*pairsOrder:], uint64(PairsChunk)
		if orders[i].More || i == len(orders)-1 { // behind the last the kernel puts a chunk in order once more
			skip = 0
		}
		binary.LittleEndian.PutUint64(at[pairsSkip:], skip)
		copy(at[pairsBytes:], orders[i].Bytes[:])
	}
	return panel[start:]
}

// PairPlaces appends where the rows are whose weights the steps of a panel hold, one after
// the other, in bytes from the panel's first row.
func PairPlaces(places []uint32, orders []PairOrder) []uint32 {
	at := uint32(0)
	for i := range orders {
		for j, k := range orders[i].Bytes {
			place := at + uint32(j/pairsHalf)*pairRowsBytes
			places = append(places, place+pairRowBytes*uint32(min(k, pairsHalf)))
		}
		if !orders[i].More {
			at += 2 * pairRowsBytes
		}
	}
	return places
}

// match finds an order in which the sums of two weights side by side are bytes. Where there
// is none, or it does not find it soon, one half of the values goes to a first order and one
// to a second, each beside a 0.
func (p *PairRows) match(first, second []uint8) bool {
	for i := range second {
		second[i] = pairsNone
	}
	m := matching{rows: p, values: p.bySize(), left: 1<<pairsHalf - 1, tries: matchTries}
	if m.find() {
		for i, pair := range m.pairs {
			first[2*i], first[2*i+1] = pair[0], pair[1]
		}
		return true
	}
	for i := range pairsHalf / 2 {
		first[2*i], first[2*i+1] = uint8(i), pairsNone
		second[2*i] = uint8(pairsHalf/2 + i)
	}
	return false
}

// matching is a search for pairs, depth first.
type matching struct {
	rows   *PairRows
	values [pairsHalf]uint8 // of k, the most difficult first
	left   uint32           // bits of those that have no partner
	pairs  [pairsHalf / 2][2]uint8
	found  int
	tries  int // that are left
}

// matchTries is how many pairs are tried for half a chunk: with more, hardly any more of a
// model's weights find an order.
const matchTries = 300

// find pairs the first value that is left, and then the others.
func (m *matching) find() bool {
	if m.left == 0 {
		return true
	}
	i := bits.TrailingZeros32(m.left)
	k := m.values[i]
	for others := m.left & (m.left - 1); others != 0; others &= others - 1 {
		if m.tries--; m.tries < 0 {
			return false
		}
		j := bits.TrailingZeros32(others)
		if !m.rows.exact(k, m.values[j]) {
			continue
		}
		both := uint32(1)<<i | uint32(1)<<j
		m.pairs[m.found] = [2]uint8{k, m.values[j]}
		m.found, m.left = m.found+1, m.left^both
		if m.find() {
			return true
		}
		m.found, m.left = m.found-1, m.left^both
	}
	return false
}

// signs are those of the bytes of a word.
const signs = 0x80808080_80808080

// exact tells whether no column's sum of the weights of two values of k is beyond a byte.
func (p *PairRows) exact(i, j uint8) bool {
	a, b := &p[i], &p[j]
	return overflows(a[0], b[0])|overflows(a[1], b[1]) == 0
}

// overflows tells the bytes whose sum does: it has a sign that neither of them has.
func overflows(a, b uint64) uint64 {
	sum := (a&^signs + b&^signs) ^ (a^b)&signs
	return (sum ^ a) & (sum ^ b) & signs
}

// bySize sorts the values of k, those with the most large weights first: of two whose sum
// is beyond a byte one is below -64 or above 63.
func (p *PairRows) bySize() (values [pairsHalf]uint8) {
	var of [PackedCols + 1]uint32 // bits of the values by their count of large weights
	for k := range pairsHalf {
		of[large(p[k][0])+large(p[k][1])] |= 1 << k
	}
	n := 0
	for count := PackedCols; count >= 0; count-- {
		for ; of[count] != 0; of[count] &= of[count] - 1 {
			values[n] = uint8(bits.TrailingZeros32(of[count]))
			n++
		}
	}
	return values
}

// large counts bytes whose second bit is not their sign.
func large(x uint64) int { return bits.OnesCount64((x<<1 ^ x) & signs) }

// PairRowsArgs is what the code of EmitPairRows gets in RDI: panels of steps, as formats of
// four bytes to a lane have them, and where their rows go.
type PairRowsArgs struct {
	Steps  unsafe.Pointer // [Halves][pairSteps][PackedCols][4]int8
	Rows   unsafe.Pointer // [Halves]PairRows
	Halves uintptr        // at least 1
}

// PairStepsArgs is what the code of EmitPairSteps gets in RDI.
type PairStepsArgs struct {
	Rows   unsafe.Pointer // [...]PairRows
	Places unsafe.Pointer // [Halves][pairsHalf]uint32, see PairPlaces
	Steps  unsafe.Pointer // [Halves][pairSteps][PackedCols][4]int8
	Halves uintptr        // at least 1
}

// Offsets of the arguments; a test compares.
const (
	pairRowsSteps  = 0
	pairRowsRows   = 8
	pairRowsHalves = 16

	pairStepsRows   = 0
	pairStepsPlaces = 8
	pairStepsSteps  = 16
	pairStepsHalves = 24
)

// EmitPairRows emits the code that lays out steps by k.
func EmitPairRows() ([]byte, error) {
	a := asm.New(asm.AVX2)
	const from, to, count = asm.RSI, asm.RDX, asm.RCX
	const low, high, zero, turn = asm.V(0), asm.V(1), asm.V(6), asm.V(7)
	byK := make([]byte, 0, 32) // of four lanes the first bytes, the second ones, and so on
	for i := range byte(32) {
		byK = append(byK, i%4*4+i/4%4)
	}
	a.Op(asm.VMOVUPS, turn, a.Vec(byK))
	a.Op(asm.VPXOR, zero, zero, zero)
	a.Op(asm.MOV, from, asm.Ptr(gArgs, pairRowsSteps))
	a.Op(asm.MOV, to, asm.Ptr(gArgs, pairRowsRows))
	a.Op(asm.MOV, count, asm.Ptr(gArgs, pairRowsHalves))
	again := a.Here()
	for s := range pairSteps {
		for half, v := range []asm.V{low, high} {
			a.Op(asm.VMOVUPS, v, asm.Ptr(from, s*PackedBytes+32*half))
			a.Op(asm.VPSHUFB, v, v, turn)
		}
		// Each group of 128 bits has four columns, by k: those of columns 0 to 3 and 8 to 11
		// are beside each other now, and those of the others.
		for i, op := range []asm.Op{asm.VUNPCKLPS, asm.VUNPCKHPS} {
			both, others := asm.V(2), asm.V(3)
			a.Op(op, both, low, high)
			a.Op(asm.VEXTRACTF128, others, both, asm.Imm(1))
			for j, op := range []asm.Op{asm.VUNPCKLPS, asm.VUNPCKHPS} {
				a.Op(op, asm.V(4), both, others, asm.L128)
				a.Op(asm.VMOVUPS, asm.Ptr(to, (4*s+2*i+j)*pairRowBytes), asm.V(4), asm.L128)
			}
		}
	}
	a.Op(asm.VMOVUPS, asm.Ptr(to, pairsHalf*pairRowBytes), zero, asm.L128)
	a.Op(asm.ADD, from, asm.Imm(pairSteps*PackedBytes))
	a.Op(asm.ADD, to, asm.Imm(pairRowsBytes))
	a.Op(asm.SUB, count, asm.Imm(1))
	a.J(asm.NE, again)
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	return a.Finish()
}

// EmitPairSteps emits the code that makes steps of rows.
func EmitPairSteps() ([]byte, error) {
	a := asm.New(asm.AVX2)
	const rows, places, to, count, at = asm.RSI, asm.R8, asm.RDX, asm.RCX, asm.RAX
	const columns = PackedCols / 2 // of each of the halves
	a.Op(asm.MOV, rows, asm.Ptr(gArgs, pairStepsRows))
	a.Op(asm.MOV, places, asm.Ptr(gArgs, pairStepsPlaces))
	a.Op(asm.MOV, to, asm.Ptr(gArgs, pairStepsSteps))
	a.Op(asm.MOV, count, asm.Ptr(gArgs, pairStepsHalves))
	again := a.Here()
	for s := range pairSteps {
		for k := range 4 {
			a.Op(asm.MOV, at.R32(), asm.Ptr(places, 4*(4*s+k)))
			a.Op(asm.VMOVUPS, asm.V(k), asm.Idx(rows, at, 1, 0), asm.L128)
		}
		for half, op := range []asm.Op{asm.VPUNPCKLBW, asm.VPUNPCKHBW} {
			first, second := asm.V(4), asm.V(5)
			a.Op(op, first, asm.V(0), asm.V(1), asm.L128)
			a.Op(op, second, asm.V(2), asm.V(3), asm.L128)
			for i, op := range []asm.Op{asm.VPUNPCKLWD, asm.VPUNPCKHWD} {
				a.Op(op, asm.V(6), first, second, asm.L128)
				a.Op(asm.VMOVUPS, asm.Ptr(to, s*PackedBytes+4*columns*half+16*i), asm.V(6), asm.L128)
			}
		}
	}
	a.Op(asm.ADD, places, asm.Imm(4*pairsHalf))
	a.Op(asm.ADD, to, asm.Imm(pairSteps*PackedBytes))
	a.Op(asm.SUB, count, asm.Imm(1))
	a.J(asm.NE, again)
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	return a.Finish()
}
