package ptx

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
)

// builder is the flat.Builder of one entry point.
type builder struct {
	text
	target Target
	kernel *entry.Kernel
	err    error
	args   []flat.Value
	values []operand // by flat.Value.ID
	vars   []string  // registers, by flat.Var.ID
	memory []memory  // by flat.Memory.ID
	rolled bool      // the assembler is not to lay loops out
	item   flat.Value
	group  flat.Value
	items  flat.Value
	// attended is the shared memory of an attention on units for matrices.
	attended string
}

// operand is a value as an instruction names it: a register or a constant.
type operand struct {
	name  string
	bits  uint64
	known bool // bits is the value
	// A value of 64 bits that is another and a constant: addresses have room for that.
	other string
	more  int64
}

// memory is where an array begins: a register with an address in the state
// space.
type memory struct {
	space string // global, shared or local
	base  string
	dtype ir.DType
	load  string // global.nc where nothing is written
}

func newBuilder(t Target, k *entry.Kernel, args []entry.Arg) *builder {
	b := &builder{target: t, kernel: k, values: make([]operand, 1), args: make([]flat.Value, len(args))}
	for i, a := range args {
		if a.Kind == entry.ArgMap {
			continue // instructions are given its address
		}
		b.args[i] = b.value(flat.I64, b.op(longs, "ld.param.u64", fmt.Sprintf("[arg_%d]", i)))
	}
	return b
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// fileOf is where values of a type are.
func fileOf(t flat.Type) file {
	return [...]file{flat.Bool: predicates, flat.I32: words, flat.I64: longs, flat.F32: singles, flat.F64: doubles}[t]
}

// value is a register as a value.
func (b *builder) value(t flat.Type, register string) flat.Value {
	b.values = append(b.values, operand{name: register})
	return flat.Value{ID: uint32(len(b.values) - 1), Type: t}
}

// name is a value as an operand.
func (b *builder) name(v flat.Value) string { return b.values[v.ID].name }

// Arg is an argument.
func (b *builder) Arg(i int) flat.Value { return b.args[i] }

// Item is the thread in its block.
func (b *builder) Item() flat.Value {
	if b.item.Type == 0 {
		b.item = b.value(flat.I32, b.op(words, "mov.u32", "%tid.x"))
	}
	return b.item
}

// Group is the block.
func (b *builder) Group() flat.Value {
	if b.group.Type == 0 {
		b.group = b.value(flat.I64, b.op(longs, "cvt.u64.u32", b.op(words, "mov.u32", "%ctaid.x")))
	}
	return b.group
}

// Items is how many threads a block has.
func (b *builder) Items() flat.Value {
	if b.items.Type == 0 {
		b.items = b.value(flat.I32, b.op(words, "mov.u32", "%ntid.x"))
	}
	return b.items
}

// Const is a constant, which needs no register; but a predicate does.
func (b *builder) Const(t flat.Type, v uint64) flat.Value {
	var name string
	switch t {
	case flat.Bool:
		v &= 1
		name = b.op(predicates, "setp.eq.u32", strconv.FormatUint(v, 10), "1")
	case flat.I32:
		v &= math.MaxUint32
		name = strconv.Itoa(int(int32(v)))
	case flat.I64:
		name = strconv.FormatInt(int64(v), 10)
		if int64(v) == math.MinInt64 { // whose digits alone are none
			name = "0x8000000000000000"
		}
	case flat.F32:
		v &= math.MaxUint32
		name = fmt.Sprintf("0f%08X", v)
	case flat.F64:
		name = fmt.Sprintf("0d%016X", v)
	}
	b.values = append(b.values, operand{name: name, bits: v, known: true})
	return flat.Value{ID: uint32(len(b.values) - 1), Type: t}
}

// Var is a register that instructions may set again.
func (b *builder) Var(t flat.Type) flat.Var {
	b.vars = append(b.vars, b.reg(fileOf(t)))
	return flat.Var{ID: uint32(len(b.vars) - 1), Type: t}
}

// Get is a copy: the variable may change before the value is used.
func (b *builder) Get(v flat.Var) flat.Value {
	return b.value(v.Type, b.copied(v.Type, b.vars[v.ID]))
}

// Set is a copy too.
func (b *builder) Set(v flat.Var, x flat.Value) { b.assign(v.Type, b.vars[v.ID], b.name(x)) }

func (b *builder) copied(t flat.Type, from string) string {
	r := b.reg(fileOf(t))
	b.assign(t, r, from)
	return r
}

func (b *builder) assign(t flat.Type, to, from string) {
	if t == flat.Bool {
		b.line("and.pred %s, %s, %s", to, from, from)
		return
	}
	b.line("mov.%s %s, %s", files[fileOf(t)].kind, to, from)
}

// Buffer is global memory.
func (b *builder) Buffer(address flat.Value, d ir.DType, a flat.Access) flat.Memory {
	m := memory{space: "global", dtype: d, load: "global", base: b.op(longs, "cvta.to.global.u64", b.name(address))}
	if a == flat.ReadOnly {
		m.load = "global.nc"
	}
	return b.place(m)
}

// Shared is memory of the block.
func (b *builder) Shared(d ir.DType, n int) flat.Memory {
	base := b.op(words, "mov.u32", b.array(n*d.Size(), elementAlign))
	return b.place(memory{space: "shared", load: "shared", dtype: d, base: base})
}

// Private is memory of the thread, which lies in global memory but for caches.
func (b *builder) Private(d ir.DType, n int) flat.Memory {
	name := fmt.Sprint("own", len(b.shared))
	b.shared = append(b.shared, fmt.Sprintf(".local .align 16 .b8 %s[%d];", name, n*d.Size()))
	return b.place(memory{space: "local", load: "local", dtype: d, base: b.op(longs, "mov.u64", name)})
}

func (b *builder) place(m memory) flat.Memory {
	b.memory = append(b.memory, m)
	return flat.Memory{ID: uint32(len(b.memory) - 1), DType: m.dtype}
}

// address is that of an element as an operand. A constant index is part of it.
func (b *builder) address(m memory, index flat.Value) string {
	size := m.dtype.Size()
	i := b.values[index.ID]
	if i.known && i.bits < 1<<20 {
		if i.bits == 0 {
			return "[" + m.base + "]"
		}
		return fmt.Sprintf("[%s+%d]", m.base, int(i.bits)*size)
	}
	shift := strconv.Itoa(bits.TrailingZeros(uint(size)))
	behind := ""
	if more := i.more * int64(size); m.space != "shared" && i.other != "" && -farthest <= more && more < farthest {
		i.name, behind = i.other, fmt.Sprintf("+%d", more)
	}
	switch {
	case m.space == "shared":
		n := i.name
		if index.Type == flat.I64 {
			n = b.op(words, "cvt.u32.u64", n)
		}
		return "[" + b.op(words, "mad.lo.u32", n, strconv.Itoa(size), m.base) + "]"
	case index.Type == flat.I32:
		return "[" + b.op(longs, "mad.wide.u32", i.name, strconv.Itoa(size), m.base) + "]"
	case size == 1:
		return "[" + b.op(longs, "add.u64", m.base, i.name) + behind + "]"
	}
	return "[" + b.op(longs, "add.u64", m.base, b.op(longs, "shl.b64", i.name, shift)) + behind + "]"
}

// farthest is how far behind a register an instruction reaches, in bytes.
const farthest = 1 << 23

// elementKind is an element's type in loads, which extend it.
func elementKind(d ir.DType) string {
	switch {
	case d == ir.F32 || d == ir.F64:
		return files[fileOf(flat.TypeOf(d))].kind
	case d.IsInt() && !d.IsUnsigned() && d.Size() < 4:
		return fmt.Sprint("s", 8*d.Size())
	}
	return fmt.Sprint("u", 8*d.Size())
}

// Load reads an element.
func (b *builder) Load(from flat.Memory, index, valid flat.Value) flat.Value {
	m := b.memory[from.ID]
	t := flat.TypeOf(m.dtype)
	r := b.reg(fileOf(t))
	if valid.Type == 0 {
		b.line("ld.%s.%s %s, %s", m.load, elementKind(m.dtype), r, b.address(m, index))
		return b.value(t, r)
	}
	at := b.address(m, index)
	b.assign(t, r, b.name(b.Const(t, 0)))
	b.line("@%s ld.%s.%s %s, %s", b.name(valid), m.load, elementKind(m.dtype), r, at)
	return b.value(t, r)
}

// LoadWords reads words side by side.
func (b *builder) LoadWords(from flat.Memory, index flat.Value, n int) []flat.Value {
	m := b.memory[from.ID]
	at := b.address(m, index)
	all, names := make([]flat.Value, n), make([]string, n)
	for i := range all {
		names[i] = b.reg(words)
		all[i] = b.value(flat.I32, names[i])
	}
	if n == 1 {
		b.line("ld.%s.u32 %s, %s", m.load, names[0], at)
	} else {
		b.line("ld.%s.v%d.u32 {%s}, %s", m.load, n, strings.Join(names, ", "), at)
	}
	return all
}

// StoreWords writes words side by side.
func (b *builder) StoreWords(to flat.Memory, index flat.Value, all []flat.Value) {
	m := b.memory[to.ID]
	at := b.address(m, index)
	names := make([]string, len(all))
	for i, x := range all {
		names[i] = b.name(x)
	}
	if len(all) == 1 {
		b.line("st.%s.u32 %s, %s", m.space, at, names[0])
		return
	}
	b.line("st.%s.v%d.u32 %s, {%s}", m.space, len(all), at, strings.Join(names, ", "))
}

// Store writes an element: its low bits.
func (b *builder) Store(to flat.Memory, index, x, valid flat.Value) {
	m := b.memory[to.ID]
	kind := elementKind(m.dtype)
	if kind[0] == 's' {
		kind = "u" + kind[1:]
	}
	guard, at := "", b.address(m, index)
	if valid.Type != 0 {
		guard = "@" + b.name(valid) + " "
	}
	value := b.name(x)
	if b.values[x.ID].known { // which may not fit the element
		value = b.copied(x.Type, value)
	}
	b.line("%sst.%s.%s %s, %s", guard, m.space, kind, at, value)
}

// If jumps over what is not to be done.
func (b *builder) If(cond flat.Value, then func()) {
	end := b.label()
	b.line("@!%s bra %s", b.name(cond), end)
	then()
	b.mark(end)
}

// longest is the trip count up to which loops are laid out.
const longest = 64

// For is a loop, or its iterations one after the other.
func (b *builder) For(from, to flat.Value, step int, unroll bool, body func(i flat.Value)) {
	lo, hi := b.values[from.ID], b.values[to.ID]
	if unroll && lo.known && hi.known && (int64(hi.bits)-int64(lo.bits))/int64(step) <= longest {
		for i := int64(lo.bits); i < int64(hi.bits); i += int64(step) {
			body(b.Const(from.Type, uint64(i)))
		}
		return
	}
	kind, compare := "u32", "s32"
	if from.Type == flat.I64 {
		kind, compare = "u64", "s64"
	}
	i := b.copied(from.Type, lo.name)
	top, end := b.label(), b.label()
	b.line("@%s bra %s", b.op(predicates, "setp.ge."+compare, i, hi.name), end)
	b.top(top)
	body(b.value(from.Type, i))
	b.line("add.%s %s, %s, %d", kind, i, i, step)
	b.line("@%s bra %s", b.op(predicates, "setp.lt."+compare, i, hi.name), top)
	b.mark(end)
}

// top begins a loop.
func (b *builder) top(label string) {
	b.mark(label)
	if b.rolled {
		b.line(`.pragma "nounroll"`)
	}
}

// Barrier orders accesses to all memory.
func (b *builder) Barrier(bool) { b.line("bar.sync 0") }
