package x86sim

import "slices"

// both has the rows of an operation on two operands: vectors and scalars of both types.
func both(name, opc string, f32 func(x, y float32) float32, f64 func(x, y float64) float64) []opcode {
	return []opcode{
		{name: name + "ps", text: "VEX|EVEX.0F.We0 " + opc, memory: full, elem: 4, do: map2(f32)},
		{name: name + "pd", text: "VEX|EVEX.66.0F.We1 " + opc, memory: full, elem: 8, do: map2(f64)},
		{name: name + "ss", text: "VEX|EVEX.F3.0F.We0 " + opc, memory: 4, elem: 4, do: scalar2(f32)},
		{name: name + "sd", text: "VEX|EVEX.F2.0F.We1 " + opc, memory: 8, elem: 8, do: scalar2(f64)},
	}
}

// logic has the rows of an operation on bits that is named for both types of float.
func logic(name, opc string, f func(x, y uint64) uint64) []opcode {
	return []opcode{
		{name: name + "ps", text: "VEX|EVEX.0F.We0 " + opc, memory: full, elem: 4, do: map2(func(x, y uint32) uint32 { return uint32(f(uint64(x), uint64(y))) })},
		{name: name + "pd", text: "VEX|EVEX.66.0F.We1 " + opc, memory: full, elem: 8, do: map2(f)},
	}
}

func second[T lane](f func(x T) T) func(x, y T) T { return func(_, y T) T { return f(y) } }

func secondI[T lane](f func(x T, imm int) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		scalar2(func(_, y T) T { return f(y, int(uint8(in.imm))) })(m, in)
	}
}

// round4 is roundTo without digits behind the point, as VROUND has it.
func round4[T float](x T, imm int) T { return roundTo(x, imm&15) }

var floatRows = slices.Concat(
	both("vadd", "58", arith(add[float32]), arith(add[float64])),
	both("vmul", "59", arith(mulf[float32]), arith(mulf[float64])),
	both("vsub", "5C", arith(sub[float32]), arith(sub[float64])),
	both("vmin", "5D", minf[float32], minf[float64]),
	both("vdiv", "5E", arith(div[float32]), arith(div[float64])),
	both("vmax", "5F", maxf[float32], maxf[float64]),
	logic("vand", "54", and[uint64]),
	logic("vandn", "55", andNot[uint64]),
	logic("vor", "56", or[uint64]),
	logic("vxor", "57", xor[uint64]),
	fmaRows("vfmadd", '8', false, false),
	fmaRows("vfmsub", 'A', false, true),
	fmaRows("vfnmadd", 'C', true, false),
	fmaRows("vfnmsub", 'E', true, true),
	[]opcode{
		{name: "vsqrtps", text: "VEX|EVEX.0F.We0 51", memory: full, elem: 4, do: map1(sqrt[float32])},
		{name: "vsqrtpd", text: "VEX|EVEX.66.0F.We1 51", memory: full, elem: 8, do: map1(sqrt[float64])},
		{name: "vsqrtss", text: "VEX|EVEX.F3.0F.We0 51", memory: 4, elem: 4, do: scalar2(second(sqrt[float32]))},
		{name: "vsqrtsd", text: "VEX|EVEX.F2.0F.We1 51", memory: 8, elem: 8, do: scalar2(second(sqrt[float64]))},

		{name: "vroundps", text: "VEX.66.0F3A 08 ib", memory: full, do: map1i(round4[float32])},
		{name: "vroundpd", text: "VEX.66.0F3A 09 ib", memory: full, do: map1i(round4[float64])},
		{name: "vroundss", text: "VEX.66.0F3A 0A ib", memory: 4, do: secondI(round4[float32])},
		{name: "vroundsd", text: "VEX.66.0F3A 0B ib", memory: 8, do: secondI(round4[float64])},
		{name: "vrndscaleps", text: "EVEX.66.0F3A.W0 08 ib", memory: full, elem: 4, do: map1i(roundTo[float32])},
		{name: "vrndscalepd", text: "EVEX.66.0F3A.W1 09 ib", memory: full, elem: 8, do: map1i(roundTo[float64])},
		{name: "vrndscaless", text: "EVEX.66.0F3A.W0 0A ib", memory: 4, do: secondI(roundTo[float32])},
		{name: "vrndscalesd", text: "EVEX.66.0F3A.W1 0B ib", memory: 8, do: secondI(roundTo[float64])},
		{name: "vreduceps", text: "EVEX.66.0F3A.W0 56 ib", memory: full, elem: 4, do: map1i(reduced[float32])},
		{name: "vreducepd", text: "EVEX.66.0F3A.W1 56 ib", memory: full, elem: 8, do: map1i(reduced[float64])},
		{name: "vrangeps", text: "EVEX.66.0F3A.W0 50 ib", memory: full, elem: 4, do: map2i(ranged[float32])},
		{name: "vrangepd", text: "EVEX.66.0F3A.W1 50 ib", memory: full, elem: 8, do: map2i(ranged[float64])},
		{name: "vscalefps", text: "EVEX.66.0F38.W0 2C", memory: full, elem: 4, do: map2(scaled[float32])},
		{name: "vscalefpd", text: "EVEX.66.0F38.W1 2C", memory: full, elem: 8, do: map2(scaled[float64])},

		{name: "vcmpps", text: "VEX.0F C2 ib", memory: full, do: compareVector(predicate[float32])},
		{name: "vcmppd", text: "VEX.66.0F C2 ib", memory: full, do: compareVector(predicate[float64])},
		{name: "vcmpps", text: "EVEX.0F.W0 C2 ib", memory: full, elem: 4, do: compare(predicate[float32])},
		{name: "vcmppd", text: "EVEX.66.0F.W1 C2 ib", memory: full, elem: 8, do: compare(predicate[float64])},
		{name: "vucomiss", text: "VEX|EVEX.0F.We0 2E", memory: 4, do: compareFlags[float32]},
		{name: "vucomisd", text: "VEX|EVEX.66.0F.We1 2E", memory: 8, do: compareFlags[float64]},
		{name: "vcomiss", text: "VEX|EVEX.0F.We0 2F", memory: 4, do: compareFlags[float32]},
		{name: "vcomisd", text: "VEX|EVEX.66.0F.We1 2F", memory: 8, do: compareFlags[float64]},
	})
