package asm

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// parse turns a line of Intel syntax into an instruction and its arguments, so
// that a line of the table of encodings says how to build it. Several Ops can
// share a mnemonic ("movzx" from 8 and 16 bits); all are returned.
func parse(text string) (ops []Op, args []Arg, isa ISA, err error) {
	isa = AVX512
	if t, ok := strings.CutPrefix(text, "{vex} "); ok {
		text, isa = t, AVX2
	}
	name, rest, _ := strings.Cut(text, " ")
	name, pred := cutPredicate(name)
	for op := range mnemonics {
		if op > 0 && mnemonics[op].name == name {
			ops = append(ops, Op(op))
		}
	}
	if name == "movabs" {
		ops = []Op{MOV}
	}
	if ops == nil {
		return nil, nil, 0, fmt.Errorf("no instruction %q", name)
	}
	length := L128
	for _, f := range splitOperands(rest) {
		arg, l, err := parseOperand(&f)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("%s: %w", text, err)
		}
		length = max(length, l)
		args = append(args, arg)
		if m := maskText.FindStringSubmatch(f); m != nil {
			k, _ := strconv.Atoi(m[1])
			if strings.Contains(f, "{z}") {
				args = append(args, MaskZ(K(k)))
			} else {
				args = append(args, Mask(K(k)))
			}
		}
	}
	if pred >= 0 {
		args = append(args, Imm(pred))
	}
	return ops, append(args, length), isa, nil
}

var (
	maskText  = regexp.MustCompile(`\{k(\d)\}`)
	predicate = regexp.MustCompile(`^(vcmp|vpcmp)([a-z_0-9]+?)(ps|pd|ss|sd|ub|uw|ud|uq|b|w|d|q)$`)
)

// cutPredicate undoes the alias of a comparison: vcmpltps is vcmpps with 1.
func cutPredicate(name string) (string, int) {
	m := predicate.FindStringSubmatch(name)
	if m == nil {
		return name, -1
	}
	names := fpPredicates[:]
	if m[1] == "vpcmp" {
		if m[2] == "eq" || m[2] == "gt" { // instructions of their own
			return name, -1
		}
		names = intPredicates[:]
	}
	i := slices.Index(names, m[2])
	if i < 0 {
		return name, -1
	}
	return m[1] + m[3], i
}

func splitOperands(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ", ")
}

var vecText = regexp.MustCompile(`^([xyz])mm(\d+)`)

// parseOperand also returns the vector length that the operand speaks for.
func parseOperand(s *string) (Arg, Length, error) {
	word, _, _ := strings.Cut(*s, " ")
	if m := vecText.FindStringSubmatch(word); m != nil {
		n, _ := strconv.Atoi(m[2])
		return V(n), L128 + Length(strings.Index("xyz", m[1])), nil
	}
	if len(word) == 2 && word[0] == 'k' {
		return K(word[1] - '0'), 0, nil
	}
	if len(word) == 4 && strings.HasPrefix(word, "tmm") {
		return T(word[3] - '0'), 0, nil
	}
	for r := range R(16) {
		switch word {
		case gpName(uint8(r), s64):
			return r, 0, nil
		case gpName(uint8(r), s32), gpName(uint8(r), s16), gpName(uint8(r), s8):
			return r.R32(), 0, nil
		}
	}
	if strings.Contains(*s, "[") {
		return parseMemory(*s)
	}
	n, err := strconv.ParseInt(word, 0, 64)
	return Imm(n), 0, err
}

var (
	sizeText  = regexp.MustCompile(`^(\w+) ptr `)
	bcastText = regexp.MustCompile(`\{1to(\d+)\}`)
)

func parseMemory(s string) (Arg, Length, error) {
	bytes := 0
	if m := sizeText.FindStringSubmatch(s); m != nil {
		for n, name := range memSizes {
			if name == m[0] {
				bytes = n
			}
		}
	}
	open, end := strings.IndexByte(s, '['), strings.IndexByte(s, ']')
	var m M
	var length Length
	for i, f := range strings.Fields(strings.NewReplacer("- ", "-", "+ ", "").Replace(s[open+1 : end])) {
		n, isNumber := strconv.Atoi(f)
		scale, reg := 1, f
		if a, b, ok := strings.Cut(f, "*"); ok {
			scale, _ = strconv.Atoi(a)
			reg = b
		}
		switch {
		case isNumber == nil:
			m = m.Off(n)
		case vecText.MatchString(reg):
			v, l, _ := parseOperand(&reg)
			m, length = VIdx(R(m.base), v.(V), scale, 0), l
		default:
			r, _, err := parseOperand(&reg)
			if err != nil {
				return nil, 0, err
			}
			if i == 0 {
				m = Ptr(r.(R), 0)
			} else {
				m = Idx(R(m.base), r.(R), scale, 0)
			}
		}
	}
	if b := bcastText.FindStringSubmatch(s); b != nil {
		lanes, _ := strconv.Atoi(b[1])
		bytes *= lanes
		m = m.Bcast()
	}
	switch bytes {
	case 32:
		length = max(length, L256)
	case 64:
		length = L512
	}
	return m, length, nil
}
