package spirv

import (
	"cmp"
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
)

// builder writes one entry point: a function without parameters.
type builder struct {
	*module
	o        *Options
	entry    string
	items    int
	err      error
	function id
	globals  []id     // that the function uses
	locals   []uint32 // its variables, which come first
	body     []uint32
	block    id       // that is being written
	args     id       // pointer to the arguments
	address  id       // of the arguments
	nothing  id       // a word of zeros of which no compiler knows
	ended    flat.Var // of LoopsEnd: not 0 once a loop has ended before its time
	memories []memory
	floats   map[flat.Type]bool // that it computes with
	known    map[id]uint64      // the bits of constants
}

// memory is an array that a kernel reaches by access chains.
type memory struct {
	base  id
	first []id // indices before that of the element
	class uint32
	dtype ir.DType
	held  id // type of an element there
	size  uint32
	begin id // address of a buffer
}

func newBuilder(m *module, o *Options, k *entry.Kernel) *builder {
	b := &builder{module: m, o: o, entry: k.Entry, items: k.Items, floats: map[flat.Type]bool{}, known: map[id]uint64{}}
	if !k.Groups() {
		b.items = cmp.Or(k.Strategy.Flat, o.Flat)
	}
	b.function = b.id()
	b.label(b.id())
	push := b.arguments()
	b.use(push)
	b.address = b.result(opLoad, b.int(64), b.chain(classPush, b.int(64), push, b.word(0)))
	b.nothing = b.result(opShiftRightLogical, b.int(32), b.Item().ID, b.word(31))
	list := b.module.block(b.int(64), 8, decorNonWritable)
	b.args = b.result(opConvertUToPtr, b.pointer(classBuffer, list), b.address)
	if o.LoopsEnd {
		b.ended = b.Var(flat.I32)
		b.Set(b.ended, b.Const(flat.I32, 0))
	}
	return b
}

// end puts the function into the module.
func (b *builder) end() {
	m := b.module
	void := m.void()
	m.add(inFunctions, opFunction, void, b.function, 0, m.typ(opTypeFunction, void))
	m.sections[inFunctions] = append(m.sections[inFunctions], b.body[:2]...) // the first label
	m.sections[inFunctions] = append(m.sections[inFunctions], b.locals...)
	m.sections[inFunctions] = append(m.sections[inFunctions], b.body[2:]...)
	m.add(inFunctions, opReturn)
	m.add(inFunctions, opFunctionEnd)
	m.name(b.function, b.entry)
	m.add(inEntries, opEntryPoint, append(append([]uint32{compute, b.function}, text(b.entry)...), b.globals...)...)
	m.add(inModes, opExecutionMode, b.function, modeLocalSize, uint32(b.items), 1, 1)
	for _, t := range []flat.Type{flat.F32, flat.F64} {
		b.mode(t, b.o.Subnormals, modeDenormPreserve, capDenormPreserve)
		b.mode(t, b.o.InfNaN, modeSignedZeroInfNaN, capSignedZeroInfNaN)
		b.mode(t, b.o.Nearest, modeRoundingModeRTE, capRoundingModeRTE)
	}
	if b.o.HalfSubnormals {
		b.capability(capDenormPreserve)
		b.add(inModes, opExecutionMode, b.function, modeDenormPreserve, 16)
	}
}

