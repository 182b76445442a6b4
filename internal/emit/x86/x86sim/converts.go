package x86sim

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// toInt is a conversion to a whole number, of what it cannot be to the integer
// that stands for none: the least signed or the greatest unsigned.
func toInt[D int32 | int64 | uint32 | uint64, S float](round func(float64) float64) func(x S) D {
	return func(x S) D {
		var zero D
		lo, hi, none := 0.0, 0.0, D(0)
		switch any(zero).(type) {
		case int32:
			lo, hi, none = -1<<31, 1<<31, any(int32(math.MinInt32)).(D)
		case int64:
			lo, hi, none = -1<<63, 1<<63, any(int64(math.MinInt64)).(D)
		case uint32:
			hi, none = 1<<32, any(uint32(math.MaxUint32)).(D)
		case uint64:
			hi, none = 1<<64, any(uint64(math.MaxUint64)).(D)
		}
		if r := round(float64(x)); r >= lo && r < hi {
			return D(r)
		}
		return none
	}
}

func fromInt[D float, S int32 | int64 | uint32 | uint64](x S) D { return D(x) }

func widenFloat(x float32) float64 {
	if isNaN(x) {
		x = quiet(x)
	}
	return float64(x)
}

func narrowFloat(x float64) float32 { return float32(x) }

func fromF16(x uint16) float32 {
	f := ir.F16ToFloat32(x)
	if isNaN(f) {
		f = quiet(f)
	}
	return f
}

// flushed is 0 of the same sign for a subnormal number, as instructions on bf16 take it.
func flushed(x float32) float32 {
	if b := math.Float32bits(x); b&0x7F800000 == 0 {
		return math.Float32frombits(b & (1 << 31))
	}
	return x
}

func toBF16(x float32) uint16 {
	b := math.Float32bits(flushed(x))
	if isNaN(x) {
		return uint16(b>>16) | 1<<6
	}
	return uint16((b + 0x7FFF + b>>16&1) >> 16)
}

func fromBF16(x uint16) float32 { return math.Float32frombits(uint32(x) << 16) }

// toHalf is VCVTPS2PH, whose immediate names the rounding.
func toHalf(m *machine, in *instr) {
	if in.imm&4 == 0 && in.imm&3 != 0 {
		panic("x86sim: vcvtps2ph rounds to the nearest alone here")
	}
	n := in.len / 4
	x, o := m.v[in.reg].f32(), lanes[uint16](&m.out, n)
	for i := range o {
		o[i] = ir.F16FromFloat32(x[i])
		if b := math.Float32bits(x[i]); isNaN(x[i]) {
			o[i] = uint16(b>>16&0x8000|b>>13&0x3FF) | 0x7E00
		}
	}
	m.put(in, &m.out, n, 2)
}

// joinBF16 is VCVTNE2PS2BF16: the third operand below, the second above.
func joinBF16(m *machine, in *instr) {
	n := in.len / 4
	lower, upper, o := m.operand(in, n).f32(), m.v[in.vvvv].f32(), lanes[uint16](&m.out, 2*n)
	for i := range n {
		o[i], o[n+i] = toBF16(lower[i]), toBF16(upper[i])
	}
	m.write(in, in.reg, &m.out, 2*n, 2)
}

// scalarFromInt and scalarToInt convert between a general register and the lowest lane.
func scalarFromInt[T float](m *machine, in *instr) {
	n := 4
	if in.wide {
		n = 8
	}
	x := signed(m.gp(in, n), n)
	out := m.v[in.vvvv]
	lanes[T](&out, 1)[0] = T(x)
	clear(out[2:])
	m.v[in.reg] = out
}

func scalarToInt[T float](round func(float64) float64) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		x := lanes[T](m.operand(in, 1), 1)[0]
		if in.wide {
			m.r[in.reg] = uint64(toInt[int64, T](round)(x))
		} else {
			m.r[in.reg] = uint64(uint32(toInt[int32, T](round)(x)))
		}
	}
}

func widening[D, S integer](name, opc string, u unit) opcode {
	return opcode{name: name, text: "VEX|EVEX.66.0F38 " + opc, memory: u, elem: sizeof[D](), do: convert(truncated[D, S])}
}

func narrowing[D, S integer](name, opc string, u unit, f func(x S) D) opcode {
	return opcode{name: name, text: "EVEX.F3.0F38.W0 " + opc, memory: u, elem: sizeof[D](), do: narrow(f)}
}

func converting[D, S lane](name, text string, u unit, f func(x S) D) opcode {
	return opcode{name: name, text: text, memory: u, elem: sizeof[S](), do: convert(f)}
}

