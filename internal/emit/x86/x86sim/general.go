package x86sim

import (
	"math/bits"
)

// width is the bytes of the operand of a general instruction.
func (in *instr) width() int {
	switch {
	case in.wide:
		return 8
	case in.op.pp == 1 && in.op.enc == legacy:
		return 2
	}
	return 4
}

// address is where a memory operand lies.
func (m *machine) address(in *instr) uintptr {
	at := uint64(in.disp)
	if in.base >= 0 {
		at += m.r[in.base]
	}
	if in.index >= 0 {
		at += m.r[in.index] << in.scale
	}
	return uintptr(at)
}

func load(at uintptr, bytes int) uint64 {
	p := pointer(at)
	switch bytes {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func store(at uintptr, bytes int, x uint64) {
	p := pointer(at)
	switch bytes {
	case 1:
		*(*uint8)(p) = uint8(x)
	case 2:
		*(*uint16)(p) = uint16(x)
	case 4:
		*(*uint32)(p) = uint32(x)
	default:
		*(*uint64)(p) = x
	}
}

// register reads the low bytes of a general register.
func (m *machine) register(in *instr, r uint8, bytes int) uint64 {
	if bytes == 1 && in.op.enc == legacy && !in.rex && r&^3 == 4 {
		return m.r[r&3] >> 8 & 0xFF // AH to BH
	}
	return cut(m.r[r], bytes)
}

// setRegister writes them: of 4 bytes the rest becomes 0, of fewer it stays.
func (m *machine) setRegister(in *instr, r uint8, bytes int, x uint64) {
	switch {
	case bytes >= 4:
		m.r[r] = cut(x, bytes)
	case bytes == 1 && !in.rex && r&^3 == 4:
		m.r[r&3] = m.r[r&3]&^0xFF00 | x&0xFF<<8
	default:
		low := uint64(1)<<(8*bytes) - 1
		m.r[r] = m.r[r]&^low | x&low
	}
}

func (m *machine) get(in *instr, bytes int) uint64 {
	if in.memory {
		return load(m.address(in), bytes)
	}
	return m.register(in, in.rm, bytes)
}

func (m *machine) set(in *instr, bytes int, x uint64) {
	if in.memory {
		store(m.address(in), bytes, x)
		return
	}
	m.setRegister(in, in.rm, bytes, x)
}

func cut(x uint64, bytes int) uint64 { return x << (64 - 8*bytes) >> (64 - 8*bytes) }

func signed(x uint64, bytes int) int64 { return int64(x<<(64-8*bytes)) >> (64 - 8*bytes) }

// result sets the flags that a result alone gives.
func (f *flags) result(x uint64, bytes int) {
	f.zf = cut(x, bytes) == 0
	f.sf = signed(x, bytes) < 0
	f.pf = bits.OnesCount8(uint8(x))%2 == 0
}

// The eight classic operations by number, and TEST.
const (
	opADD = iota
	opOR
	opADC
	opSBB
	opAND
	opSUB
	opXOR
	opCMP
	opTEST
)

// classic computes x op y with its flags; store says whether there is a result.
func (f *flags) classic(op int, x, y uint64, bytes int) (r uint64, store bool) {
	carry := uint64(0)
	if f.cf && (op == opADC || op == opSBB) {
		carry = 1
	}
	switch op {
	case opADD, opADC:
		r = cut(x+y+carry, bytes)
		f.cf = r < x || carry == 1 && r == x
		f.of = signed((x^r)&(y^r), bytes) < 0
	case opSUB, opSBB, opCMP:
		r = cut(x-y-carry, bytes)
		f.cf = x < y || carry == 1 && x == y
		f.of = signed((x^y)&(x^r), bytes) < 0
	default:
		switch op {
		case opOR:
			r = x | y
		case opXOR:
			r = x ^ y
		default:
			r = x & y
		}
		f.cf, f.of = false, false
	}
	f.result(r, bytes)
	return r, op != opCMP && op != opTEST
}

// holds tells whether condition c, by its number in the encoding, holds.
func (f *flags) holds(c uint8) bool {
	var t bool
	switch c >> 1 {
	case 0:
		t = f.of
	case 1:
		t = f.cf
	case 2:
		t = f.zf
	case 3:
		t = f.cf || f.zf
	case 4:
		t = f.sf
	case 5:
		t = f.pf
	case 6:
		t = f.sf != f.of
	case 7:
		t = f.zf || f.sf != f.of
	}
	return t != (c&1 == 1)
}

func classicRM(op int) func(m *machine, in *instr) { // destination rm
	return func(m *machine, in *instr) {
		n := in.width()
		if r, store := m.classic(op, m.get(in, n), m.register(in, in.reg, n), n); store {
			m.set(in, n, r)
		}
	}
}

func classicReg(op int) func(m *machine, in *instr) { // destination reg
	return func(m *machine, in *instr) {
		n := in.width()
		if r, store := m.classic(op, m.register(in, in.reg, n), m.get(in, n), n); store {
			m.setRegister(in, in.reg, n, r)
		}
	}
}

func classicImm(op int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.width()
		if r, store := m.classic(op, m.get(in, n), cut(uint64(in.imm), n), n); store {
			m.set(in, n, r)
		}
	}
}

func classicRAX(op int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.width()
		if r, store := m.classic(op, cut(m.r[rax], n), cut(uint64(in.imm), n), n); store {
			m.setRegister(in, rax, n, r)
		}
	}
}

