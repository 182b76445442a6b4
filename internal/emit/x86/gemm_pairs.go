package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// VPMADDUBSW multiplies bytes of A, 0 to 255, by signed ones of B and adds the products of
// two side by side, of which a word holds the sum if that of the two bytes of B is within a
// byte's range; else it is cut off, silently. Two values of k with such weights in any of
// a panel's columns must not lie side by side, so a panel of B has its values of k in an
// order of its own, in chunks of PairsChunk. It tells that order, by which the kernel puts
// what it reads of A into GemmArgs.Room before it multiplies. Where a half of a chunk has no
// such order the panel has the chunk twice: pairs of a weight and 0 are always exact.
//
// A panel, see PairPanel, is
//
//	chunks uint64                      // at least 1
//	steps  uint64                      // where they begin, in bytes from here
//	orders [chunks]struct {
//		skip  uint64                   // bytes of A from this chunk to the next: 0 if that is the same; in the last one 0
//		bytes [PairsChunk]uint8        // that of A, in the same half, that belongs to each of B; pairsNone: none
//	}
//	                                   // at a multiple of PackedBytes
//	steps  [chunks][PairsSteps][PackedCols][4]int8

// PairsChunk is the values of k in a chunk, of which each half is in an order, and
// PairsSteps the steps. GemmArgs.SetK has no meaning for kernels by pairs, nor have LDB
// and VectorB.
const (
	PairsChunk = 32
	PairsSteps = PairsChunk / 4
)

// Offsets in a panel, and in an order.
const (
	pairsChunks = 0
	pairsStart  = 8
	pairsOrders = 16

	pairsSkip  = 0
	pairsBytes = 8
	pairsOrder = 8 + PairsChunk // bytes of each

	pairsNone = 0x80
	pairsHalf = PairsChunk / 2
)

// Registers of the kernels by pairs, beside those of others.
const (
	gOrders    = asm.R15 // walks over the orders
	gRoom      = asm.RSI // a chunk of rows in order
	gNextRoom  = asm.RBX // the same for the next chunk
	gSkip      = asm.R9
	gNextPanel = asm.RCX // bytes from a panel to the next
)

// ones is the register with words of 1.
func (t *tileGen) ones() asm.V { return t.product() + 1 }

// pairs adds the products of a panel. gB is at its start. Rows of a chunk are put in order
// while the one before is multiplied, which needs other parts of the processor. The next
// panel is fetched into the second cache: 12 rows take a fifth longer without.
func (t *tileGen) pairs() {
	one := t.ones()
	t.Op(asm.VPCMPEQD, one, one, one)
	t.Op(asm.VPSRLW, one, one, asm.Imm(15))
	t.Op(asm.MOV, gNextPanel, asm.Ptr(gArgs, gemmPanelB))
	t.Op(asm.MOV, gCount, asm.Ptr(gB, pairsChunks))
	t.Op(asm.LEA, gOrders, asm.Ptr(gB, pairsOrders))
	t.Op(asm.ADD, gB, asm.Ptr(gB, pairsStart))
	t.Op(asm.MOV, gNextRoom, asm.Ptr(gArgs, gemmRoom))
	t.Op(asm.LEA, gRoom, asm.Ptr(gNextRoom, t.tile.Rows*PairsChunk))
	for r := range t.tile.Rows {
		t.orderRow(r)
	}
	t.nextOrder()
	t.Align(32)
	again := t.Here()
	for k := range PairsSteps {
		t.stepPairs(k)
		if k < t.tile.Rows {
			t.orderRow(k)
		}
	}
	t.nextOrder()
	t.Op(asm.ADD, gB, asm.Imm(PairsSteps*PackedBytes))
	t.Op(asm.SUB, gCount, asm.Imm(1))
	t.J(asm.NE, again)
}

// orderRow puts the next chunk of a row of A into its order.
func (t *tileGen) orderRow(r int) {
	t.Op(asm.VMOVUPS, t.x(r), t.element(r, 0))
	t.Op(asm.VPSHUFB, t.x(r), t.x(r), asm.Ptr(gOrders, pairsBytes))
	t.Op(asm.VMOVUPS, asm.Ptr(gNextRoom, r*PairsChunk), t.x(r))
}

// nextOrder goes to the order behind this one, and the chunk that it is for.
func (t *tileGen) nextOrder() {
	t.Op(asm.MOV, gSkip, asm.Ptr(gOrders, pairsSkip))
	for g := range t.bases() {
		t.Op(asm.ADD, gBases[g], gSkip)
	}
	t.Op(asm.PREFETCHT1, asm.Idx(gOrders, gNextPanel, 1, 0))
	t.Op(asm.ADD, gOrders, asm.Imm(pairsOrder))
	swap := gSkip
	t.Op(asm.MOV, swap, gRoom)
	t.Op(asm.MOV, gRoom, gNextRoom)
	t.Op(asm.MOV, gNextRoom, swap)
}

// stepPairs is the step of GemmPairs. B is loaded for each row: there are loads to spare,
// and sums for a sixth row in its registers.
func (t *tileGen) stepPairs(k int) {
	t.Op(asm.PREFETCHT1, asm.Idx(gB, gNextPanel, 1, k*PackedBytes))
	for r := range t.tile.Rows {
		t.Op(t.broadcast, t.x(r), asm.Ptr(gRoom, r*PairsChunk+k*t.format.StepA()))
		for v := range t.tile.Vectors {
			t.Op(t.multiply, t.product(), t.x(r), asm.Ptr(gB, k*PackedBytes+v*t.bytes))
			t.Op(asm.VPMADDWD, t.product(), t.product(), t.ones())
			t.Op(t.add, t.acc(r, v), t.acc(r, v), t.product())
		}
	}
}
