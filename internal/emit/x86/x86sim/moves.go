package x86sim

import "unsafe"

// loads and stores of whole vectors, by elements of size bytes.
func loads(size int, aligned bool) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		if aligned {
			m.aligned(in)
		}
		n := in.len / size
		x := m.operand(in, n)
		m.write(in, in.reg, x, n, size)
	}
}

func stores(size int, aligned bool) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		if aligned {
			m.aligned(in)
		}
		m.put(in, &m.v[in.reg], in.len/size, size)
	}
}

// move has the rows of a load and a store.
func move(name, prefix string, load, store string, size int, aligned bool) []opcode {
	return []opcode{
		{name: name, text: prefix + " " + load, memory: full, elem: size, do: loads(size, aligned)},
		{name: name, text: prefix + " " + store, memory: full, elem: size, do: stores(size, aligned)},
	}
}

// moveScalar loads one element and clears the rest, stores one, or puts the low
// element of the third operand on top of the second.
func moveScalar(name, prefix string, size int) []opcode {
	load := func(m *machine, in *instr) {
		var x vec
		if m.has(in, 0) {
			x[0] = load(m.address(in), size)
		} else if !in.zero {
			x[0] = cut(m.v[in.reg][0], size)
		}
		m.v[in.reg] = x
	}
	stores := func(m *machine, in *instr) {
		if m.has(in, 0) {
			store(m.address(in), size, m.v[in.reg][0])
		}
	}
	merge := func(to, from func(in *instr) uint8) func(m *machine, in *instr) {
		return func(m *machine, in *instr) {
			x := m.v[in.vvvv]
			low := m.v[from(in)][0]
			if !m.has(in, 0) {
				low = m.v[to(in)][0]
				if in.zero {
					low = 0
				}
			}
			keep := ones(8 * size)
			x[0] = x[0]&^keep | low&keep
			clear(x[2:])
			m.v[to(in)] = x
		}
	}
	reg, rm := func(in *instr) uint8 { return in.reg }, func(in *instr) uint8 { return in.rm }
	return []opcode{
		{name: name, text: prefix + " 10 /m", memory: unit(size), elem: size, do: load},
		{name: name, text: prefix + " 11 /m", memory: unit(size), elem: size, do: stores},
		{name: name, text: prefix + " 10 /rr", do: merge(reg, rm)},
		{name: name, text: prefix + " 11 /rr", do: merge(rm, reg)},
	}
}

// part is the operand in ModRM.rm, of which size bytes count.
func (m *machine) part(in *instr, size int) (x vec) {
	if !in.memory {
		return m.v[in.rm]
	}
	copyBytes(x.u8()[:size], m.address(in))
	return x
}

// broadcast fills the destination with the first size bytes of the operand.
func broadcast(size, elem int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		x := m.part(in, size)
		m.fill(in, &x, size, elem)
	}
}

func (m *machine) fill(in *instr, x *vec, size, elem int) {
	o := &m.out
	for i := 0; i < in.len; i += size {
		copy(o.u8()[i:i+size], x.u8()[:size])
	}
	m.write(in, in.reg, o, in.len/elem, elem)
}

// broadcastGP is broadcast of a general register.
func broadcastGP(size int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		x := vec{m.r[in.rm]}
		m.fill(in, &x, size, size)
	}
}

// maskLoad and maskStore are the AVX2 moves of lanes whose sign is set.
func maskLoad[T lane](sign func(x T) bool) func(m *machine, in *instr) {
	size := sizeof[T]()
	return func(m *machine, in *instr) {
		n := in.len / size
		at := m.address(in)
		which := lanes[T](&m.v[in.vvvv], n)
		m.out = vec{}
		for i := range n {
			if sign(which[i]) {
				copyBytes(m.out.u8()[i*size:(i+1)*size], at+uintptr(i*size))
			}
		}
		m.write(in, in.reg, &m.out, n, size)
	}
}

func maskStore[T lane](sign func(x T) bool) func(m *machine, in *instr) {
	size := sizeof[T]()
	return func(m *machine, in *instr) {
		n := in.len / size
		at := m.address(in)
		which := lanes[T](&m.v[in.vvvv], n)
		for i := range n {
			if sign(which[i]) {
				copy(unsafe.Slice((*byte)(pointer(at+uintptr(i*size))), size), m.v[in.reg].u8()[i*size:(i+1)*size])
			}
		}
	}
}

