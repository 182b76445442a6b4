package flattest

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// String lists the program, a step a line: v1 is a value, x1 a variable, m1
// memory. Constants stand where they are used.
func (p *Program) String() string {
	l := &listing{p: p, constants: map[uint32]string{}}
	for i, m := range p.memories {
		if m.space != inBuffer {
			fmt.Fprintf(&l.b, "m%d = %s %v[%d]\n", i, [...]string{inShared: "shared", inPrivate: "private"}[m.space], m.dtype, m.n)
		}
	}
	l.print(p.body, "")
	return l.b.String()
}

type listing struct {
	p         *Program
	b         strings.Builder
	constants map[uint32]string
}

func (l *listing) print(body []step, indent string) {
	for i := range body {
		s := &body[i]
		switch {
		case s.kind == stepConst && s.to.Type.IsFloat():
			l.constants[s.to.ID] = fmt.Sprintf("%#x", s.bits)
			continue
		case s.kind == stepConst:
			l.constants[s.to.ID] = fmt.Sprint(signed(s.to.Type, s.bits))
			continue
		case s.to.Type != 0 && s.kind != stepFor:
			fmt.Fprintf(&l.b, "%sv%d %v = ", indent, s.to.ID, s.to.Type)
		default:
			l.b.WriteString(indent)
		}
		l.b.WriteString(l.text(s))
		if s.kind == stepIf || s.kind == stepFor {
			l.b.WriteString(" {\n")
			l.print(s.body, indent+"\t")
			l.b.WriteString(indent + "}")
		}
		l.b.WriteString("\n")
	}
}

func (l *listing) value(v flat.Value) string {
	if c, ok := l.constants[v.ID]; ok {
		return c
	}
	return fmt.Sprint("v", v.ID)
}

// guard is the condition of an access.
func (l *listing) guard(v flat.Value) string {
	if v.Type == 0 {
		return ""
	}
	return " if " + l.value(v)
}

func (l *listing) text(s *step) string {
	switch s.kind {
	case stepArg:
		return fmt.Sprint("arg ", s.bits)
	case stepItem:
		return "item"
	case stepGroup:
		return "group"
	case stepItems:
		return "items"
	case stepOp:
		text := s.op.String()
		for _, a := range s.args {
			text += " " + l.value(a)
		}
		return text
	case stepGet:
		return fmt.Sprint("x", s.v.ID)
	case stepSet:
		return fmt.Sprintf("x%d = %s", s.v.ID, l.value(s.args[0]))
	case stepBuffer:
		m := l.p.memories[s.memory]
		access := [...]string{flat.ReadOnly: "constant", flat.Own: "own", flat.Exchanged: "exchanged"}[m.access]
		return fmt.Sprintf("m%d = %s %v at %s", s.memory, access, m.dtype, l.value(s.args[0]))
	case stepLoad:
		return fmt.Sprintf("m%d[%s]%s", s.memory, l.value(s.args[0]), l.guard(s.args[1]))
	case stepStore:
		return fmt.Sprintf("m%d[%s] = %s%s", s.memory, l.value(s.args[0]), l.value(s.args[1]), l.guard(s.args[2]))
	case stepIf:
		return "if " + l.value(s.args[0])
	case stepFor:
		text := fmt.Sprintf("for v%d %v from %s to %s by %d", s.to.ID, s.to.Type, l.value(s.args[0]), l.value(s.args[1]), s.bits)
		if s.flag {
			text += " unrolled"
		}
		return text
	}
	if s.flag {
		return "barrier all"
	}
	return "barrier"
}

// signed is the value of an integer.
func signed(t flat.Type, bits uint64) int64 {
	if t == flat.I32 {
		return int64(int32(bits))
	}
	return int64(bits)
}
