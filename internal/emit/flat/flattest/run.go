package flattest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
)

// Launch is one launch of an entry point.
type Launch struct {
	Groups, Items int
	Buffers       [][]byte // which the launch changes
	Args          []Arg
	Read          int // bytes that work-items have read from buffers, which Run counts
}

// Arg is one argument: where Buffer begins if it is not negative, else N; or a Map
// of a matrix in Buffer.
type Arg struct {
	Buffer int
	N      int64
	Map    *entry.Mapped
}

// Run runs p one group after the other, the work-items of a group step by step.
// Besides what no machine defines it refuses accesses that depend on the order
// of work-items: such a kernel lacks a barrier.
func (p *Program) Run(l *Launch) error {
	far := &memories{}
	for _, b := range l.Buffers {
		far.cells = append(far.cells, make([]cell, len(b)))
	}
	r := &run{Program: p, l: l, far: far, values: make([][]uint64, p.values), vars: make([][]variable, p.vars),
		near: make([]array, len(p.memories)), bases: make([][]uint64, len(p.memories))}
	active := make([]bool, l.Items)
	for i := range active {
		active[i] = true
	}
	for g := range l.Groups {
		r.begin(g)
		if err := r.run(p.body, active); err != nil {
			return fmt.Errorf("group %d: %w", g, err)
		}
	}
	return nil
}

// baseOf is the address of a buffer: none reaches the next.
func baseOf(buffer int) uint64 { return uint64(buffer+1) << 40 }

// memories remembers who last used each byte of the buffers.
type memories struct{ cells [][]cell }

// cell is the last accesses of one byte or element.
type cell struct {
	writer, reader access
	several        bool // readers, since the reader's epoch began
	constant       bool // it was read as memory that nobody writes to
}

// access is by work-item-1 of all groups, 0 for none, when so many barriers of its
// group had been passed.
type access struct{ who, epoch int }

type variable struct {
	set  bool
	bits uint64
}

// array is a shared or private memory.
type array struct {
	data    []uint64
	defined []bool
	cells   []cell
}

// run is one group after the other, in the same memory.
type run struct {
	*Program
	l         *Launch
	group     int
	far       *memories
	values    [][]uint64 // of each work-item
	vars      [][]variable
	near      []array
	bases     [][]uint64 // addresses of buffers
	nearEpoch int
	farEpoch  int
	spare     [][]bool // of branches and loops that have ended
}

func (r *run) begin(group int) {
	r.group, r.nearEpoch, r.farEpoch = group, 0, 0
	for i := range r.vars {
		if r.vars[i] == nil {
			r.vars[i] = make([]variable, r.l.Items)
		}
		clear(r.vars[i])
	}
	for i, m := range r.memories {
		n := m.n
		if m.space == inPrivate {
			n *= r.l.Items
		}
		if a := &r.near[i]; a.data == nil {
			*a = array{make([]uint64, n), make([]bool, n), make([]cell, n)}
		} else {
			clear(a.defined)
			clear(a.cells)
		}
	}
}

// inside copies who takes part, for a branch or a loop, which gives it back.
func (r *run) inside(active []bool) []bool {
	var s []bool
	if n := len(r.spare); n > 0 {
		s, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		s = make([]bool, len(active))
	}
	copy(s, active)
	return s
}

func (r *run) ended(inside []bool) { r.spare = append(r.spare, inside) }

// room is where the values of a step go.
func (r *run) room(v flat.Value) []uint64 {
	if r.values[v.ID] == nil {
		r.values[v.ID] = make([]uint64, r.l.Items)
	}
	return r.values[v.ID]
}

