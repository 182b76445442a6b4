package ptxsim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// access is a load or a store: count elements side by side.
type access struct {
	s      *step
	in     space
	base   int // row of the address
	offset uint64
	size   int   // of an element
	rows   []int // one for each element
	signed bool  // loads extend the sign
	width  int   // of the registers
	memory int   // which of block.seen
}

// space is a state space.
type space uint8

const (
	inShared space = iota
	inGlobal
	inLocal
)

// loadParam decodes the load of an argument.
func (d *decoder) loadParam(x *instruction) (run, error) {
	if err := x.want(2); err != nil {
		return nil, err
	}
	name := strings.Trim(x.args[1], "[]")
	for _, p := range d.f.Params {
		if p.Name != name {
			continue
		}
		if sizeOf(x.kind()) != p.Size {
			return nil, fmt.Errorf("param %s has %d bytes", name, p.Size)
		}
		return d.pure1(x.args[0], x.kind(), func(w *warp, d *row) {
			var b [8]byte
			copy(b[:], w.b.l.Args[p.Offset:][:p.Size])
			v := binary.LittleEndian.Uint64(b[:])
			for i := range d {
				d[i] = v
			}
		})
	}
	return nil, fmt.Errorf("there is no param %s", name)
}

// address takes "[%rd1+8]" apart.
func (d *decoder) address(arg, kind string) (base int, offset uint64, err error) {
	if !strings.HasPrefix(arg, "[") || !strings.HasSuffix(arg, "]") {
		return 0, 0, fmt.Errorf("%s is no address", arg)
	}
	name, plus, some := strings.Cut(arg[1:len(arg)-1], "+")
	if some {
		n, err := strconv.ParseInt(strings.TrimSpace(plus), 0, 32)
		if err != nil {
			return 0, 0, fmt.Errorf("%s is no address: %w", arg, err)
		}
		offset = uint64(n)
	}
	base, err = d.value(strings.TrimSpace(name), kind)
	return base, offset, err
}

// spaces is the state spaces, with the type of addresses in them.
var spaces = map[string]struct {
	in   space
	kind string
}{"global": {inGlobal, "u64"}, "shared": {inShared, "u32"}, "local": {inLocal, "u64"}}

// newAccess decodes what loads and stores share. at is the operand with the
// address, and values that with the registers.
func (d *decoder) newAccess(x *instruction, s *step, at, values string, load bool) (*access, error) {
	a := &access{s: s}
	if len(x.mods) < 2 {
		return nil, errors.New("a state space and a type are missing")
	}
	kind := x.kind()
	from, known := spaces[x.mods[0]]
	a.in = from.in
	a.size, a.signed = sizeOf(kind), kind[0] == 's'
	count := 1
	for _, m := range x.mods[1 : len(x.mods)-1] {
		switch {
		case m == "v2":
			count = 2
		case m == "v4":
			count = 4
		case m == "nc" && load && a.in == inGlobal:
		default:
			return nil, fmt.Errorf("no way to run %s.%s", x.name, strings.Join(x.mods, "."))
		}
	}
	if !known || a.size == 0 || a.size*count > 16 {
		return nil, fmt.Errorf("no way to run %s.%s", x.name, strings.Join(x.mods, "."))
	}
	names := vector(values)
	if len(names) != count {
		return nil, fmt.Errorf("%d registers for %d elements", len(names), count)
	}
	for _, name := range names {
		row, err := d.element(name, kind, load, a)
		if err != nil {
			return nil, err
		}
		a.rows = append(a.rows, row)
	}
	var err error
	if a.base, a.offset, err = d.address(at, from.kind); err != nil {
		return nil, err
	}
	switch a.in {
	case inShared:
		d.f.unit = min(d.f.unit, a.size)
	case inGlobal:
		a.memory = d.f.loads
		d.f.loads++
	}
	return a, nil
}

// element finds a register for an element, which may be wider than that.
func (d *decoder) element(name, kind string, load bool, a *access) (int, error) {
	r, ok := d.regs[name]
	if !ok && !load {
		return d.value(name, kind)
	}
	if !ok || r.kind == "pred" || sizeOf(r.kind) < a.size || a.size >= 4 && !fits(r.kind, kind) {
		return 0, fmt.Errorf("%s is no register for type %s", name, kind)
	}
	a.width = sizeOf(r.kind)
	return r.row, nil
}

