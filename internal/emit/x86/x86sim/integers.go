package x86sim

import (
	"cmp"
	"math/bits"
	"slices"
)

type integer interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64
}

func plus[T integer](x, y T) T   { return x + y }
func minus[T integer](x, y T) T  { return x - y }
func times[T integer](x, y T) T  { return x * y }
func and[T integer](x, y T) T    { return x & y }
func andNot[T integer](x, y T) T { return y &^ x }
func or[T integer](x, y T) T     { return x | y }
func xor[T integer](x, y T) T    { return x ^ y }
func least[T integer](x, y T) T  { return min(x, y) }
func most[T integer](x, y T) T   { return max(x, y) }

func abs[T integer](x T) T {
	if x < 0 {
		return -x
	}
	return x
}

// saturate is the nearest value that D has.
func saturate[D, S integer](x S) D {
	var lo, hi int64
	var d D
	switch any(d).(type) {
	case int8:
		lo, hi = -1<<7, 1<<7-1
	case uint8:
		hi = 1<<8 - 1
	case int16:
		lo, hi = -1<<15, 1<<15-1
	case uint16:
		hi = 1<<16 - 1
	case int32:
		lo, hi = -1<<31, 1<<31-1
	case uint32:
		hi = 1<<32 - 1
	}
	if uint64(x) > 1<<63-1 && x > 0 { // of uint64
		return D(hi)
	}
	return D(min(max(int64(x), lo), hi))
}

func truncated[D, S integer](x S) D { return D(x) }

func equal[T integer](x, y T, _ int) bool   { return x == y }
func greater[T integer](x, y T, _ int) bool { return x > y }

// ordering tells whether x and y compare as the 3 bits of an immediate say.
func ordering[T integer](x, y T, imm int) bool {
	c := cmp.Compare(x, y)
	switch imm & 3 {
	case 0:
		return (c == 0) != (imm&4 != 0)
	case 1:
		return (c < 0) != (imm&4 != 0)
	case 2:
		return (c <= 0) != (imm&4 != 0)
	}
	return imm&4 != 0 // 3: never, 7: always
}

func tests[T integer](x, y T, _ int) bool    { return x&y != 0 }
func testsNot[T integer](x, y T, _ int) bool { return x&y == 0 }

// Shifts of lanes, past the width nothing but signs.
func shl[T integer](x T, c uint64) T { return x << c }
func shr[T integer](x T, c uint64) T { return x >> c }

func rotl[T uint32 | uint64](x T, c uint64) T {
	size := uint64(8 * sizeof[T]())
	return x<<(c%size) | x>>(size-c%size)
}

func rotr[T uint32 | uint64](x T, c uint64) T {
	size := uint64(8 * sizeof[T]())
	return rotl(x, size-c%size)
}

// shiftImm shifts by the immediate, into the register in VEX.vvvv.
func shiftImm[T integer](f func(x T, c uint64) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / sizeof[T]()
		x, o := lanes[T](m.operand(in, n), n), lanes[T](&m.out, n)
		for i := range o {
			o[i] = f(x[i], uint64(uint8(in.imm)))
		}
		m.write(in, in.vvvv, &m.out, n, sizeof[T]())
	}
}

// shiftVector shifts by the low 64 bits of the third operand.
func shiftVector[T integer](f func(x T, c uint64) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / sizeof[T]()
		c := m.v[in.rm][0]
		if in.memory {
			c = load(m.address(in), 8)
		}
		x, o := lanes[T](&m.v[in.vvvv], n), lanes[T](&m.out, n)
		for i := range o {
			o[i] = f(x[i], c)
		}
		m.write(in, in.reg, &m.out, n, sizeof[T]())
	}
}

// shiftEach shifts each lane by its own count. Unsigned counts are those of lanes
// of the same width.
func shiftEach[T, C integer](f func(x T, c uint64) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / sizeof[T]()
		x, c, o := lanes[T](&m.v[in.vvvv], n), lanes[C](m.operand(in, n), n), lanes[T](&m.out, n)
		for i := range o {
			o[i] = f(x[i], uint64(c[i]))
		}
		m.write(in, in.reg, &m.out, n, sizeof[T]())
	}
}

