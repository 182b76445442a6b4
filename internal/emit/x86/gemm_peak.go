package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// PeakLoop is code that does nothing but the independent multiply-adds of a
// format: RDI points to the number of rounds (i64, at least 1), ops is the
// operations of a round, a multiply and an add counted apart. It bounds what a
// matrix product can reach.
func PeakLoop(isa asm.ISA, format GemmFormat) (code []byte, ops int, err error) {
	if format.AMX() {
		return amxPeakLoop(format)
	}
	a := asm.New(isa)
	chains := 24 // latency times throughput is at most 8 on processors so far; more hide jitter
	if isa == asm.AVX2 {
		chains = 12
	}
	x, y, product := asm.V(chains), asm.V(chains+1), asm.V(chains+2)
	for v := range asm.V(chains + 2) {
		if v < 16 {
			a.Op(asm.VPXOR, v, v, v, asm.L128)
		} else {
			a.Op(asm.VPXORD, v, v, v)
		}
	}
	const unroll = 4
	_, multiply, add := format.ops()
	a.Op(asm.MOV, asm.RAX, asm.Ptr(gArgs, 0))
	a.Align(64)
	again := a.Here()
	for range unroll {
		for v := range asm.V(chains) {
			switch format {
			case GemmWords:
				a.Op(multiply, product, x, y)
				a.Op(add, v, v, product)
			case GemmPairs:
				a.Op(multiply, product, x, y)
				a.Op(asm.VPMADDWD, product, product, y)
				a.Op(add, v, v, product)
			default:
				a.Op(multiply, v, x, y)
			}
		}
	}
	a.Op(asm.SUB, asm.RAX, asm.Imm(1))
	a.J(asm.NE, again)
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	code, err = a.Finish()
	group := format.Group() // of an instruction
	if format == GemmWords || format == GemmWide {
		group /= 2
	}
	return code, unroll * chains * format.Lanes(isa) * group * 2, err
}

// amxPeakLoop is PeakLoop by AMX: all sums that registers hold, of operands that
// stay in theirs.
func amxPeakLoop(format GemmFormat) (code []byte, ops int, err error) {
	tile := GemmTiles(asm.AVX512, format)[0]
	t := &tileGen{Asm: asm.New(asm.AVX512), format: format, tile: tile}
	_, multiply, _ := format.ops()
	t.configure()
	const unroll = 8
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, 0))
	t.Align(64)
	again := t.Here()
	for range unroll {
		for sum := range format.sums() {
			for i := range tile.heights() {
				for v := range tile.Vectors {
					t.Op(multiply, t.amxSum(sum, i, v), t.amxA(i), t.amxB(v, 0))
				}
			}
		}
	}
	t.Op(asm.SUB, gCount, asm.Imm(1))
	t.J(asm.NE, again)
	t.Op(asm.TILERELEASE)
	t.Op(asm.RET)
	code, err = t.Finish()
	ops = unroll * format.sums() * tile.Rows * tile.Vectors * GemmLanes(asm.AVX512) * GemmChunk * format.Group() * 2
	if format.Splits() {
		ops = ops * 2 / len(format.order()) // of pairs of parts
	}
	return code, ops, err
}
