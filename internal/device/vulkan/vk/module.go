package vk

import (
	"errors"
	"fmt"
	"slices"
)

// module is what the head of a program in SPIR-V says.
type module struct {
	entries      []string
	capabilities []uint32
}

var errModule = errors.New("vulkan: no SPIR-V")

// readModule walks the instructions up to the last entry point. A word begins
// each: its length in words and its operation.
func readModule(code []uint32) (m module, err error) {
	const (
		magic, header                        = 0x07230203, 5
		opEntryPoint, opCapability, opTypeOf = 15, 17, 19 // types come after all entry points
	)
	if len(code) < header || code[0] != magic {
		return m, errModule
	}
	for rest := code[header:]; len(rest) > 0; {
		n, op := int(rest[0]>>16), rest[0]&0xffff
		switch {
		case n == 0 || n > len(rest):
			return m, errModule
		case op == opTypeOf:
			rest = nil
			continue
		case op == opCapability && n > 1:
			m.capabilities = append(m.capabilities, rest[1])
		case op == opEntryPoint && n > 3:
			m.entries = append(m.entries, words(rest[3:n]))
		}
		rest = rest[n:]
	}
	if len(m.entries) == 0 {
		return m, errModule
	}
	return m, nil
}

// words are a text, four bytes a word, up to its end.
func words(code []uint32) string {
	var b []byte
	for _, w := range code {
		for i := range 4 {
			c := byte(w >> (8 * i))
			if c == 0 {
				return string(b)
			}
			b = append(b, c)
		}
	}
	return string(b)
}

// capabilities that a device may lack, with what to call them.
var capabilities = []struct {
	id   uint32
	name string
	has  func(p *Physical) bool
}{
	{9, "arithmetic in f16", func(p *Physical) bool { return p.F16.Supported }},
	{10, "f64", func(p *Physical) bool { return p.F64.Supported }},
	{11, "64-bit integers", func(p *Physical) bool { return p.Int64 }},
	{22, "16-bit integers", func(p *Physical) bool { return p.Int16 }},
	{39, "8-bit integers", func(p *Physical) bool { return p.Int8 }},
	{4433, "memory of 16-bit values", func(p *Physical) bool { return p.Storage16 }},
	{4448, "memory of bytes", func(p *Physical) bool { return p.Storage8 }},
	{4464, "subnormals kept", func(p *Physical) bool { return p.F32.Subnormals || p.F64.Subnormals || p.F16.Subnormals }},
	{4466, "NaN and infinity kept", func(p *Physical) bool { return p.F32.InfNaN }},
	{4467, "rounding to nearest asked for", func(p *Physical) bool { return p.F32.Nearest }},
	{5347, "memory by its address", func(p *Physical) bool { return p.Address }},
}

// lacks is an error if the device has not all that a program needs.
func (p *Physical) lacks(m module) error {
	for _, c := range capabilities {
		if slices.Contains(m.capabilities, c.id) && !c.has(p) {
			return fmt.Errorf("%s has no %s, which the program needs: use another device", p.Name, c.name)
		}
	}
	return nil
}