// shiftBytes moves the bytes of each 128 bits.
func shiftBytes(left bool) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		x, c := m.operand(in, in.len), int(uint8(in.imm))
		m.out = vec{}
		for i := range in.len {
			from := i%16 + c
			if left {
				from = i%16 - c
			}
			if from >= 0 && from < 16 {
				m.out.u8()[i] = x.u8()[i&^15+from]
			}
		}
		m.write(in, in.vvvv, &m.out, in.len, 1)
	}
}

// ternary looks bits up in the immediate: by the destination's, the second's and
// the third operand's.
func ternary[T uint32 | uint64](m *machine, in *instr) {
	table := in.imm
	map3(func(d, x, y T) T {
		var r T
		for i := range 8 {
			if table>>i&1 == 0 {
				continue
			}
			term := ^T(0)
			for j, v := range [...]T{y, x, d} {
				if i>>j&1 == 0 {
					v = ^v
				}
				term &= v
			}
			r |= term
		}
		return r
	})(m, in)
}

// maddWords adds the products of two neighbours of 16 bits.
func maddWords(m *machine, in *instr) {
	n := in.len / 4
	x, y, o := lanes[int16](&m.v[in.vvvv], 2*n), lanes[int16](m.operand(in, n), 2*n), lanes[int32](&m.out, n)
	for i := range o {
		o[i] = int32(x[2*i])*int32(y[2*i]) + int32(x[2*i+1])*int32(y[2*i+1])
	}
	m.write(in, in.reg, &m.out, n, 4)
}

func maddBytes(m *machine, in *instr) {
	n := in.len / 2
	x, y, o := lanes[uint8](&m.v[in.vvvv], 2*n), lanes[int8](m.operand(in, n), 2*n), lanes[int16](&m.out, n)
	for i := range o {
		o[i] = saturate[int16](int32(x[2*i])*int32(y[2*i]) + int32(x[2*i+1])*int32(y[2*i+1]))
	}
	m.write(in, in.reg, &m.out, n, 2)
}

func sumDifferences(m *machine, in *instr) {
	x, y := &m.v[in.vvvv], m.operand(in, in.len)
	for i := range in.len / 8 {
		sum := uint64(0)
		for j := range 8 {
			sum += uint64(max(x.u8()[8*i+j], y.u8()[8*i+j]) - min(x.u8()[8*i+j], y.u8()[8*i+j]))
		}
		m.out[i] = sum
	}
	m.write(in, in.reg, &m.out, in.len/8, 8)
}

// testVectors is VPTEST.
func testVectors(m *machine, in *instr) {
	x, y := m.v[in.reg], m.operand(in, 1)
	m.flags = flags{zf: true, cf: true}
	for i := range in.len / 8 {
		m.zf = m.zf && x[i]&y[i] == 0
		m.cf = m.cf && y[i]&^x[i] == 0
	}
}

func wide[D, S integer](f func(x, y D) D) func(x, y D) D {
	return func(x, y D) D { return f(D(S(x)), D(S(y))) }
}

func high[T int16 | uint16](x, y T) T { return T((int64(x) * int64(y)) >> 16) }

// vectorRow is a row whose memory operand is a whole vector.
func vectorRow(name, text string, elem int, do func(m *machine, in *instr)) opcode {
	return opcode{name: name, text: text, memory: full, elem: elem, do: do}
}

// shifts has the rows of a shift by an immediate and by a vector.
func shifts[T integer](name, w, imm string, ext string, vector string, f func(x T, c uint64) T) []opcode {
	enc := "VEX|EVEX.66.0F" + w
	if name == "vpsraq" {
		enc = "EVEX.66.0F" + w
	}
	return []opcode{
		{name: name, text: enc + " " + imm + " " + ext + " ib", memory: full, elem: sizeof[T](), do: shiftImm(f)},
		{name: name, text: enc + " " + vector, memory: 16, elem: sizeof[T](), do: shiftVector(f)},
	}
}

