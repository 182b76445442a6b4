package x86sim

// shuffle lets f fill the lanes of the result from those of the destination and
// of both operands, all of which it may read.
func shuffle[T lane](f func(o, d, x, y []T, imm int)) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / sizeof[T]()
		y := lanes[T](m.whole(in), n)
		f(lanes[T](&m.out, n), lanes[T](&m.v[in.reg], n), lanes[T](&m.v[in.vvvv], n), y, int(uint8(in.imm)))
		m.write(in, in.reg, &m.out, n, sizeof[T]())
	}
}

// pick takes for each lane the one of the operand that from names.
func pick[T lane](from func(i, imm int) int) func(m *machine, in *instr) {
	return shuffle(func(o, _, _, y []T, imm int) {
		for i := range o {
			o[i] = y[from(i, imm)]
		}
	})
}

func pick4(from func(i, imm int) int) func(m *machine, in *instr) { return pick[uint32](from) }

// byIndex takes lanes of the third operand at indices in the second.
func byIndex[T uint8 | uint16 | uint32 | uint64](o, _, x, y []T, _ int) {
	for i := range o {
		o[i] = y[int(x[i])&(len(y)-1)]
	}
}

// ofTwo takes lanes of two tables, one after the other, at indices.
func ofTwo[T uint8 | uint16 | uint32 | uint64](o, index, first, second []T) {
	n := len(o)
	for i := range o {
		j := int(index[i]) & (2*n - 1)
		if j < n {
			o[i] = first[j]
		} else {
			o[i] = second[j-n]
		}
	}
}

func permT2[T uint8 | uint16 | uint32 | uint64](o, d, x, y []T, _ int) { ofTwo(o, x, d, y) }
func permI2[T uint8 | uint16 | uint32 | uint64](o, d, x, y []T, _ int) { ofTwo(o, d, x, y) }

// unpack interleaves the lower or upper halves of each 128 bits.
func unpack[T lane](upper bool) func(m *machine, in *instr) {
	per := 16 / sizeof[T]()
	return shuffle(func(o, _, x, y []T, _ int) {
		for i := range o {
			at := i/per*per + i%per/2
			if upper {
				at += per / 2
			}
			if i%2 == 0 {
				o[i] = x[at]
			} else {
				o[i] = y[at]
			}
		}
	})
}

// pack narrows both operands, saturated, by each 128 bits.
func pack[D, S lane](saturate func(x S) D) func(m *machine, in *instr) {
	per := 16 / sizeof[S]()
	return func(m *machine, in *instr) {
		n := in.len / sizeof[S]()
		x, y := lanes[S](&m.v[in.vvvv], n), lanes[S](m.whole(in), n)
		o := lanes[D](&m.out, 2*n)
		for i := range o {
			at := i/(2*per)*per + i%per
			if i%(2*per) < per {
				o[i] = saturate(x[at])
			} else {
				o[i] = saturate(y[at])
			}
		}
		m.write(in, in.reg, &m.out, 2*n, sizeof[D]())
	}
}

// quarters puts 128 bits of the second operand into the lower half of the result
// and of the third into the upper, as the immediate says; elem is of the mask.
func quarters(elem int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		x, y := &m.v[in.vvvv], m.whole(in)
		n := in.len / 16
		for i := range n {
			from := x
			if i >= n/2 {
				from = y
			}
			j := 0
			if n == 4 {
				j = int(in.imm) >> (2 * i) & 3
			} else {
				j = int(in.imm) >> i & 1
			}
			m.out[2*i], m.out[2*i+1] = from[2*j], from[2*j+1]
		}
		m.write(in, in.reg, &m.out, in.len/elem, elem)
	}
}

func perm2x128(o, _, x, y []uint64, imm int) {
	for i := range 2 {
		c := imm >> (4 * i) & 15
		from := x
		if c&2 != 0 {
			from = y
		}
		o[2*i], o[2*i+1] = from[c&1*2], from[c&1*2+1]
		if c&8 != 0 {
			o[2*i], o[2*i+1] = 0, 0
		}
	}
}

