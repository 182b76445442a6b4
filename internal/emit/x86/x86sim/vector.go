package x86sim

import (
	"fmt"
	"unsafe"
)

// lane is what a vector is made of.
type lane interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// lanes views n lanes of a vector.
func lanes[T lane](v *vec, n int) []T { return unsafe.Slice((*T)(unsafe.Pointer(v)), n) }

func sizeof[T lane]() int { var x T; return int(unsafe.Sizeof(x)) }

// all tells that no mask leaves a lane out.
func (in *instr) all() bool { return in.mask == 0 }

// has tells whether the mask has a lane.
func (m *machine) has(in *instr, lane int) bool { return in.mask == 0 || m.k[in.mask]>>lane&1 != 0 }

// operand is the vector in ModRM.rm. Of memory a mask reads its lanes alone, of
// which there are n, and one element is read where it is broadcast.
func (m *machine) operand(in *instr, n int) *vec {
	if !in.memory {
		return &m.v[in.rm]
	}
	at := m.address(in)
	m.tmp = vec{}
	to := unsafe.Pointer(&m.tmp)
	total := in.op.memory.bytes(in.len)
	switch {
	case in.bcast:
		x := load(at, in.op.elem)
		for i := range in.len / in.op.elem {
			store(uintptr(to)+uintptr(i*in.op.elem), in.op.elem, x)
		}
	case in.all():
		copyBytes(m.tmp.u8()[:total], at)
	default:
		size := total / n
		for i := range n {
			if m.has(in, i) {
				copyBytes(m.tmp.u8()[i*size:(i+1)*size], at+uintptr(i*size))
			}
		}
	}
	return &m.tmp
}

// whole is operand for instructions that read all of their memory whatever the mask.
func (m *machine) whole(in *instr) *vec {
	if in.memory && !in.bcast {
		unmasked := *in
		unmasked.mask = 0
		return m.operand(&unmasked, 1)
	}
	return m.operand(in, 1)
}

// write puts the first n lanes of size bytes of x, those that the mask has, into
// a register, whose rest becomes 0.
func (m *machine) write(in *instr, reg uint8, x *vec, n, size int) {
	d := &m.v[reg]
	if in.all() {
		*d = *x
	} else {
		for i := range n {
			to, from := d.u8()[i*size:(i+1)*size], x.u8()[i*size:(i+1)*size]
			switch {
			case m.k[in.mask]>>i&1 != 0:
				copy(to, from)
			case in.zero:
				clear(to)
			}
		}
	}
	clear(d.u8()[n*size:])
}

// map1 computes each lane from that of the operand.
func map1[T lane](f func(x T) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / sizeof[T]()
		x, o := lanes[T](m.operand(in, n), n), lanes[T](&m.out, n)
		for i := range o {
			o[i] = f(x[i])
		}
		m.write(in, in.reg, &m.out, n, sizeof[T]())
	}
}

// map2 computes each lane from those of both operands.
func map2[T lane](f func(x, y T) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / sizeof[T]()
		x, y, o := lanes[T](&m.v[in.vvvv], n), lanes[T](m.operand(in, n), n), lanes[T](&m.out, n)
		for i := range o {
			o[i] = f(x[i], y[i])
		}
		m.write(in, in.reg, &m.out, n, sizeof[T]())
	}
}

// map3 is map2 that reads the destination too.
func map3[T lane](f func(d, x, y T) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / sizeof[T]()
		x, y, o := lanes[T](&m.v[in.vvvv], n), lanes[T](m.operand(in, n), n), lanes[T](&m.out, n)
		d := lanes[T](&m.v[in.reg], n)
		for i := range o {
			o[i] = f(d[i], x[i], y[i])
		}
		m.write(in, in.reg, &m.out, n, sizeof[T]())
	}
}

// map1i and map2i are map1 and map2 with the immediate.
func map1i[T lane](f func(x T, imm int) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		map1(func(x T) T { return f(x, int(uint8(in.imm))) })(m, in)
	}
}

func map2i[T lane](f func(x, y T, imm int) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		map2(func(x, y T) T { return f(x, y, int(uint8(in.imm))) })(m, in)
	}
}