var integerRows = slices.Concat([]opcode{
	vectorRow("vpaddb", "VEX|EVEX.66.0F FC", 1, map2(plus[uint8])),
	vectorRow("vpaddw", "VEX|EVEX.66.0F FD", 2, map2(plus[uint16])),
	vectorRow("vpaddd", "VEX|EVEX.66.0F.We0 FE", 4, map2(plus[uint32])),
	vectorRow("vpaddq", "VEX|EVEX.66.0F.We1 D4", 8, map2(plus[uint64])),
	vectorRow("vpaddsw", "VEX|EVEX.66.0F ED", 2, map2(func(x, y int16) int16 { return saturate[int16](int32(x) + int32(y)) })),
	vectorRow("vpsubb", "VEX|EVEX.66.0F F8", 1, map2(minus[uint8])),
	vectorRow("vpsubw", "VEX|EVEX.66.0F F9", 2, map2(minus[uint16])),
	vectorRow("vpsubd", "VEX|EVEX.66.0F.We0 FA", 4, map2(minus[uint32])),
	vectorRow("vpsubq", "VEX|EVEX.66.0F.We1 FB", 8, map2(minus[uint64])),
	vectorRow("vpmullw", "VEX|EVEX.66.0F D5", 2, map2(times[uint16])),
	vectorRow("vpmulhw", "VEX|EVEX.66.0F E5", 2, map2(high[int16])),
	vectorRow("vpmulhuw", "VEX|EVEX.66.0F E4", 2, map2(high[uint16])),
	vectorRow("vpmulld", "VEX|EVEX.66.0F38.W0 40", 4, map2(times[uint32])),
	vectorRow("vpmullq", "EVEX.66.0F38.W1 40", 8, map2(times[uint64])),
	vectorRow("vpmuldq", "VEX|EVEX.66.0F38.We1 28", 8, map2(wide[int64, int32](times))),
	vectorRow("vpmuludq", "VEX|EVEX.66.0F.We1 F4", 8, map2(wide[uint64, uint32](times))),
	vectorRow("vpmaddwd", "VEX|EVEX.66.0F F5", 4, maddWords),
	vectorRow("vpmaddubsw", "VEX|EVEX.66.0F38 04", 2, maddBytes),
	vectorRow("vpsadbw", "VEX|EVEX.66.0F F6", 1, sumDifferences),

	vectorRow("vpminsb", "VEX|EVEX.66.0F38 38", 1, map2(least[int8])),
	vectorRow("vpminsw", "VEX|EVEX.66.0F EA", 2, map2(least[int16])),
	vectorRow("vpminsd", "VEX|EVEX.66.0F38.We0 39", 4, map2(least[int32])),
	vectorRow("vpminsq", "EVEX.66.0F38.W1 39", 8, map2(least[int64])),
	vectorRow("vpmaxsb", "VEX|EVEX.66.0F38 3C", 1, map2(most[int8])),
	vectorRow("vpmaxsw", "VEX|EVEX.66.0F EE", 2, map2(most[int16])),
	vectorRow("vpmaxsd", "VEX|EVEX.66.0F38.We0 3D", 4, map2(most[int32])),
	vectorRow("vpmaxsq", "EVEX.66.0F38.W1 3D", 8, map2(most[int64])),
	vectorRow("vpminub", "VEX|EVEX.66.0F DA", 1, map2(least[uint8])),
	vectorRow("vpminuw", "VEX|EVEX.66.0F38 3A", 2, map2(least[uint16])),
	vectorRow("vpminud", "VEX|EVEX.66.0F38.We0 3B", 4, map2(least[uint32])),
	vectorRow("vpminuq", "EVEX.66.0F38.W1 3B", 8, map2(least[uint64])),
	vectorRow("vpmaxub", "VEX|EVEX.66.0F DE", 1, map2(most[uint8])),
	vectorRow("vpmaxuw", "VEX|EVEX.66.0F38 3E", 2, map2(most[uint16])),
	vectorRow("vpmaxud", "VEX|EVEX.66.0F38.We0 3F", 4, map2(most[uint32])),
	vectorRow("vpmaxuq", "EVEX.66.0F38.W1 3F", 8, map2(most[uint64])),
	vectorRow("vpabsb", "VEX|EVEX.66.0F38 1C", 1, map1(abs[int8])),
	vectorRow("vpabsw", "VEX|EVEX.66.0F38 1D", 2, map1(abs[int16])),
	vectorRow("vpabsd", "VEX|EVEX.66.0F38.We0 1E", 4, map1(abs[int32])),
	vectorRow("vpabsq", "EVEX.66.0F38.W1 1F", 8, map1(abs[int64])),
	vectorRow("vplzcntd", "EVEX.66.0F38.W0 44", 4, map1(func(x uint32) uint32 { return uint32(bits.LeadingZeros32(x)) })),
	vectorRow("vplzcntq", "EVEX.66.0F38.W1 44", 8, map1(func(x uint64) uint64 { return uint64(bits.LeadingZeros64(x)) })),

	vectorRow("vpand", "VEX.66.0F DB", 8, map2(and[uint64])),
	vectorRow("vpandn", "VEX.66.0F DF", 8, map2(andNot[uint64])),
	vectorRow("vpor", "VEX.66.0F EB", 8, map2(or[uint64])),
	vectorRow("vpxor", "VEX.66.0F EF", 8, map2(xor[uint64])),
	vectorRow("vpandd", "EVEX.66.0F.W0 DB", 4, map2(and[uint32])),
	vectorRow("vpandq", "EVEX.66.0F.W1 DB", 8, map2(and[uint64])),
	vectorRow("vpandnd", "EVEX.66.0F.W0 DF", 4, map2(andNot[uint32])),
	vectorRow("vpandnq", "EVEX.66.0F.W1 DF", 8, map2(andNot[uint64])),
	vectorRow("vpord", "EVEX.66.0F.W0 EB", 4, map2(or[uint32])),
	vectorRow("vporq", "EVEX.66.0F.W1 EB", 8, map2(or[uint64])),
	vectorRow("vpxord", "EVEX.66.0F.W0 EF", 4, map2(xor[uint32])),
	vectorRow("vpxorq", "EVEX.66.0F.W1 EF", 8, map2(xor[uint64])),
	vectorRow("vpternlogd", "EVEX.66.0F3A.W0 25 ib", 4, ternary[uint32]),
	vectorRow("vpternlogq", "EVEX.66.0F3A.W1 25 ib", 8, ternary[uint64]),
	vectorRow("vptest", "VEX.66.0F38 17", 8, testVectors),

	{name: "vpslldq", text: "VEX|EVEX.66.0F 73 /7 ib", memory: full, do: shiftBytes(true)},
	{name: "vpsrldq", text: "VEX|EVEX.66.0F 73 /3 ib", memory: full, do: shiftBytes(false)},
	{name: "vprold", text: "EVEX.66.0F.W0 72 /1 ib", memory: full, elem: 4, do: shiftImm(rotl[uint32])},
	{name: "vprord", text: "EVEX.66.0F.W0 72 /0 ib", memory: full, elem: 4, do: shiftImm(rotr[uint32])},
	vectorRow("vpsllvd", "VEX|EVEX.66.0F38.W0 47", 4, shiftEach[uint32, uint32](shl)),
	vectorRow("vpsllvq", "VEX|EVEX.66.0F38.W1 47", 8, shiftEach[uint64, uint64](shl)),
	vectorRow("vpsrlvd", "VEX|EVEX.66.0F38.W0 45", 4, shiftEach[uint32, uint32](shr)),
	vectorRow("vpsrlvq", "VEX|EVEX.66.0F38.W1 45", 8, shiftEach[uint64, uint64](shr)),
	vectorRow("vpsravd", "VEX|EVEX.66.0F38.W0 46", 4, shiftEach[int32, uint32](shr)),
	vectorRow("vpsravq", "EVEX.66.0F38.W1 46", 8, shiftEach[int64, uint64](shr)),
	vectorRow("vpsllvw", "EVEX.66.0F38.W1 12", 2, shiftEach[uint16, uint16](shl)),
	vectorRow("vpsrlvw", "EVEX.66.0F38.W1 10", 2, shiftEach[uint16, uint16](shr)),
	vectorRow("vpsravw", "EVEX.66.0F38.W1 11", 2, shiftEach[int16, uint16](shr)),

	vectorRow("vpcmpeqb", "VEX.66.0F 74", 1, compareVector(equal[uint8])),
	vectorRow("vpcmpeqw", "VEX.66.0F 75", 2, compareVector(equal[uint16])),
	vectorRow("vpcmpeqd", "VEX.66.0F 76", 4, compareVector(equal[uint32])),
	vectorRow("vpcmpeqq", "VEX.66.0F38 29", 8, compareVector(equal[uint64])),
	vectorRow("vpcmpgtb", "VEX.66.0F 64", 1, compareVector(greater[int8])),
	vectorRow("vpcmpgtw", "VEX.66.0F 65", 2, compareVector(greater[int16])),
	vectorRow("vpcmpgtd", "VEX.66.0F 66", 4, compareVector(greater[int32])),
	vectorRow("vpcmpgtq", "VEX.66.0F38 37", 8, compareVector(greater[int64])),
	vectorRow("vpcmpeqb", "EVEX.66.0F 74", 1, compare(equal[uint8])),
	vectorRow("vpcmpeqw", "EVEX.66.0F 75", 2, compare(equal[uint16])),
	vectorRow("vpcmpeqd", "EVEX.66.0F.W0 76", 4, compare(equal[uint32])),
	vectorRow("vpcmpeqq", "EVEX.66.0F38.W1 29", 8, compare(equal[uint64])),
	vectorRow("vpcmpgtb", "EVEX.66.0F 64", 1, compare(greater[int8])),
	vectorRow("vpcmpgtw", "EVEX.66.0F 65", 2, compare(greater[int16])),
	vectorRow("vpcmpgtd", "EVEX.66.0F.W0 66", 4, compare(greater[int32])),
	vectorRow("vpcmpgtq", "EVEX.66.0F38.W1 37", 8, compare(greater[int64])),
	vectorRow("vpcmpb", "EVEX.66.0F3A.W0 3F ib", 1, compare(ordering[int8])),
	vectorRow("vpcmpw", "EVEX.66.0F3A.W1 3F ib", 2, compare(ordering[int16])),
	vectorRow("vpcmpd", "EVEX.66.0F3A.W0 1F ib", 4, compare(ordering[int32])),
	vectorRow("vpcmpq", "EVEX.66.0F3A.W1 1F ib", 8, compare(ordering[int64])),
	vectorRow("vpcmpub", "EVEX.66.0F3A.W0 3E ib", 1, compare(ordering[uint8])),
	vectorRow("vpcmpuw", "EVEX.66.0F3A.W1 3E ib", 2, compare(ordering[uint16])),
	vectorRow("vpcmpud", "EVEX.66.0F3A.W0 1E ib", 4, compare(ordering[uint32])),
	vectorRow("vpcmpuq", "EVEX.66.0F3A.W1 1E ib", 8, compare(ordering[uint64])),
	vectorRow("vptestmb", "EVEX.66.0F38.W0 26", 1, compare(tests[uint8])),
	vectorRow("vptestmw", "EVEX.66.0F38.W1 26", 2, compare(tests[uint16])),
	vectorRow("vptestmd", "EVEX.66.0F38.W0 27", 4, compare(tests[uint32])),
	vectorRow("vptestmq", "EVEX.66.0F38.W1 27", 8, compare(tests[uint64])),
	vectorRow("vptestnmb", "EVEX.F3.0F38.W0 26", 1, compare(testsNot[uint8])),
	vectorRow("vptestnmw", "EVEX.F3.0F38.W1 26", 2, compare(testsNot[uint16])),
	vectorRow("vptestnmd", "EVEX.F3.0F38.W0 27", 4, compare(testsNot[uint32])),
	vectorRow("vptestnmq", "EVEX.F3.0F38.W1 27", 8, compare(testsNot[uint64])),
},
	shifts("vpsllw", "", "71", "/6", "F1", shl[uint16]),
	shifts("vpsrlw", "", "71", "/2", "D1", shr[uint16]),
	shifts("vpsraw", "", "71", "/4", "E1", shr[int16]),
	shifts("vpslld", ".We0", "72", "/6", "F2", shl[uint32]),
	shifts("vpsrld", ".We0", "72", "/2", "D2", shr[uint32]),
	shifts("vpsrad", ".We0", "72", "/4", "E2", shr[int32]),
	shifts("vpsllq", ".We1", "73", "/6", "F3", shl[uint64]),
	shifts("vpsrlq", ".We1", "73", "/2", "D3", shr[uint64]),
	shifts("vpsraq", ".W1", "72", "/4", "E2", shr[int64]),
)