// blendSigns takes a lane of the third operand where the fourth's sign is set.
func blendSigns(size int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		x, y, which := &m.v[in.vvvv], m.whole(in), &m.v[in.is4]
		for i := range in.len / size {
			from := x
			if which.u8()[i*size+size-1]>>7 != 0 {
				from = y
			}
			copy(m.out.u8()[i*size:(i+1)*size], from.u8()[i*size:])
		}
		m.write(in, in.reg, &m.out, in.len/size, size)
	}
}

// blendMask takes a lane of the third operand where the mask has it, else of the
// second, or 0.
func blendMask(size int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / size
		x, y := &m.v[in.vvvv], m.operand(in, n)
		m.out = vec{}
		for i := range n {
			to := m.out.u8()[i*size : (i+1)*size]
			switch {
			case m.has(in, i):
				copy(to, y.u8()[i*size:])
			case !in.zero:
				copy(to, x.u8()[i*size:])
			}
		}
		m.v[in.reg] = m.out
	}
}

func blendBits[T lane](o, _, x, y []T, imm int) {
	for i := range o {
		o[i] = x[i]
		if imm>>(i%8)&1 != 0 {
			o[i] = y[i]
		}
	}
}

// shuffleBytes is PSHUFB: bytes of each 128 bits at indices, or 0.
func shuffleBytes(o, _, x, y []uint8, _ int) {
	for i := range o {
		o[i] = 0
		if y[i] < 0x80 {
			o[i] = x[i&^15+int(y[i]&15)]
		}
	}
}

// alignBytes is PALIGNR: of each 128 bits, bytes of both operands from one on.
func alignBytes(o, _, x, y []uint8, imm int) {
	for i := range o {
		switch at := i%16 + imm; {
		case at < 16:
			o[i] = y[i&^15+at]
		case at < 32:
			o[i] = x[i&^15+at-16]
		default:
			o[i] = 0
		}
	}
}

func align[T lane](o, _, x, y []T, imm int) {
	n := len(o)
	for i := range o {
		if at := i + imm&(n-1); at < n {
			o[i] = y[at]
		} else {
			o[i] = x[at-n]
		}
	}
}

