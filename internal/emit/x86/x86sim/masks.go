package x86sim

// The widths of masks by the letter of the name.
var maskWidths = []struct {
	letter string
	bits   int
	text   string // prefix and W
	gp     string // of moves from and to general registers
}{
	{"b", 8, "66.0F.W0", "66.0F.W0"},
	{"w", 16, "NP.0F.W0", "NP.0F.W0"},
	{"d", 32, "66.0F.W1", "F2.0F.W0"},
	{"q", 64, "NP.0F.W1", "F2.0F.W1"},
}

func ones(bits int) uint64 { return ^uint64(0) >> (64 - bits) }

var maskRows = append(maskTable(), []opcode{
	{name: "kunpckbw", text: "VEX.66.0F.W0.L1 4B /rr", do: unpackMasks(8)},
	{name: "kunpckwd", text: "VEX.NP.0F.W0.L1 4B /rr", do: unpackMasks(16)},
	{name: "kunpckdq", text: "VEX.NP.0F.W1.L1 4B /rr", do: unpackMasks(32)},
	{name: "vpmovm2b", text: "EVEX.F3.0F38.W0 28 /rr", do: fromMask[int8]},
	{name: "vpmovm2w", text: "EVEX.F3.0F38.W1 28 /rr", do: fromMask[int16]},
	{name: "vpmovm2d", text: "EVEX.F3.0F38.W0 38 /rr", do: fromMask[int32]},
	{name: "vpmovm2q", text: "EVEX.F3.0F38.W1 38 /rr", do: fromMask[int64]},
	{name: "vpmovb2m", text: "EVEX.F3.0F38.W0 29 /rr", do: toMask(1)},
	{name: "vpmovw2m", text: "EVEX.F3.0F38.W1 29 /rr", do: toMask(2)},
	{name: "vpmovd2m", text: "EVEX.F3.0F38.W0 39 /rr", do: toMask(4)},
	{name: "vpmovq2m", text: "EVEX.F3.0F38.W1 39 /rr", do: toMask(8)},
	{name: "vpbroadcastmw2d", text: "EVEX.F3.0F38.W0 3A /rr", do: func(m *machine, in *instr) {
		x := vec{m.k[in.rm&7] & 0xFFFF}
		m.fill(in, &x, 4, 4)
	}},
	{name: "vzeroupper", text: "VEX.0F.L0 77 alone", do: func(m *machine, _ *instr) {
		for i := range m.v[:16] {
			clear(m.v[i][2:])
		}
	}},
}...)

func maskTable() (rows []opcode) {
	for _, w := range maskWidths {
		all := ones(w.bits)
		for _, op := range []struct {
			name, opc string
			f         func(x, y uint64) uint64
		}{
			{"kand", "41", and[uint64]},
			{"kandn", "42", andNot[uint64]},
			{"kor", "45", or[uint64]},
			{"kxnor", "46", func(x, y uint64) uint64 { return ^(x ^ y) }},
			{"kxor", "47", xor[uint64]},
		} {
			rows = append(rows, opcode{name: op.name + w.letter, text: "VEX." + w.text + ".L1 " + op.opc + " /rr", do: func(m *machine, in *instr) {
				m.k[in.reg] = op.f(m.k[in.vvvv], m.k[in.rm]) & all
			}})
		}
		rows = append(rows,
			opcode{name: "knot" + w.letter, text: "VEX." + w.text + ".L0 44 /rr", do: func(m *machine, in *instr) { m.k[in.reg] = ^m.k[in.rm] & all }},
			opcode{name: "kortest" + w.letter, text: "VEX." + w.text + ".L0 98 /rr", do: func(m *machine, in *instr) {
				x := (m.k[in.reg] | m.k[in.rm]) & all
				m.flags = flags{zf: x == 0, cf: x == all}
			}},
			opcode{name: "ktest" + w.letter, text: "VEX." + w.text + ".L0 99 /rr", do: func(m *machine, in *instr) {
				m.flags = flags{zf: m.k[in.reg]&m.k[in.rm]&all == 0, cf: m.k[in.rm]&^m.k[in.reg]&all == 0}
			}},
			opcode{name: "kmov" + w.letter, text: "VEX." + w.text + ".L0 90", do: func(m *machine, in *instr) {
				x := m.k[in.rm&7]
				if in.memory {
					x = load(m.address(in), w.bits/8)
				}
				m.k[in.reg] = x & all
			}},
			opcode{name: "kmov" + w.letter, text: "VEX." + w.text + ".L0 91 /m", do: func(m *machine, in *instr) { store(m.address(in), w.bits/8, m.k[in.reg]) }},
			opcode{name: "kmov" + w.letter, text: "VEX." + w.gp + ".L0 92 /rr", do: func(m *machine, in *instr) { m.k[in.reg] = m.r[in.rm&15] & all }},
			opcode{name: "kmov" + w.letter, text: "VEX." + w.gp + ".L0 93 /rr", do: func(m *machine, in *instr) { m.r[in.reg] = m.k[in.rm&7] & all }})
	}
	for i, w := range maskWidths {
		text := "VEX.66.0F3A.W" + string(rune('0'+i%2)) + ".L0 "
		left, right := []string{"32", "33"}[i/2], []string{"30", "31"}[i/2]
		rows = append(rows,
			opcode{name: "kshiftl" + w.letter, text: text + left + " /rr ib", do: func(m *machine, in *instr) { m.k[in.reg] = m.k[in.rm] << uint8(in.imm) & ones(w.bits) }},
			opcode{name: "kshiftr" + w.letter, text: text + right + " /rr ib", do: func(m *machine, in *instr) { m.k[in.reg] = m.k[in.rm] & ones(w.bits) >> uint8(in.imm) }})
	}
	return rows
}

// unpackMasks puts the third operand's bits below the second's.
func unpackMasks(bits int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		m.k[in.reg] = m.k[in.vvvv]&ones(bits)<<bits | m.k[in.rm]&ones(bits)
	}
}

func fromMask[T lane](m *machine, in *instr) {
	size := sizeof[T]()
	m.out = vec{}
	for i := range in.len {
		if m.k[in.rm&7]>>(i/size)&1 != 0 {
			m.out.u8()[i] = 0xFF
		}
	}
	m.v[in.reg] = m.out
}

func toMask(size int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		var r uint64
		for i := range in.len / size {
			r |= uint64(m.v[in.rm].u8()[i*size+size-1]>>7) << i
		}
		m.k[in.reg] = r
	}
}
