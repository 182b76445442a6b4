package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// emitTurnRows emits the kernel of TurnRowsArgs: square blocks of as many
// columns as there are rows.
func emitTurnRows(a *asm.Asm, _ GemmFormat) error {
	const to, ldTo, left, column, row = asm.RSI, asm.RDX, asm.RCX, asm.RAX, asm.R8
	lanes := a.Length().Bytes() / 4
	block := func(load func(v asm.V, from asm.M)) {
		for r := range lanes {
			a.Op(asm.MOV, row, asm.Ptr(argsReg, turnRows+8*r))
			load(asm.V(r), asm.Idx(row, column, 1, 0))
		}
		for _, v := range turnSquare(a, registers(0, lanes), asm.V(lanes)) {
			a.Op(asm.VMOVUPS, asm.Ptr(to, 0), v)
			a.Op(asm.ADD, to, ldTo)
		}
	}
	last := a.NewLabel()
	a.Op(asm.MOV, to, asm.Ptr(argsReg, turnTo))
	a.Op(asm.MOV, ldTo, asm.Ptr(argsReg, turnLDTo))
	a.Op(asm.MOV, left, asm.Ptr(argsReg, turnChunks))
	a.Op(asm.XOR, column.R32(), column.R32())
	a.Op(asm.SUB, left, asm.Imm(1))
	a.J(asm.EQ, last)
	again := a.Here()
	block(func(v asm.V, from asm.M) { a.Op(asm.VMOVUPS, v, from) })
	a.Op(asm.ADD, column, asm.Imm(4*lanes))
	a.Op(asm.SUB, left, asm.Imm(1))
	a.J(asm.NE, again)
	a.Bind(last)
	if a.ISA == AVX512 {
		a.Op(asm.KMOVW, asm.K(1), asm.Ptr(argsReg, turnMask))
		block(func(v asm.V, from asm.M) { a.Op(asm.VMOVUPS, v, from, asm.MaskZ(1)) })
		return nil
	}
	block(func(v asm.V, from asm.M) {
		a.Op(asm.VMOVUPS, v, asm.Ptr(argsReg, turnMask))
		a.Op(asm.VMASKMOVPS, v, v, from)
	})
	return nil
}