var shuffleRows = []opcode{
	{name: "vperm2f128", text: "VEX.66.0F3A.W0 06 ib", memory: full, do: shuffle(perm2x128)},
	{name: "vperm2i128", text: "VEX.66.0F3A.W0 46 ib", memory: full, do: shuffle(perm2x128)},
	{name: "vpermilps", text: "VEX|EVEX.66.0F3A.W0 04 ib", memory: full, elem: 4, do: pick4(func(i, imm int) int { return i&^3 | imm>>(2*(i&3))&3 })},
	{name: "vpermilps", text: "VEX|EVEX.66.0F38.W0 0C", memory: full, elem: 4, do: shuffle(func(o, _, x, y []uint32, _ int) {
		for i := range o {
			o[i] = x[i&^3|int(y[i]&3)]
		}
	})},
	{name: "vpermilpd", text: "VEX|EVEX.66.0F3A.We1 05 ib", memory: full, elem: 8, do: pick[uint64](func(i, imm int) int { return i&^1 | imm>>i&1 })},
	{name: "vpermilpd", text: "VEX|EVEX.66.0F38.We1 0D", memory: full, elem: 8, do: shuffle(func(o, _, x, y []uint64, _ int) {
		for i := range o {
			o[i] = x[i&^1|int(y[i]>>1&1)]
		}
	})},
	{name: "vpermps", text: "VEX|EVEX.66.0F38.W0 16", memory: full, elem: 4, do: shuffle(byIndex[uint32])},
	{name: "vpermd", text: "VEX|EVEX.66.0F38.W0 36", memory: full, elem: 4, do: shuffle(byIndex[uint32])},
	{name: "vpermpd", text: "VEX|EVEX.66.0F3A.W1 01 ib", memory: full, elem: 8, do: pick[uint64](func(i, imm int) int { return i&^3 | imm>>(2*(i&3))&3 })},
	{name: "vpermpd", text: "EVEX.66.0F38.W1 16", memory: full, elem: 8, do: shuffle(byIndex[uint64])},
	{name: "vpermq", text: "VEX|EVEX.66.0F3A.W1 00 ib", memory: full, elem: 8, do: pick[uint64](func(i, imm int) int { return i&^3 | imm>>(2*(i&3))&3 })},
	{name: "vpermq", text: "EVEX.66.0F38.W1 36", memory: full, elem: 8, do: shuffle(byIndex[uint64])},
	{name: "vpermb", text: "EVEX.66.0F38.W0 8D", memory: full, elem: 1, do: shuffle(byIndex[uint8])},
	{name: "vpermw", text: "EVEX.66.0F38.W1 8D", memory: full, elem: 2, do: shuffle(byIndex[uint16])},
	{name: "vpermt2b", text: "EVEX.66.0F38.W0 7D", memory: full, elem: 1, do: shuffle(permT2[uint8])},
	{name: "vpermt2w", text: "EVEX.66.0F38.W1 7D", memory: full, elem: 2, do: shuffle(permT2[uint16])},
	{name: "vpermt2d", text: "EVEX.66.0F38.W0 7E", memory: full, elem: 4, do: shuffle(permT2[uint32])},
	{name: "vpermt2ps", text: "EVEX.66.0F38.W0 7F", memory: full, elem: 4, do: shuffle(permT2[uint32])},
	{name: "vpermt2pd", text: "EVEX.66.0F38.W1 7F", memory: full, elem: 8, do: shuffle(permT2[uint64])},
	{name: "vpermi2d", text: "EVEX.66.0F38.W0 76", memory: full, elem: 4, do: shuffle(permI2[uint32])},
	{name: "vpermi2ps", text: "EVEX.66.0F38.W0 77", memory: full, elem: 4, do: shuffle(permI2[uint32])},
	{name: "vshufps", text: "VEX|EVEX.0F.We0 C6 ib", memory: full, elem: 4, do: shuffle(func(o, _, x, y []uint32, imm int) {
		for i := range o {
			from := x
			if i&2 != 0 {
				from = y
			}
			o[i] = from[i&^3|imm>>(2*(i&3))&3]
		}
	})},
	{name: "vshufpd", text: "VEX|EVEX.66.0F.We1 C6 ib", memory: full, elem: 8, do: shuffle(func(o, _, x, y []uint64, imm int) {
		for i := range o {
			from := x
			if i&1 != 0 {
				from = y
			}
			o[i] = from[i&^1|imm>>i&1]
		}
	})},
	{name: "vshuff32x4", text: "EVEX.66.0F3A.W0 23 ib", memory: full, elem: 4, do: quarters(4)},
	{name: "vshuff64x2", text: "EVEX.66.0F3A.W1 23 ib", memory: full, elem: 8, do: quarters(8)},
	{name: "vshufi32x4", text: "EVEX.66.0F3A.W0 43 ib", memory: full, elem: 4, do: quarters(4)},
	{name: "vshufi64x2", text: "EVEX.66.0F3A.W1 43 ib", memory: full, elem: 8, do: quarters(8)},
	{name: "vpshufd", text: "VEX|EVEX.66.0F.We0 70 ib", memory: full, elem: 4, do: pick4(func(i, imm int) int { return i&^3 | imm>>(2*(i&3))&3 })},
	{name: "vpshufb", text: "VEX|EVEX.66.0F38 00", memory: full, elem: 1, do: shuffle(shuffleBytes)},
	{name: "vpalignr", text: "VEX|EVEX.66.0F3A 0F ib", memory: full, elem: 1, do: shuffle(alignBytes)},
	{name: "valignd", text: "EVEX.66.0F3A.W0 03 ib", memory: full, elem: 4, do: shuffle(align[uint32])},
	{name: "valignq", text: "EVEX.66.0F3A.W1 03 ib", memory: full, elem: 8, do: shuffle(align[uint64])},

	{name: "vunpcklps", text: "VEX|EVEX.0F.We0 14", memory: full, elem: 4, do: unpack[uint32](false)},
	{name: "vunpckhps", text: "VEX|EVEX.0F.We0 15", memory: full, elem: 4, do: unpack[uint32](true)},
	{name: "vunpcklpd", text: "VEX|EVEX.66.0F.We1 14", memory: full, elem: 8, do: unpack[uint64](false)},
	{name: "vunpckhpd", text: "VEX|EVEX.66.0F.We1 15", memory: full, elem: 8, do: unpack[uint64](true)},
	{name: "vpunpcklbw", text: "VEX|EVEX.66.0F 60", memory: full, elem: 1, do: unpack[uint8](false)},
	{name: "vpunpcklwd", text: "VEX|EVEX.66.0F 61", memory: full, elem: 2, do: unpack[uint16](false)},
	{name: "vpunpckldq", text: "VEX|EVEX.66.0F.We0 62", memory: full, elem: 4, do: unpack[uint32](false)},
	{name: "vpunpcklqdq", text: "VEX|EVEX.66.0F.We1 6C", memory: full, elem: 8, do: unpack[uint64](false)},
	{name: "vpunpckhbw", text: "VEX|EVEX.66.0F 68", memory: full, elem: 1, do: unpack[uint8](true)},
	{name: "vpunpckhwd", text: "VEX|EVEX.66.0F 69", memory: full, elem: 2, do: unpack[uint16](true)},
	{name: "vpunpckhdq", text: "VEX|EVEX.66.0F.We0 6A", memory: full, elem: 4, do: unpack[uint32](true)},
	{name: "vpunpckhqdq", text: "VEX|EVEX.66.0F.We1 6D", memory: full, elem: 8, do: unpack[uint64](true)},
	{name: "vpacksswb", text: "VEX|EVEX.66.0F 63", memory: full, elem: 1, do: pack(saturate[int8, int16])},
	{name: "vpackuswb", text: "VEX|EVEX.66.0F 67", memory: full, elem: 1, do: pack(saturate[uint8, int16])},
	{name: "vpackssdw", text: "VEX|EVEX.66.0F.We0 6B", memory: full, elem: 4, do: pack(saturate[int16, int32])},
	{name: "vpackusdw", text: "VEX|EVEX.66.0F38.We0 2B", memory: full, elem: 4, do: pack(saturate[uint16, int32])},

	{name: "vblendvps", text: "VEX.66.0F3A.W0 4A is4", memory: full, do: blendSigns(4)},
	{name: "vblendvpd", text: "VEX.66.0F3A.W0 4B is4", memory: full, do: blendSigns(8)},
	{name: "vpblendvb", text: "VEX.66.0F3A.W0 4C is4", memory: full, do: blendSigns(1)},
	{name: "vblendps", text: "VEX.66.0F3A 0C ib", memory: full, do: shuffle(blendBits[uint32])},
	{name: "vblendpd", text: "VEX.66.0F3A 0D ib", memory: full, do: shuffle(blendBits[uint64])},
	{name: "vpblendd", text: "VEX.66.0F3A.W0 02 ib", memory: full, do: shuffle(blendBits[uint32])},
	{name: "vblendmps", text: "EVEX.66.0F38.W0 65", memory: full, elem: 4, do: blendMask(4)},
	{name: "vblendmpd", text: "EVEX.66.0F38.W1 65", memory: full, elem: 8, do: blendMask(8)},
	{name: "vpblendmb", text: "EVEX.66.0F38.W0 66", memory: full, elem: 1, do: blendMask(1)},
	{name: "vpblendmw", text: "EVEX.66.0F38.W1 66", memory: full, elem: 2, do: blendMask(2)},
	{name: "vpblendmd", text: "EVEX.66.0F38.W0 64", memory: full, elem: 4, do: blendMask(4)},
	{name: "vpblendmq", text: "EVEX.66.0F38.W1 64", memory: full, elem: 8, do: blendMask(8)},
}