// find is the bytes of global memory at an address, a power of two of them; nil after
// a failure.
func (a *access) find(w *warp, lane int, address uint64, n int, write bool) []byte {
	r := &w.b.seen[a.memory]
	at := address - r.base
	if at >= uint64(len(r.data)) {
		*r = w.b.l.Memory.find(address)
		at = address - r.base
		if w.b.l.Uses != nil {
			w.b.l.Uses(r.base, write)
		}
	}
	switch {
	case at > uint64(len(r.data)) || uint64(n) > uint64(len(r.data))-at:
		if near := w.b.l.Memory.find(address); len(near.data) > 0 {
			w.fail(a.s, lane, "%d bytes at %#x: that is byte %d of the %d bytes at %#x", n, address, at, len(near.data), near.base)
		} else {
			w.fail(a.s, lane, "%d bytes at %#x: there is no memory", n, address)
		}
		return nil
	case address&uint64(n-1) != 0:
		w.fail(a.s, lane, "%d bytes at %#x, which is no multiple of that", n, address)
		return nil
	}
	return r.data[at:][:n]
}

// own is the bytes of a thread's memory at an address; nil after a failure.
func (a *access) own(w *warp, lane int, address uint64, n int) []byte {
	at, size := address-localBase, uint64(w.b.f.local)
	if at > size || uint64(n) > size-at || address%uint64(n) != 0 {
		w.fail(a.s, lane, "%d bytes at %d of the %d bytes of its own memory", n, int64(at), size)
		return nil
	}
	return w.b.local[uint64(w.number*lanes+lane)*size+at:][:n]
}

// bytes finds the memory of an access of any kind.
func (a *access) bytes(w *warp, lane int, write bool) []byte {
	n := a.size * len(a.rows)
	address := w.rows[a.base][lane] + a.offset
	switch a.in {
	case inGlobal:
		return a.find(w, lane, address, n, write)
	case inLocal:
		return a.own(w, lane, address, n)
	}
	s := &w.b.shared
	at, err := s.at(uint64(uint32(address)), n)
	if err == nil {
		thread := int32(w.number*lanes + lane)
		if write {
			err = s.write(at, n, w, thread)
		} else {
			err = s.read(at, n, w, thread)
		}
	}
	if err != nil {
		w.fail(a.s, lane, "%v", err)
		return nil
	}
	return s.data[at:][:n]
}

func get(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func put(b []byte, size int, v uint64) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, v)
	}
}

// load decodes ld of global and shared memory.
func (d *decoder) load(x *instruction) (run, error) {
	if err := x.want(2); err != nil {
		return nil, err
	}
	a, err := d.newAccess(x, &step{source: x}, x.args[1], x.args[0], true)
	if err != nil {
		return nil, err
	}
	k := mask(a.width)
	if a.size == 4 && len(a.rows) == 1 && !a.signed { // as most are
		return func(w *warp, m uint32) {
			for to := &w.rows[a.rows[0]]; m != 0; m &= m - 1 {
				lane := bits.TrailingZeros32(m) & (lanes - 1)
				b := a.bytes(w, lane, false)
				if b == nil {
					return
				}
				to[lane] = uint64(binary.LittleEndian.Uint32(b))
			}
		}, nil
	}
	return func(w *warp, m uint32) {
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & (lanes - 1)
			b := a.bytes(w, lane, false)
			if b == nil {
				return
			}
			for i, at := range a.rows {
				v := get(b[i*a.size:], a.size)
				if a.signed {
					v = uint64(signed(v, a.size)) & k
				}
				w.rows[at][lane] = v
			}
		}
	}, nil
}

// store decodes st.
func (d *decoder) store(x *instruction) (run, error) {
	if err := x.want(2); err != nil {
		return nil, err
	}
	a, err := d.newAccess(x, &step{source: x}, x.args[0], x.args[1], false)
	if err != nil {
		return nil, err
	}
	return func(w *warp, m uint32) {
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & (lanes - 1)
			b := a.bytes(w, lane, true)
			if b == nil {
				return
			}
			for i, at := range a.rows {
				put(b[i*a.size:], a.size, w.rows[at][lane])
			}
		}
	}, nil
}