var convertRows = []opcode{
	converting("vcvtdq2ps", "VEX|EVEX.0F.We0 5B", full, fromInt[float32, int32]),
	converting("vcvtps2dq", "VEX|EVEX.66.0F.We0 5B", full, toInt[int32, float32](math.RoundToEven)),
	converting("vcvttps2dq", "VEX|EVEX.F3.0F.We0 5B", full, toInt[int32, float32](math.Trunc)),
	converting("vcvtudq2ps", "EVEX.F2.0F.W0 7A", full, fromInt[float32, uint32]),
	converting("vcvtps2udq", "EVEX.0F.W0 79", full, toInt[uint32, float32](math.RoundToEven)),
	converting("vcvttps2udq", "EVEX.0F.W0 78", full, toInt[uint32, float32](math.Trunc)),
	converting("vcvtps2pd", "VEX|EVEX.0F.We0 5A", half, widenFloat),
	converting("vcvtdq2pd", "VEX|EVEX.F3.0F.We0 E6", half, fromInt[float64, int32]),
	converting("vcvtudq2pd", "EVEX.F3.0F.W0 7A", half, fromInt[float64, uint32]),
	converting("vcvtps2qq", "EVEX.66.0F.W0 7B", half, toInt[int64, float32](math.RoundToEven)),
	converting("vcvttps2qq", "EVEX.66.0F.W0 7A", half, toInt[int64, float32](math.Trunc)),
	converting("vcvttps2uqq", "EVEX.66.0F.W0 78", half, toInt[uint64, float32](math.Trunc)),
	converting("vcvtpd2ps", "VEX|EVEX.66.0F.We1 5A", full, narrowFloat),
	converting("vcvtpd2dq", "VEX|EVEX.F2.0F.We1 E6", full, toInt[int32, float64](math.RoundToEven)),
	converting("vcvttpd2dq", "VEX|EVEX.66.0F.We1 E6", full, toInt[int32, float64](math.Trunc)),
	converting("vcvttpd2udq", "EVEX.0F.W1 78", full, toInt[uint32, float64](math.Trunc)),
	converting("vcvtqq2ps", "EVEX.0F.W1 5B", full, fromInt[float32, int64]),
	converting("vcvtuqq2ps", "EVEX.F2.0F.W1 7A", full, fromInt[float32, uint64]),
	converting("vcvtqq2pd", "EVEX.F3.0F.W1 E6", full, fromInt[float64, int64]),
	converting("vcvtuqq2pd", "EVEX.F3.0F.W1 7A", full, fromInt[float64, uint64]),
	converting("vcvtpd2qq", "EVEX.66.0F.W1 7B", full, toInt[int64, float64](math.RoundToEven)),
	converting("vcvttpd2qq", "EVEX.66.0F.W1 7A", full, toInt[int64, float64](math.Trunc)),
	converting("vcvttpd2uqq", "EVEX.66.0F.W1 78", full, toInt[uint64, float64](math.Trunc)),

	converting("vcvtph2ps", "VEX|EVEX.66.0F38.W0 13", half, fromF16),
	{name: "vcvtps2ph", text: "VEX|EVEX.66.0F3A.W0 1D ib", memory: half, elem: 2, do: toHalf},
	converting("vcvtneps2bf16", "EVEX.F3.0F38.W0 72", full, toBF16),
	{name: "vcvtne2ps2bf16", text: "EVEX.F2.0F38.W0 72", memory: full, elem: 4, do: joinBF16},

	{name: "vcvtsi2ss", text: "VEX|EVEX.F3.0F 2A", memory: 4, do: scalarFromInt[float32]},
	{name: "vcvtsi2sd", text: "VEX|EVEX.F2.0F 2A", memory: 4, do: scalarFromInt[float64]},
	{name: "vcvtss2si", text: "VEX|EVEX.F3.0F 2D", memory: 4, do: scalarToInt[float32](math.RoundToEven)},
	{name: "vcvttss2si", text: "VEX|EVEX.F3.0F 2C", memory: 4, do: scalarToInt[float32](math.Trunc)},
	{name: "vcvtsd2si", text: "VEX|EVEX.F2.0F 2D", memory: 8, do: scalarToInt[float64](math.RoundToEven)},
	{name: "vcvttsd2si", text: "VEX|EVEX.F2.0F 2C", memory: 8, do: scalarToInt[float64](math.Trunc)},

	widening[uint16, uint8]("vpmovzxbw", "30", half),
	widening[uint32, uint8]("vpmovzxbd", "31", quarter),
	widening[uint64, uint8]("vpmovzxbq", "32", eighth),
	widening[uint32, uint16]("vpmovzxwd", "33", half),
	widening[uint64, uint16]("vpmovzxwq", "34", quarter),
	widening[uint64, uint32]("vpmovzxdq", "35", half),
	widening[int16, int8]("vpmovsxbw", "20", half),
	widening[int32, int8]("vpmovsxbd", "21", quarter),
	widening[int64, int8]("vpmovsxbq", "22", eighth),
	widening[int32, int16]("vpmovsxwd", "23", half),
	widening[int64, int16]("vpmovsxwq", "24", quarter),
	widening[int64, int32]("vpmovsxdq", "25", half),

	narrowing("vpmovwb", "30", half, truncated[uint8, uint16]),
	narrowing("vpmovswb", "20", half, saturate[int8, int16]),
	narrowing("vpmovuswb", "10", half, saturate[uint8, uint16]),
	narrowing("vpmovdb", "31", quarter, truncated[uint8, uint32]),
	narrowing("vpmovsdb", "21", quarter, saturate[int8, int32]),
	narrowing("vpmovusdb", "11", quarter, saturate[uint8, uint32]),
	narrowing("vpmovdw", "33", half, truncated[uint16, uint32]),
	narrowing("vpmovsdw", "23", half, saturate[int16, int32]),
	narrowing("vpmovusdw", "13", half, saturate[uint16, uint32]),
	narrowing("vpmovqb", "32", eighth, truncated[uint8, uint64]),
	narrowing("vpmovqw", "34", quarter, truncated[uint16, uint64]),
	narrowing("vpmovqd", "35", half, truncated[uint32, uint64]),
	narrowing("vpmovsqd", "25", half, saturate[int32, int64]),
	narrowing("vpmovusqd", "15", half, saturate[uint32, uint64]),
}