func negative32(x int32) bool { return x < 0 }
func negative64(x int64) bool { return x < 0 }

// laneAddress is where a lane of a gather or scatter lies.
func laneAddress[I int32 | int64](m *machine, in *instr, lane int) uintptr {
	index := lanes[I](&m.v[in.vindex], lane+1)[lane]
	return uintptr(m.r[in.base] + uint64(int64(index))<<in.scale + uint64(in.disp))
}

// gather loads lanes of type D at indices of type I; what says which, a mask or
// the signs of a vector, is 0 afterwards.
func gather[D, I int32 | int64]() func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / max(sizeof[D](), sizeof[I]())
		d := lanes[D](&m.v[in.reg], n)
		size := sizeof[D]()
		for i := range n {
			if in.evex && m.k[in.mask]>>i&1 == 0 || !in.evex && lanes[D](&m.v[in.vvvv], n)[i] >= 0 {
				continue
			}
			d[i] = D(load(laneAddress[I](m, in, i), size))
		}
		clear(m.v[in.reg].u8()[n*size:])
		if in.evex {
			m.k[in.mask] = 0
		} else {
			m.v[in.vvvv] = vec{}
		}
	}
}

// scatter stores lanes, the first one first.
func scatter[D, I int32 | int64]() func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		n := in.len / max(sizeof[D](), sizeof[I]())
		for i := range n {
			if m.k[in.mask]>>i&1 != 0 {
				store(laneAddress[I](m, in, i), sizeof[D](), uint64(lanes[D](&m.v[in.reg], n)[i]))
			}
		}
		m.k[in.mask] = 0
	}
}

// insert puts size bytes of the third operand at a multiple of them in the second.
func insert(size, elem int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		x := m.part(in, size)
		m.out = m.v[in.vvvv]
		at := (int(in.imm) & (in.len/size - 1)) * size
		copy(m.out.u8()[at:at+size], x.u8()[:size])
		m.write(in, in.reg, &m.out, in.len/elem, elem)
	}
}

// extract takes size bytes out.
func extract(size, elem int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		at := (int(in.imm) & (in.len/size - 1)) * size
		m.out = vec{}
		copy(m.out.u8()[:size], m.v[in.reg].u8()[at:at+size])
		m.put(in, &m.out, size/elem, elem)
	}
}

// extractGP and insertGP are of one element and a general register or memory.
func extractGP(size int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		at := (int(in.imm) & (16/size - 1)) * size
		var x vec
		copy(x.u8()[:size], m.v[in.reg].u8()[at:at+size])
		if in.memory {
			store(m.address(in), size, x[0])
			return
		}
		m.r[in.rm] = x[0]
	}
}

func insertGP(size int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		x := m.r[in.rm&15]
		if in.memory {
			x = load(m.address(in), size)
		}
		v := vec{x}
		m.out = m.v[in.vvvv]
		at := (int(in.imm) & (16/size - 1)) * size
		copy(m.out.u8()[at:at+size], v.u8()[:size])
		m.write(in, in.reg, &m.out, 16/size, size)
	}
}

// signs is a mask of the signs of lanes in a general register.
func signs(size int) func(m *machine, in *instr) {
	return func(m *machine, in *instr) {
		x, r := &m.v[in.rm], uint64(0)
		for i := range in.len / size {
			r |= uint64(x.u8()[i*size+size-1]>>7) << i
		}
		m.r[in.reg] = r
	}
}

// insertPS puts a lane of the third operand, the only one of memory, into the second, and
// clears those that the immediate names.
func insertPS(m *machine, in *instr) {
	from := 0
	if !in.memory {
		from = int(in.imm) >> 6 & 3
	}
	source := m.part(in, 4)
	x := vec{m.v[in.vvvv][0], m.v[in.vvvv][1]}
	x.u32()[in.imm>>4&3] = source.u32()[from]
	for i := range 4 {
		if in.imm>>i&1 != 0 {
			x.u32()[i] = 0
		}
	}
	m.v[in.reg] = x
}