func (r *run) run(body []step, active []bool) error {
	for i := range body {
		s := &body[i]
		var err error
		switch s.kind {
		case stepIf:
			err = r.branch(s, active)
		case stepFor:
			err = r.loop(s, active)
		case stepBarrier:
			err = r.barrier(s, active)
		default:
			err = r.each(s, active)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// each runs a step for every active work-item.
func (r *run) each(s *step, active []bool) error {
	var to []uint64
	if s.to.ID != 0 {
		to = r.room(s.to)
	}
	switch s.kind {
	case stepOp:
		return r.operation(s, active)
	case stepConst:
		for i := range to {
			to[i] = s.bits
		}
		return nil
	}
	for item, on := range active {
		if !on {
			continue
		}
		v, err := r.one(s, item)
		if err != nil {
			return r.failed(s, item, err)
		}
		if to != nil {
			to[item] = v
		}
	}
	return nil
}

func (r *run) failed(s *step, item int, err error) error {
	return fmt.Errorf("work-item %d: %s: %w", item, (&listing{p: r.Program}).text(s), err)
}

// operation is each of a step that computes, as most do.
func (r *run) operation(s *step, active []bool) error {
	var in [3][]uint64
	for i, x := range s.args {
		in[i] = r.values[x.ID]
	}
	to, from := r.values[s.to.ID], s.args[len(s.args)-1].Type
	if s.often != nil {
		s.often(to, in[0], in[1], in[2])
		return nil
	}
	var a [3]uint64
	args := a[:len(s.args)]
	for item, on := range active {
		if !on {
			continue
		}
		for i := range args {
			args[i] = in[i][item]
		}
		v, err := Eval(s.op, from, s.to.Type, args)
		if err != nil {
			return r.failed(s, item, err)
		}
		to[item] = v
	}
	return nil
}

func (r *run) value(v flat.Value, item int) uint64 { return r.values[v.ID][item] }

func (r *run) one(s *step, item int) (uint64, error) {
	switch s.kind {
	case stepArg:
		if int(s.bits) >= len(r.l.Args) {
			return 0, errors.New("there is no such argument")
		}
		a := r.l.Args[s.bits]
		if a.Buffer >= 0 {
			return baseOf(a.Buffer), nil
		}
		return uint64(a.N), nil
	case stepItem:
		return uint64(item), nil
	case stepGroup:
		return uint64(r.group), nil
	case stepItems:
		return uint64(r.l.Items), nil
	case stepGet:
		v := r.vars[s.v.ID][item]
		if !v.set {
			return 0, errors.New("the variable has no value")
		}
		return v.bits, nil
	case stepSet:
		r.vars[s.v.ID][item] = variable{true, r.value(s.args[0], item)}
	case stepBuffer:
		if r.bases[s.memory] == nil {
			r.bases[s.memory] = make([]uint64, r.l.Items)
		}
		r.bases[s.memory][item] = r.value(s.args[0], item)
	case stepLoad:
		if s.args[1].Type != 0 && r.value(s.args[1], item) == 0 {
			return 0, nil
		}
		return r.load(s, item)
	case stepStore:
		if s.args[2].Type != 0 && r.value(s.args[2], item) == 0 {
			return 0, nil
		}
		return 0, r.store(s, item)
	}
	return 0, nil
}

func (r *run) branch(s *step, active []bool) error {
	inside := r.inside(active)
	defer r.ended(inside)
	some := false
	for i, on := range active {
		inside[i] = on && r.value(s.args[0], i) != 0
		some = some || inside[i]
	}
	if !some {
		return nil
	}
	return r.run(s.body, inside)
}

func (r *run) loop(s *step, active []bool) error {
	values := r.room(s.to)
	for i, on := range active {
		if on {
			values[i] = r.value(s.args[0], i)
		}
	}
	inside := r.inside(active)
	defer r.ended(inside)
	for {
		some := false
		for i, on := range inside {
			inside[i] = on && signed(s.to.Type, values[i]) < signed(s.to.Type, r.value(s.args[1], i))
			some = some || inside[i]
		}
		if !some {
			return nil
		}
		if err := r.run(s.body, inside); err != nil {
			return err
		}
		for i := range values {
			values[i] = (values[i] + s.bits) & mask(s.to.Type)
		}
	}
}

func (r *run) barrier(s *step, active []bool) error {
	for i, on := range active {
		if !on {
			return fmt.Errorf("work-item %d does not come to a barrier", i)
		}
	}
	r.nearEpoch++
	if s.flag {
		r.farEpoch++
	}
	return nil
}

// place finds the memory of an access: of a buffer its bytes, else the element.
func (r *run) place(s *step, item int) (b []byte, buffer int, at int64, err error) {
	m := r.memories[s.memory]
	index := signed(s.args[0].Type, r.value(s.args[0], item))
	if m.space != inBuffer {
		if index < 0 || index >= int64(m.n) {
			return nil, 0, 0, fmt.Errorf("index %d of %d", index, m.n)
		}
		if m.space == inPrivate {
			index += int64(item * m.n)
		}
		return nil, 0, index, nil
	}
	size := int64(m.dtype.Size())
	address := r.bases[s.memory][item] + uint64(index*size)
	buffer = int(address>>40) - 1
	at = int64(address & (1<<40 - 1))
	if buffer < 0 || buffer >= len(r.l.Buffers) || at+size > int64(len(r.l.Buffers[buffer])) {
		return nil, 0, 0, fmt.Errorf("index %d is outside of every buffer", index)
	}
	if at%size != 0 {
		return nil, 0, 0, fmt.Errorf("address %#x is not aligned", address)
	}
	return r.l.Buffers[buffer][at:][:size], buffer, at, nil
}

func (r *run) load(s *step, item int) (uint64, error) {
	m := r.memories[s.memory]
	b, buffer, at, err := r.place(s, item)
	if err != nil {
		return 0, err
	}
	if b == nil {
		a := &r.near[s.memory]
		if !a.defined[at] {
			return 0, errors.New("nothing was stored there")
		}
		return a.data[at], r.read(&a.cells[at], item, r.nearEpoch, true)
	}
	r.l.Read += m.dtype.Size()
	if c := &r.far.cells[buffer][at]; m.access == flat.ReadOnly {
		if c.writer.who != 0 {
			return 0, errors.New("memory that nobody writes to was written")
		}
		c.constant = true
	}
	if err := r.read(&r.far.cells[buffer][at], item, r.farEpoch, m.access == flat.Exchanged); err != nil {
		return 0, err
	}
	return Extend(m.dtype, littleEndian(b)), nil
}

func (r *run) store(s *step, item int) error {
	m := r.memories[s.memory]
	b, buffer, at, err := r.place(s, item)
	if err != nil {
		return err
	}
	x := r.value(s.args[1], item)
	if b == nil {
		a := &r.near[s.memory]
		x = Extend(m.dtype, x)
		err := r.write(&a.cells[at], item, r.nearEpoch, a.defined[at] && a.data[at] == x)
		a.data[at], a.defined[at] = x, true
		return err
	}
	if m.access == flat.ReadOnly {
		return errors.New("the memory is read only")
	}
	if r.far.cells[buffer][at].constant {
		return errors.New("memory that nobody writes to is written")
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], x)
	err = r.write(&r.far.cells[buffer][at], item, r.farEpoch, string(b) == string(word[:len(b)]))
	copy(b, word[:])
	return err
}

// read notes a read. A work-item may read what it wrote itself, what was there
// before, and after a barrier what its group wrote, if that is asked for.
func (r *run) read(c *cell, item, epoch int, exchanged bool) error {
	who := r.group*r.l.Items + item + 1
	if w := c.writer; w.who != 0 && w.who != who {
		if (w.who-1)/r.l.Items != r.group || w.epoch == epoch {
			return fmt.Errorf("work-item %d writes it at the same time", (w.who-1)%r.l.Items)
		}
		if !exchanged {
			return fmt.Errorf("work-item %d has written it", (w.who-1)%r.l.Items)
		}
	}
	if c.reader.epoch != epoch || (c.reader.who-1)/r.l.Items != r.group {
		c.several = false
	} else if c.reader.who != 0 && c.reader.who != who {
		c.several = true
	}
	c.reader = access{who, epoch}
	return nil
}

// write notes a write. Several may write the same.
func (r *run) write(c *cell, item, epoch int, same bool) error {
	who := r.group*r.l.Items + item + 1
	clash := func(a access) bool {
		return a.who != 0 && a.who != who && ((a.who-1)/r.l.Items != r.group || a.epoch == epoch)
	}
	if clash(c.writer) && !same {
		return errors.New("several work-items write it at the same time")
	}
	if clash(c.reader) || c.several && c.reader.epoch == epoch {
		return errors.New("another work-item reads it at the same time")
	}
	c.writer = access{who, epoch}
	return nil
}

func littleEndian(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}
