package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// PeakLoop is code that does nothing but the independent multiply-adds of a
// format: RDI points to the number of rounds (i64, at least 1), ops is the
// operations of a round, a multiply and an add counted apart. It bounds what a
// matrix product can reach.
func PeakLoop(isa asm.ISA, format GemmFormat) (code []byte, ops int, err error) {
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
			if format == GemmWords {
				a.Op(multiply, product, x, y)
				a.Op(add, v, v, product)
				continue
			}
			a.Op(multiply, v, x, y)
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
	return code, unroll * chains * GemmLanes(isa) * group * 2, err
}
