package x86sim

import (
	"fmt"

	"github.com/sinterml/sinter/internal/loop"
)

// dotBytes adds four products of unsigned and signed bytes to each lane of 32 bits.
func dotBytes(d int64, x *[4]uint8, y *[4]int8) int64 {
	for i := range x {
		d += int64(x[i]) * int64(y[i])
	}
	return d
}

func dotBytesLanes(finish func(sum int64) int32) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / 4
		d, x, y := lanes[int32](&m.v[in.reg], n), lanes[uint8](&m.v[in.vvvv], 4*n), lanes[int8](m.operand(in, n), 4*n)
		o := lanes[int32](&m.out, n)
		for i := range o {
			o[i] = finish(dotBytes(int64(d[i]), (*[4]uint8)(x[4*i:]), (*[4]int8)(y[4*i:])))
		}
		m.write(in, in.reg, &m.out, n, 4)
	}
}

func dotWordsLanes(finish func(sum int64) int32) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / 4
		d, x, y := lanes[int32](&m.v[in.reg], n), lanes[int16](&m.v[in.vvvv], 2*n), lanes[int16](m.operand(in, n), 2*n)
		o := lanes[int32](&m.out, n)
		for i := range o {
			o[i] = finish(int64(d[i]) + int64(x[2*i])*int64(y[2*i]) + int64(x[2*i+1])*int64(y[2*i+1]))
		}
		m.write(in, in.reg, &m.out, n, 4)
	}
}

// fmaFlushed is a multiply-add that takes a subnormal sum for 0 and gives none; x
// and y are none.
func fmaFlushed(x, y, z float32) float32 {
	z = flushed(z)
	if p := float32(x * y); p == 0 { // or too small to change a number that is not
		return z + p
	}
	r := loop.FMA32(x, y, z)
	if isNaN(r) {
		return mulAdd(x, y, z, false, false)
	}
	return flushed(r)
}

func flushedBF16(x uint16) float32 { return flushed(fromBF16(x)) }

// dotBF16 adds the upper product of each pair, then the lower one.
func dotBF16(m *machine, in *instr) {
	n := in.len / 4
	d, x, y := lanes[float32](&m.v[in.reg], n), lanes[uint16](&m.v[in.vvvv], 2*n), lanes[uint16](m.operand(in, n), 2*n)
	o := lanes[float32](&m.out, n)
	for i := range o {
		sum := fmaFlushed(flushedBF16(x[2*i+1]), flushedBF16(y[2*i+1]), d[i])
		o[i] = fmaFlushed(flushedBF16(x[2*i]), flushedBF16(y[2*i]), sum)
	}
	m.write(in, in.reg, &m.out, n, 4)
}

func wrapped(sum int64) int32 { return int32(sum) }

// configure reads the shapes of tiles: palette 1, rows at 48 and bytes of a row at 16.
func configure(m *machine, in *instr) {
	at := m.address(in)
	if p := load(at, 1); p != 1 {
		panic(fmt.Errorf("x86sim: ldtilecfg of palette %d", p))
	}
	for i := range m.tiles {
		t := &m.tiles[i]
		t.bytes, t.rows = int(load(at+16+uintptr(2*i), 2)), int(load(at+48+uintptr(i), 1))
		if t.rows > 16 || t.bytes > 64 || (t.rows == 0) != (t.bytes == 0) {
			panic(fmt.Errorf("x86sim: ldtilecfg gives tile %d %d rows of %d bytes", i, t.rows, t.bytes))
		}
		clear(t.data[:])
	}
	m.tiled = true
}

func (m *machine) tile(in *instr, n uint8) *tile {
	if t := &m.tiles[n&7]; m.tiled && t.rows > 0 {
		return t
	}
	panic(fmt.Errorf("x86sim: %s: tile %d is not configured", in.op.name, n&7))
}

// rowAddress is where a row of a tile lies: the index is the bytes between rows.
func (m *machine) rowAddress(in *instr, row int) uintptr {
	at := m.r[in.base] + uint64(in.disp)
	if in.index >= 0 {
		at += m.r[in.index] << in.scale * uint64(row)
	}
	return uintptr(at)
}

func tileLoad(m *machine, in *instr) {
	t := m.tile(in, in.reg)
	clear(t.data[:])
	for r := range t.rows {
		copyBytes(t.data[r].u8()[:t.bytes], m.rowAddress(in, r))
	}
}

func tileStore(m *machine, in *instr) {
	t := m.tile(in, in.reg)
	for r := range t.rows {
		at := m.rowAddress(in, r)
		for i := 0; i < t.bytes; i += 4 {
			store(at+uintptr(i), 4, uint64(t.data[r].u32()[i/4]))
		}
	}
}

