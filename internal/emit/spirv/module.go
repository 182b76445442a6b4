package spirv

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// id names the result of an instruction.
type id = uint32

// section is a part of a module; they follow each other in this order.
type section int

const (
	inCapabilities section = iota
	inImports
	inModel
	inEntries
	inModes
	inNames
	inDecorations
	inGlobals // types, constants, variables
	inFunctions
	sectionCount
)

const (
	magic   = 0x07230203
	version = 1<<16 | 5<<8 // 1.5
)

// module is a module being written. Types and constants that are equal are one.
type module struct {
	sections     [sectionCount][]uint32
	next         id
	made         map[string]id
	capabilities map[uint32]bool
}

func newModule() *module {
	m := &module{next: 1, made: map[string]id{}, capabilities: map[uint32]bool{}}
	m.capability(capShader)
	m.capability(capAddresses)
	m.capability(capInt64)
	m.add(inModel, opMemoryModel, addressing64, memoryGLSL)
	return m
}

// words is the module: five words about it, then its sections.
func (m *module) words() []uint32 {
	return append([]uint32{magic, version, 0, m.next, 0}, slices.Concat(m.sections[:]...)...)
}

func (m *module) id() id {
	m.next++
	return m.next - 1
}

// instruction is the words of one: their number and the opcode, then operands.
func instruction(op opcode, operands ...uint32) []uint32 {
	return append([]uint32{uint32(len(operands)+1)<<16 | uint32(op)}, operands...)
}

func (m *module) add(s section, op opcode, operands ...uint32) {
	m.sections[s] = append(m.sections[s], instruction(op, operands...)...)
}

// text is a string in words, with a zero behind it.
func text(s string) []uint32 {
	b := make([]byte, len(s)/4*4+4)
	copy(b, s)
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}

func (m *module) capability(c uint32) {
	if !m.capabilities[c] {
		m.capabilities[c] = true
		m.add(inCapabilities, opCapability, c)
	}
}

func (m *module) name(of id, s string) {
	m.add(inNames, opName, append([]uint32{of}, text(s)...)...)
}

func (m *module) decorate(of id, d ...uint32) {
	m.add(inDecorations, opDecorate, append([]uint32{of}, d...)...)
}

// once makes something under a key, or finds it.
func (m *module) once(key string, make func(id)) id {
	if have, ok := m.made[key]; ok {
		return have
	}
	n := m.id()
	m.made[key] = n
	make(n)
	return n
}

// typ is the type that an instruction with these operands makes.
func (m *module) typ(op opcode, operands ...uint32) id {
	return m.once(fmt.Sprint("type", op, operands), func(n id) {
		m.add(inGlobals, op, append([]uint32{n}, operands...)...)
	})
}

func (m *module) void() id { return m.typ(opTypeVoid) }
func (m *module) bool() id { return m.typ(opTypeBool) }

// int is an integer type of so many bits. Integers have no sign here.
func (m *module) int(bits uint32) id { return m.typ(opTypeInt, bits, 0) }

func (m *module) float(bits uint32) id {
	if bits == 64 {
		m.capability(capFloat64)
	}
	return m.typ(opTypeFloat, bits)
}

func (m *module) pointer(class uint32, to id) id { return m.typ(opTypePointer, class, to) }

// constant is a constant of a number type of so many bits.
func (m *module) constant(t id, width int, bits uint64) id {
	words := []uint32{uint32(bits)}
	if width == 64 {
		words = append(words, uint32(bits>>32))
	}
	return m.once(fmt.Sprint("constant", t, words), func(n id) {
		m.add(inGlobals, opConstant, append([]uint32{t, n}, words...)...)
	})
}

func (m *module) word(n uint32) id { return m.constant(m.int(32), 32, uint64(n)) }

func (m *module) truth(b bool) id {
	op := opConstantFalse
	if b {
		op = opConstantTrue
	}
	t := m.bool()
	return m.once(fmt.Sprint("truth", b), func(n id) { m.add(inGlobals, op, t, n) })
}

// array is the type of n elements.
func (m *module) array(of id, n int) id { return m.typ(opTypeArray, of, m.word(uint32(n))) }

// block is the type of memory that holds elements of a type, of so many bytes,
// in a row; it is decorated besides as told.
func (m *module) block(of id, size uint32, decorations ...uint32) id {
	row := m.once(fmt.Sprint("row", of), func(n id) {
		m.add(inGlobals, opTypeRuntimeArray, n, of)
		m.decorate(n, decorStride, size)
	})
	return m.once(fmt.Sprint("block", of, decorations), func(n id) {
		m.add(inGlobals, opTypeStruct, n, row)
		m.decorate(n, decorBlock)
		m.add(inDecorations, opMemberDecorate, n, 0, decorOffset, 0)
		for _, d := range decorations {
			m.add(inDecorations, opMemberDecorate, n, 0, d)
		}
	})
}

// global is a variable of the module.
func (m *module) global(class uint32, t id) id {
	p, n := m.pointer(class, t), m.id()
	m.add(inGlobals, opVariable, p, n, class)
	return n
}

// input is the variable of a value that each work-item is given.
func (m *module) input(t id, builtIn uint32) id {
	return m.once(fmt.Sprint("input", builtIn), func(n id) {
		m.add(inGlobals, opVariable, m.pointer(classInput, t), n, classInput)
		m.decorate(n, decorBuiltIn, builtIn)
	})
}

// arguments is the variable that holds the address of the arguments.
func (m *module) arguments() id {
	return m.once("arguments", func(n id) {
		t := m.id()
		m.add(inGlobals, opTypeStruct, t, m.int(64))
		m.decorate(t, decorBlock)
		m.add(inDecorations, opMemberDecorate, t, 0, decorOffset, 0)
		m.add(inGlobals, opVariable, m.pointer(classPush, t), n, classPush)
	})
}

// glsl is the set of instructions for floats.
func (m *module) glsl() id {
	return m.once("glsl", func(n id) {
		m.add(inImports, opExtInstImport, append([]uint32{n}, text("GLSL.std.450")...)...)
	})
}