func mul(m *machine, in *instr, x, y uint64) {
	n := in.width()
	hi, lo := bits.Mul64(uint64(signed(x, n)), uint64(signed(y, n)))
	if signed(x, n) < 0 {
		hi -= uint64(signed(y, n))
	}
	if signed(y, n) < 0 {
		hi -= uint64(signed(x, n))
	}
	r := cut(lo, n)
	m.of = int64(hi) != int64(lo)>>63 || signed(r, n) != int64(lo)
	m.cf = m.of
	m.result(r, n)
	m.setRegister(in, in.reg, n, r)
}

// shiftBy shifts by an immediate: ROL 0, ROR 1, SHL 4, SHR 5, SAR 7.
func shiftBy(kind int, one bool) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.width()
		size := uint64(8 * n)
		c := uint64(1)
		if !one {
			c = uint64(in.imm) & (max(size, 32) - 1)
		}
		x := m.get(in, n)
		if c == 0 {
			return
		}
		var r uint64
		switch kind {
		case 0:
			c %= size
			r = cut(x<<c|x>>(size-c), n)
			m.cf = r&1 != 0
			m.set(in, n, r)
			return
		case 1:
			c %= size
			r = cut(x>>c|x<<(size-c), n)
			m.cf = r>>(size-1) != 0
			m.set(in, n, r)
			return
		case 4:
			r = cut(x<<c, n)
			m.cf = c <= size && x>>(size-c)&1 != 0
		case 5:
			r = x >> c
			m.cf = x>>(c-1)&1 != 0
		case 7:
			r = cut(uint64(signed(x, n)>>c), n)
			m.cf = signed(x, n)>>(c-1)&1 != 0
		}
		m.of = signed(x^r, n) < 0
		m.result(r, n)
		m.set(in, n, r)
	}
}

// shiftX is a shift of BMI2, which leaves the flags alone.
func shiftX(f func(x uint64, c uint64, bytes int) uint64) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.width()
		c := m.r[in.vvvv] & uint64(8*n-1)
		m.setRegister(in, in.reg, n, f(m.get(in, n), c, n))
	}
}

func bzhi(m *machine, in *instr) {
	n := in.width()
	c := m.r[in.vvvv] & 0xFF
	r := m.get(in, n)
	m.cf = c >= uint64(8*n)
	if !m.cf {
		r &= 1<<c - 1
	}
	m.of = false
	m.result(r, n)
	m.setRegister(in, in.reg, n, r)
}

func andn(m *machine, in *instr) {
	n := in.width()
	r := m.get(in, n) &^ m.register(in, in.vvvv, n)
	m.cf, m.of = false, false
	m.result(r, n)
	m.setRegister(in, in.reg, n, r)
}

func extend(from int, sign bool) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		x := m.get(in, from)
		if sign {
			x = uint64(signed(x, from))
		}
		m.setRegister(in, in.reg, in.width(), x)
	}
}

// divide is DIV and IDIV of RDX:RAX.
func divide(sign bool) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.width()
		y := m.get(in, n)
		if y == 0 {
			panic("x86sim: division by zero")
		}
		lo, hi := cut(m.r[rax], n), cut(m.r[rdx], n)
		var q, r uint64
		switch {
		case sign:
			if signed(hi, n) != signed(lo, n)>>63 {
				panic("x86sim: IDIV of more than one register")
			}
			q, r = uint64(signed(lo, n)/signed(y, n)), uint64(signed(lo, n)%signed(y, n))
		case hi >= y:
			panic("x86sim: the quotient overflows")
		case n == 8:
			q, r = bits.Div64(hi, lo, y)
		default:
			x := hi<<32 | lo
			q, r = x/y, x%y
		}
		m.setRegister(in, rax, n, q)
		m.setRegister(in, rdx, n, r)
	}
}

func multiply(m *machine, in *instr) {
	n := in.width()
	hi, lo := bits.Mul64(cut(m.r[rax], n), m.get(in, n))
	if n == 4 {
		hi, lo = lo>>32, cut(lo, 4)
	}
	m.setRegister(in, rax, n, lo)
	m.setRegister(in, rdx, n, hi)
	m.cf, m.of = hi != 0, hi != 0
}

func count(f func(x uint64, bytes int) int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.width()
		x := m.get(in, n)
		r := uint64(f(x, n))
		m.cf, m.zf = x == 0, r == 0
		m.setRegister(in, in.reg, n, r)
	}
}

func nothing(*machine, *instr) {}

func jumpIf(m *machine, in *instr) {
	if m.holds(in.op.opc & 15) {
		m.next = in.end + uintptr(in.imm)
	}
}