// mode asks for a property of the floats of a type that the function has.
func (b *builder) mode(t flat.Type, can Widths, mode, capability uint32) {
	if b.floats[t] && can.of(t) {
		b.capability(capability)
		b.add(inModes, opExecutionMode, b.function, mode, uint32(8*t.Size()))
	}
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// use notes a variable of the module: the entry point has to list it.
func (b *builder) use(global id) {
	for _, g := range b.globals {
		if g == global {
			return
		}
	}
	b.globals = append(b.globals, global)
}

// do adds an instruction to the function, result one with a result.
func (b *builder) do(op opcode, operands ...uint32) {
	b.body = append(b.body, instruction(op, operands...)...)
}

func (b *builder) result(op opcode, t id, operands ...uint32) id {
	n := b.id()
	b.do(op, append([]uint32{t, n}, operands...)...)
	return n
}

// label begins a block.
func (b *builder) label(n id) {
	b.do(opLabel, n)
	b.block = n
}

func (b *builder) chain(class uint32, t id, base id, indices ...id) id {
	return b.result(opAccessChain, b.pointer(class, t), append([]uint32{base}, indices...)...)
}

// typeOf is the type of values.
func (b *builder) typeOf(t flat.Type) id {
	switch t {
	case flat.Bool:
		return b.bool()
	case flat.F32, flat.F64:
		b.floats[t] = true
		if t == flat.F64 && !b.o.Float64 {
			b.fail("%w", &entry.UnsupportedError{Text: "the device has no f64: compute in f32, or on the cpu device"})
		}
		return b.float(uint32(8 * t.Size()))
	}
	return b.int(uint32(8 * t.Size()))
}

func value(n id, t flat.Type) flat.Value { return flat.Value{ID: n, Type: t} }

func (b *builder) Arg(i int) flat.Value {
	at := b.chain(classBuffer, b.int(64), b.args, b.word(0), b.word(uint32(i)))
	return value(b.result(opLoad, b.int(64), at, accessAligned, 8), flat.I64)
}

func (b *builder) Item() flat.Value {
	in := b.input(b.int(32), builtInItem)
	b.use(in)
	return value(b.result(opLoad, b.int(32), in), flat.I32)
}

func (b *builder) Group() flat.Value {
	three := b.typ(opTypeVector, b.int(32), 3)
	in := b.input(three, builtInGroup)
	b.use(in)
	n := b.result(opCompositeExtract, b.int(32), b.result(opLoad, three, in), 0)
	return value(b.result(opUConvert, b.int(64), n), flat.I64)
}

func (b *builder) Items() flat.Value { return b.Const(flat.I32, uint64(b.items)) }

func (b *builder) Const(t flat.Type, bits uint64) flat.Value {
	if t == flat.Bool {
		return value(b.truth(bits != 0), t)
	}
	if t.IsFloat() && bits == 0 {
		return b.zero(t)
	}
	n := b.constant(b.typeOf(t), 8*t.Size(), bits)
	if t.Size() == 4 {
		bits &= math.MaxUint32
	}
	b.known[n] = bits
	return value(n, t)
}

// zero is +0, but not as a constant: Mesa (22.3 at least) takes x+0 for x, and so
// -0+0 for -0, whatever a program asks for, on the processor.
func (b *builder) zero(t flat.Type) flat.Value {
	n := b.nothing
	if t == flat.F64 {
		n = b.result(opUConvert, b.int(64), n)
	}
	return value(b.result(opBitcast, b.typeOf(t), n), t)
}

func (b *builder) Var(t flat.Type) flat.Var {
	n := b.id()
	b.locals = append(b.locals, instruction(opVariable, b.pointer(classFunction, b.typeOf(t)), n, classFunction)...)
	return flat.Var{ID: n, Type: t}
}

func (b *builder) Get(v flat.Var) flat.Value {
	return value(b.result(opLoad, b.typeOf(v.Type), v.ID), v.Type)
}

func (b *builder) Set(v flat.Var, x flat.Value) { b.do(opStore, v.ID, x.ID) }

func (b *builder) memory(m memory) flat.Memory {
	b.memories = append(b.memories, m)
	return flat.Memory{ID: uint32(len(b.memories) - 1), DType: m.dtype}
}

// elements is the type of elements in buffers. Narrow ones need a capability.
func (b *builder) elements(d ir.DType) id {
	switch {
	case d == ir.F32 || d == ir.F64:
		return b.typeOf(flat.TypeOf(d))
	case d.Size() == 1:
		b.capability(capStorage8)
	case d.Size() == 2:
		b.capability(capStorage16)
	}
	return b.int(uint32(8 * d.Size()))
}

func (b *builder) Buffer(address flat.Value, d ir.DType, a flat.Access) flat.Memory {
	held := b.elements(d)
	var how []uint32
	switch a {
	case flat.ReadOnly:
		how = []uint32{decorNonWritable}
	case flat.Exchanged:
		how = []uint32{decorCoherent}
	}
	t := b.pointer(classBuffer, b.module.block(held, uint32(d.Size()), how...))
	base := b.result(opConvertUToPtr, t, address.ID)
	return b.memory(memory{base, []id{b.word(0)}, classBuffer, d, held, uint32(d.Size()), address.ID})
}

// near is the type of elements in memory of a group or work-item.
func (b *builder) near(d ir.DType) id {
	switch {
	case d.Size() == 1 && b.o.Int8:
		b.capability(capInt8)
		return b.int(8)
	case d.Size() == 2 && b.o.Int16:
		b.capability(capInt16)
		return b.int(16)
	}
	return b.typeOf(flat.TypeOf(d))
}

func (b *builder) Shared(d ir.DType, n int) flat.Memory {
	held := b.near(d)
	v := b.global(classShared, b.array(held, n))
	b.use(v)
	return b.memory(memory{base: v, class: classShared, dtype: d, held: held})
}

func (b *builder) Private(d ir.DType, n int) flat.Memory {
	held, v := b.near(d), b.id()
	t := b.pointer(classFunction, b.array(held, n))
	b.locals = append(b.locals, instruction(opVariable, t, v, classFunction)...)
	return b.memory(memory{base: v, class: classFunction, dtype: d, held: held})
}

// place is the pointer to an element, and what an access says beside it.
func (b *builder) place(m *memory, index flat.Value) (at id, access []uint32) {
	at = b.chain(m.class, m.held, m.base, append(append([]id(nil), m.first...), index.ID)...)
	if m.class == classBuffer {
		access = []uint32{accessAligned, m.size}
	}
	return at, access
}

func (b *builder) Load(m flat.Memory, index, valid flat.Value) flat.Value {
	t := flat.TypeOf(m.DType)
	if valid.Type != 0 {
		zero := b.Const(t, 0)
		return b.choice(valid, zero, func() flat.Value { return b.Load(m, index, flat.Value{}) })
	}
	mem := &b.memories[m.ID]
	at, access := b.place(mem, index)
	x := b.result(opLoad, mem.held, append([]uint32{at}, access...)...)
	if want := b.typeOf(t); want != mem.held {
		op := opUConvert
		if d := m.DType; d.IsInt() && !d.IsUnsigned() {
			op = opSConvert
		}
		x = b.result(op, want, x)
	}
	return value(x, t)
}

// LoadWords reads words side by side.
func (b *builder) LoadWords(m flat.Memory, index flat.Value, n int) []flat.Value {
	mem, long := &b.memories[m.ID], b.int(64)
	if index.Type == flat.I32 {
		index = b.Op(flat.ExtendU, flat.I64, index)
	}
	words := b.int(32)
	if n > 1 {
		words = b.typ(opTypeVector, words, uint32(n))
	}
	size := uint32(4 * n)
	behind := b.result(opIMul, long, index.ID, b.Const(flat.I64, uint64(mem.size)).ID)
	t := b.pointer(classBuffer, b.module.block(words, size, decorNonWritable))
	base := b.result(opConvertUToPtr, t, b.result(opIAdd, long, mem.begin, behind))
	x := b.result(opLoad, words, b.chain(classBuffer, words, base, b.word(0), b.word(0)), accessAligned, size)
	if n == 1 {
		return []flat.Value{value(x, flat.I32)}
	}
	all := make([]flat.Value, n)
	for i := range all {
		all[i] = value(b.result(opCompositeExtract, b.int(32), x, uint32(i)), flat.I32)
	}
	return all
}

func (b *builder) Store(m flat.Memory, index, x, valid flat.Value) {
	if valid.Type != 0 {
		b.If(valid, func() { b.Store(m, index, x, flat.Value{}) })
		return
	}
	mem := &b.memories[m.ID]
	at, access := b.place(mem, index)
	n := x.ID
	if b.typeOf(x.Type) != mem.held {
		n = b.result(opUConvert, mem.held, n)
	}
	b.do(opStore, append([]uint32{at, n}, access...)...)
}
