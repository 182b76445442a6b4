package x86sim

import "math/bits"

var generalRows = append([]opcode{
	{name: "mov", text: "89", do: func(m *machine, in *instr) { m.set(in, in.width(), m.r[in.reg]) }},
	{name: "mov", text: "66 89", do: func(m *machine, in *instr) { m.set(in, 2, m.r[in.reg]) }},
	{name: "mov", text: "88", do: func(m *machine, in *instr) { m.set(in, 1, m.register(in, in.reg, 1)) }},
	{name: "mov", text: "8B", do: func(m *machine, in *instr) { m.setRegister(in, in.reg, in.width(), m.get(in, in.width())) }},
	{name: "mov", text: "B8 + iv", do: func(m *machine, in *instr) { m.setRegister(in, in.rm, in.width(), uint64(in.imm)) }},
	{name: "mov", text: "C7 /0 id", do: func(m *machine, in *instr) { m.set(in, in.width(), uint64(in.imm)) }},
	{name: "movzx", text: "0F B6", do: extend(1, false)},
	{name: "movzx", text: "0F B7", do: extend(2, false)},
	{name: "movsx", text: "0F BE", do: extend(1, true)},
	{name: "movsx", text: "0F BF", do: extend(2, true)},
	{name: "movsxd", text: "W1 63", do: extend(4, true)},
	{name: "lea", text: "8D /m", do: func(m *machine, in *instr) { m.setRegister(in, in.reg, in.width(), uint64(m.address(in))) }},

	{name: "test", text: "85", do: classicRM(opTEST)},
	{name: "test", text: "A9 alone id", do: classicRAX(opTEST)},
	{name: "test", text: "F7 /0 id", do: classicImm(opTEST)},
	{name: "imul", text: "0F AF", do: func(m *machine, in *instr) { mul(m, in, m.r[in.reg], m.get(in, in.width())) }},
	{name: "imul", text: "6B ib", do: func(m *machine, in *instr) { mul(m, in, m.get(in, in.width()), uint64(in.imm)) }},
	{name: "imul", text: "69 id", do: func(m *machine, in *instr) { mul(m, in, m.get(in, in.width()), uint64(in.imm)) }},
	{name: "inc", text: "FF /0", do: func(m *machine, in *instr) {
		carry, n := m.cf, in.width()
		r, _ := m.classic(opADD, m.get(in, n), 1, n)
		m.set(in, n, r)
		m.cf = carry
	}},
	{name: "dec", text: "FF /1", do: func(m *machine, in *instr) {
		carry, n := m.cf, in.width()
		r, _ := m.classic(opSUB, m.get(in, n), 1, n)
		m.set(in, n, r)
		m.cf = carry
	}},
	{name: "not", text: "F7 /2", do: func(m *machine, in *instr) { m.set(in, in.width(), ^m.get(in, in.width())) }},
	{name: "neg", text: "F7 /3", do: func(m *machine, in *instr) {
		r, _ := m.classic(opSUB, 0, m.get(in, in.width()), in.width())
		m.set(in, in.width(), r)
	}},
	{name: "mul", text: "F7 /4", do: multiply},
	{name: "div", text: "F7 /6", do: divide(false)},
	{name: "idiv", text: "F7 /7", do: divide(true)},
	{name: "cqo", text: "99 alone", do: func(m *machine, in *instr) {
		n := in.width()
		m.setRegister(in, rdx, n, uint64(signed(m.r[rax], n)>>63))
	}},

	{name: "shlx", text: "VEX.66.0F38.L0 F7", do: shiftX(func(x, c uint64, _ int) uint64 { return x << c })},
	{name: "shrx", text: "VEX.F2.0F38.L0 F7", do: shiftX(func(x, c uint64, _ int) uint64 { return x >> c })},
	{name: "sarx", text: "VEX.F3.0F38.L0 F7", do: shiftX(func(x, c uint64, n int) uint64 { return uint64(signed(x, n) >> c) })},
	{name: "bzhi", text: "VEX.NP.0F38.L0 F5", do: bzhi},
	{name: "andn", text: "VEX.NP.0F38.L0 F2", do: andn},
	{name: "bextr", text: "VEX.NP.0F38.L0 F7", do: func(m *machine, in *instr) {
		n := in.width()
		start, bits := m.r[in.vvvv]&0xFF, m.r[in.vvvv]>>8&0xFF
		r := m.get(in, n) >> start
		if bits < 64 {
			r &= 1<<bits - 1
		}
		m.cf, m.of = false, false
		m.result(r, n)
		m.setRegister(in, in.reg, n, r)
	}},

	{name: "popcnt", text: "F3.0F B8", do: func(m *machine, in *instr) {
		x := m.get(in, in.width())
		m.flags = flags{zf: x == 0}
		m.setRegister(in, in.reg, in.width(), uint64(bits.OnesCount64(x)))
	}},
	{name: "lzcnt", text: "F3.0F BD", do: count(func(x uint64, n int) int { return bits.LeadingZeros64(x) - 64 + 8*n })},
	{name: "tzcnt", text: "F3.0F BC", do: count(func(x uint64, n int) int { return min(bits.TrailingZeros64(x), 8*n) })},

	{name: "prefetch", text: "0F 18 /m", do: nothing},
	{name: "prefetchw", text: "0F 0D /m", do: nothing},
	{name: "fence", text: "0F AE /rr", do: nothing},
	{name: "nop", text: "0F 1F", do: nothing},
	{name: "nop", text: "66.0F 1F", do: nothing},
	{name: "nop", text: "90 alone", do: nothing},
	{name: "nop", text: "66 90 alone", do: nothing},
	{name: "pause", text: "F3 90 alone", do: nothing},

	{name: "jmp", text: "EB alone ib rel", do: func(m *machine, in *instr) { m.next = in.end + uintptr(in.imm) }},
	{name: "jmp", text: "E9 alone id rel", do: func(m *machine, in *instr) { m.next = in.end + uintptr(in.imm) }},
	{name: "jmp", text: "FF /4 /rr jumps", do: func(m *machine, in *instr) { m.next = uintptr(m.r[in.rm]) }},
	{name: "ret", text: "C3 alone jumps", do: func(m *machine, _ *instr) { m.next = 0 }},
}, numbered()...)

