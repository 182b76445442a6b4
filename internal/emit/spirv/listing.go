package spirv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Listing is a module as text, in the language of spirv-as, an instruction a
// line. It knows the instructions that Write uses.
func Listing(words []uint32) (string, error) {
	if len(words) < 5 || words[0] != magic {
		return "", errors.New("this is no SPIR-V")
	}
	l := &lister{numbers: map[id]number{}}
	for at := 5; at < len(words); {
		n := int(words[at] >> 16)
		if n == 0 || at+n > len(words) {
			return "", fmt.Errorf("word %d: an instruction of %d words, of which %d are left", at, n, len(words)-at)
		}
		if err := l.line(opcode(words[at]), words[at+1:at+n]); err != nil {
			return "", fmt.Errorf("word %d: %w", at, err)
		}
		at += n
	}
	return l.b.String(), nil
}

// number is a type of numbers.
type number struct {
	float bool
	bits  uint32
}

type lister struct {
	b       strings.Builder
	numbers map[id]number
}

// line writes one instruction.
func (l *lister) line(op opcode, words []uint32) error {
	f, ok := formats[op]
	if !ok {
		return fmt.Errorf("unknown instruction %d", op)
	}
	switch op {
	case opTypeInt, opTypeFloat:
		l.numbers[words[0]] = number{op == opTypeFloat, words[1]}
	}
	p := &operands{words: words, typ: l.numbers}
	text, err := p.all(f.words)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	if p.result != 0 {
		fmt.Fprintf(&l.b, "%%%d = ", p.result)
	}
	fmt.Fprintf(&l.b, "Op%s%s\n", f.name, text)
	return nil
}

// operands reads those of one instruction.
type operands struct {
	words  []uint32
	typ    map[id]number
	result id
	of     id // the type of the result
}

func (p *operands) all(format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		kind := rune(format[i])
		if kind == '*' {
			for len(p.words) > 0 {
				text, err := p.one(rune(format[i+1]))
				if err != nil {
					return "", err
				}
				b.WriteString(text)
			}
			break
		}
		text, err := p.one(kind)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	if len(p.words) > 0 {
		return "", fmt.Errorf("%d words are left", len(p.words))
	}
	return b.String(), nil
}

func (p *operands) next() uint32 {
	n := p.words[0]
	p.words = p.words[1:]
	return n
}

// one is the text of an operand, with a space before it.
func (p *operands) one(kind rune) (string, error) {
	if len(p.words) == 0 {
		if kind == 'M' || kind == 'B' { // of which there may be none
			return "", nil
		}
		return "", errors.New("an operand is missing")
	}
	switch kind {
	case 'R':
		p.result = p.next()
		return "", nil
	case 'T':
		p.of = p.next()
		return fmt.Sprintf(" %%%d", p.of), nil
	case 'I':
		return fmt.Sprintf(" %%%d", p.next()), nil
	case 'N':
		return fmt.Sprintf(" %d", p.next()), nil
	case 'S':
		return p.text()
	case 'V':
		return p.constant()
	case 'M':
		if n := p.next(); n != accessAligned {
			return "", fmt.Errorf("unknown access %#x", n)
		}
		text, err := p.one('N')
		return " Aligned" + text, err
	case 'B':
		if len(p.words) == 1 {
			if name, ok := kinds['b'][p.words[0]]; ok && p.of == decorBuiltIn {
				p.next()
				return " " + name, nil
			}
		}
		return p.all("*N")
	}
	n := p.next()
	name, ok := kinds[kind][n]
	if !ok {
		return "", fmt.Errorf("unknown number %d of kind %c", n, kind)
	}
	if kind == 'd' {
		p.of = n
	}
	return " " + name, nil
}

func (p *operands) text() (string, error) {
	var b []byte
	for len(p.words) > 0 {
		b = binary.LittleEndian.AppendUint32(b, p.next())
		if b[len(b)-1] == 0 {
			return " " + strconv.Quote(strings.TrimRight(string(b), "\x00")), nil
		}
	}
	return "", errors.New("text without an end")
}

// constant is a number of the type of the result.
func (p *operands) constant() (string, error) {
	t := p.typ[p.of]
	bits := uint64(p.next())
	if t.bits == 64 && len(p.words) > 0 {
		bits |= uint64(p.next()) << 32
	}
	if !t.float {
		return fmt.Sprintf(" %d", bits), nil
	}
	f, shift, end := float64(math.Float32frombits(uint32(bits))), 1, 128
	if t.bits == 64 {
		f, shift, end = math.Float64frombits(bits), 0, 1024
	}
	if f-f == 0 {
		return " " + strconv.FormatFloat(f, 'x', -1, 64), nil
	}
	sign, digits := "", 6+7*(1-shift)
	if bits>>(t.bits-1) != 0 {
		sign = "-"
	}
	fraction := bits & (1<<(4*digits-shift) - 1) << shift
	return fmt.Sprintf(" %s0x1.%0*xp+%d", sign, digits, fraction, end), nil
}