// scalar2 computes the lowest lane; the others of the 128 bits are of the first operand.
func scalar2[T lane](f func(x, y T) T) func(m *machine, in *instr) {
	return scalar3(func(_, x, y T) T { return f(x, y) })
}

// scalar3 is scalar2 that reads the destination, which has the others of the 128
// bits where there is one.
func scalar3[T lane](f func(d, x, y T) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) { scalarLane(m, in, m.v[in.vvvv], f) }
}

// fused is scalar3 for multiply-adds, which keep the destination's other lanes.
func fused[T lane](f func(d, x, y T) T) func(m *machine, in *instr) {
	return func(m *machine, in *instr) { scalarLane(m, in, m.v[in.reg], f) }
}

func scalarLane[T lane](m *machine, in *instr, out vec, f func(d, x, y T) T) {
	d := lanes[T](&m.v[in.reg], 1)[0]
	x, y, o := lanes[T](&m.v[in.vvvv], 1), lanes[T](m.operand(in, 1), 1), lanes[T](&out, 1)
	switch {
	case m.has(in, 0):
		o[0] = f(d, x[0], y[0])
	case in.zero:
		o[0] = 0
	default:
		o[0] = d
	}
	clear(out[2:])
	m.v[in.reg] = out
}

// convert computes lanes of one type from those of another; the wider has the
// vector's length.
func convert[D, S lane](f func(x S) D) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / max(sizeof[D](), sizeof[S]())
		x, o := lanes[S](m.operand(in, n), n), lanes[D](&m.out, n)
		for i := range o {
			o[i] = f(x[i])
		}
		m.write(in, in.reg, &m.out, n, sizeof[D]())
	}
}

// narrow is convert to ModRM.rm, a register or memory.
func narrow[D, S lane](f func(x S) D) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / max(sizeof[D](), sizeof[S]())
		x, o := lanes[S](&m.v[in.reg], n), lanes[D](&m.out, n)
		for i := range o {
			o[i] = f(x[i])
		}
		m.put(in, &m.out, n, sizeof[D]())
	}
}

// put writes n lanes of size bytes to ModRM.rm.
func (m *machine) put(in *instr, x *vec, n, size int) {
	if !in.memory {
		m.write(in, in.rm, x, n, size)
		return
	}
	at := m.address(in)
	for i := range n {
		if m.has(in, i) {
			copy(unsafe.Slice((*byte)(pointer(at+uintptr(i*size))), size), x.u8()[i*size:(i+1)*size])
		}
	}
}

// compare sets a bit of a mask for each lane where f holds and the mask has it.
func compare[T lane](f func(x, y T, imm int) bool) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / sizeof[T]()
		x, y := lanes[T](&m.v[in.vvvv], n), lanes[T](m.operand(in, n), n)
		var r uint64
		for i := range n {
			if m.has(in, i) && f(x[i], y[i], int(uint8(in.imm))) {
				r |= 1 << i
			}
		}
		m.k[in.reg] = r
	}
}

// compareVector is compare of VEX: lanes of all ones or none.
func compareVector[T lane](f func(x, y T, imm int) bool) func(m *machine, in *instr) {
	size := sizeof[T]()
	return func(m *machine, in *instr) {
		n := in.len / size
		x, y := lanes[T](&m.v[in.vvvv], n), lanes[T](m.operand(in, n), n)
		m.out = vec{}
		for i := range n {
			if f(x[i], y[i], int(uint8(in.imm))) {
				for j := range size {
					m.out.u8()[i*size+j] = 0xFF
				}
			}
		}
		m.write(in, in.reg, &m.out, n, size)
	}
}

// aligned panics where a processor faults.
func (m *machine) aligned(in *instr) {
	if at := m.address(in); in.memory && at%uintptr(in.len) != 0 {
		panic(fmt.Errorf("x86sim: %s at %#x, which is no multiple of %d", in.op.name, at, in.len))
	}
}

// copyBytes reads memory of the code.
func copyBytes(to []byte, at uintptr) { copy(to, unsafe.Slice((*byte)(pointer(at)), len(to))) }