// numbered are the rows that stand in a sequence of opcodes.
func numbered() (rows []opcode) {
	for n, name := range []string{"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp"} {
		hex := func(low int) string {
			return string([]byte{"0123456789ABCDEF"[(n<<3|low)>>4], "0123456789ABCDEF"[(n<<3|low)&15]})
		}
		ext := " /" + string(rune('0'+n))
		rows = append(rows,
			opcode{name: name, text: hex(1), do: classicRM(n)},
			opcode{name: name, text: hex(3), do: classicReg(n)},
			opcode{name: name, text: hex(5) + " alone id", do: classicRAX(n)},
			opcode{name: name, text: "83" + ext + " ib", do: classicImm(n)},
			opcode{name: name, text: "81" + ext + " id", do: classicImm(n)})
	}
	for _, s := range []struct {
		name string
		kind int
	}{{"rol", 0}, {"ror", 1}, {"shl", 4}, {"shr", 5}, {"sar", 7}} {
		ext := " /" + string(rune('0'+s.kind))
		rows = append(rows,
			opcode{name: s.name, text: "D1" + ext, do: shiftBy(s.kind, true)},
			opcode{name: s.name, text: "C1" + ext + " ib", do: shiftBy(s.kind, false)})
	}
	for c := range 16 {
		digit := string("0123456789ABCDEF"[c])
		rows = append(rows,
			opcode{name: "jcc", text: "7" + digit + " alone ib rel falls", do: jumpIf},
			opcode{name: "jcc", text: "0F 8" + digit + " alone id rel falls", do: jumpIf},
			opcode{name: "set", text: "0F 9" + digit, do: func(m *machine, in *instr) {
				x := uint64(0)
				if m.holds(uint8(c)) {
					x = 1
				}
				m.set(in, 1, x)
			}},
			opcode{name: "cmov", text: "0F 4" + digit, do: func(m *machine, in *instr) {
				n := in.width()
				x := m.get(in, n)
				if !m.holds(uint8(c)) {
					x = m.r[in.reg]
				}
				m.setRegister(in, in.reg, n, x)
			}})
	}
	return rows
}