// dots lets f add the products of rows of the second operand and columns of the
// third, of lanes of 32 bits, to the sums.
func dots(f func(d, x, y *tile)) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		d, x, y := m.tile(in, in.reg), m.tile(in, in.rm), m.tile(in, in.vvvv)
		if d == x || d == y || x == y || x.rows != d.rows || x.bytes != 4*y.rows || y.bytes != d.bytes {
			panic(fmt.Errorf("x86sim: %s of tiles %d, %d, %d: %dx%d, %dx%d, %dx%d bytes", in.op.name,
				in.reg, in.rm, in.vvvv&7, d.rows, d.bytes, x.rows, x.bytes, y.rows, y.bytes))
		}
		f(d, x, y)
		for row := range d.rows {
			clear(d.data[row].u8()[d.bytes:])
		}
	}
}

func tileBytes(d, x, y *tile) {
	for row := range d.rows {
		a, o := x.data[row].u8(), lanes[int32](&d.data[row], d.bytes/4)
		for k := range y.rows {
			b := y.data[k].i8()
			for n := range o {
				o[n] = int32(dotBytes(int64(o[n]), (*[4]uint8)(a[4*k:]), (*[4]int8)(b[4*n:])))
			}
		}
	}
}

// tileFloats sums even and odd terms apart, from 0 on, and adds both to the sums.
func tileFloats(widen func(x uint16) float32) func(d, x, y *tile) {
	return func(d, x, y *tile) {
		var left, right [16][32]float32
		for row := range d.rows {
			widenRow(&left[row], &x.data[row], widen)
		}
		for k := range y.rows {
			widenRow(&right[k], &y.data[k], widen)
		}
		plus := arith(add[float32])
		for row := range d.rows {
			var sums [32]float32
			for k := range y.rows {
				for n := range d.bytes / 2 {
					sums[n] = fmaFlushed(left[row][2*k+n&1], right[k][n], sums[n])
				}
			}
			o := d.data[row].f32()
			for n := range d.bytes / 4 {
				o[n] = flushed(plus(flushed(o[n]), flushed(plus(sums[2*n], sums[2*n+1]))))
			}
		}
	}
}

func widenRow(to *[32]float32, row *vec, widen func(x uint16) float32) {
	for i, x := range row.u16() {
		to[i] = flushed(widen(x))
	}
}

var dotRows = []opcode{
	{name: "vpdpbusd", text: "VEX|EVEX.66.0F38.W0 50", memory: full, elem: 4, do: dotBytesLanes(wrapped)},
	{name: "vpdpbusds", text: "VEX|EVEX.66.0F38.W0 51", memory: full, elem: 4, do: dotBytesLanes(saturate[int32, int64])},
	{name: "vpdpwssd", text: "VEX|EVEX.66.0F38.W0 52", memory: full, elem: 4, do: dotWordsLanes(wrapped)},
	{name: "vpdpwssds", text: "VEX|EVEX.66.0F38.W0 53", memory: full, elem: 4, do: dotWordsLanes(saturate[int32, int64])},
	{name: "vdpbf16ps", text: "EVEX.F3.0F38.W0 52", memory: full, elem: 4, do: dotBF16},

	{name: "ldtilecfg", text: "VEX.NP.0F38.W0.L0 49 /0 /m", do: configure},
	{name: "tilerelease", text: "VEX.NP.0F38.W0.L0 49 /0 /rr", do: func(m *machine, _ *instr) { m.tiled = false }},
	{name: "tilezero", text: "VEX.F2.0F38.W0.L0 49 /rr", do: func(m *machine, in *instr) { clear(m.tile(in, in.reg).data[:]) }},
	{name: "tileloadd", text: "VEX.F2.0F38.W0.L0 4B /m", do: tileLoad},
	{name: "tileloaddt1", text: "VEX.66.0F38.W0.L0 4B /m", do: tileLoad},
	{name: "tilestored", text: "VEX.F3.0F38.W0.L0 4B /m", do: tileStore},
	{name: "tdpbf16ps", text: "VEX.F3.0F38.W0.L0 5C /rr", do: dots(tileFloats(fromBF16))},
	{name: "tdpfp16ps", text: "VEX.F2.0F38.W0.L0 5C /rr", do: dots(tileFloats(fromF16))},
	{name: "tdpbusd", text: "VEX.66.0F38.W0.L0 5E /rr", do: dots(tileBytes)},
}
