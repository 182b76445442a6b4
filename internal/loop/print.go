package loop

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/sinterml/sinter/internal/ir"
)

// String prints the kernel as pseudo-code that Parse reads back, the same for
// equal kernels in every process. Values that one statement uses twice stand
// before it as %0, %1 and so on; they belong to that statement alone, as the
// next one may find other values in memory. Names that collide get a number.
func (k *Kernel) String() string {
	p := &printer{k: k, names: map[any]string{}, taken: map[string]bool{}}
	p.printf("kernel %s\n", strconv.Quote(k.Name))
	if k.Slots != 0 {
		p.printf("slots %d\n", k.Slots)
	}
	for _, s := range k.allSymbols() {
		p.printf("symbol %s %d %d\n", s.Name, s.Min, s.Max)
	}
	for i := range k.Params {
		q := &k.Params[i]
		p.printf("param %s %v[%v] %v\n", p.name(q, q.Name), q.DType, q.Len, q.Use)
	}
	p.body(k.Body, "")
	return p.b.String()
}

var useNames = [...]string{Read: "read", Write: "write", Update: "update", Scratch: "scratch"}

func (u Use) String() string { return nameOf(useNames[:], uint8(u)) }

var rangeNames = [...]string{Global: "global", Serial: "serial", Unroll: "unroll", Vector: "vector", Item: "item"}

func (r Range) String() string { return nameOf(rangeNames[:], uint8(r)) }

func nameOf(names []string, i uint8) string {
	if int(i) < len(names) && names[i] != "" {
		return names[i]
	}
	return strconv.Itoa(int(i))
}

// allSymbols is Symbols and those that only the lengths of params use.
func (k *Kernel) allSymbols() []ir.Symbol {
	all := k.Symbols()
	seen := map[string]bool{}
	for _, s := range all {
		seen[s.Name] = true
	}
	for _, q := range k.Params {
		for _, s := range q.Len.Symbols() {
			if !seen[s.Name] {
				seen[s.Name] = true
				all = append(all, s)
			}
		}
	}
	return all
}

type printer struct {
	k      *Kernel
	b      strings.Builder
	names  map[any]string // of *Param, *Var and *Local
	taken  map[string]bool
	shared map[*Expr]int // numbers of the statement's shared values
}

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// name gives of its own name, made unique and a plain identifier.
func (p *printer) name(of any, own string) string {
	if s, ok := p.names[of]; ok {
		return s
	}
	base := strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, own)
	if base == "" || unicode.IsDigit([]rune(base)[0]) {
		base = "v" + base
	}
	s := base
	for n := 2; p.taken[s] || reserved[s]; n++ {
		s = base + "_" + strconv.Itoa(n)
	}
	p.taken[s], p.names[of] = true, s
	return s
}

// reserved words are no names: what begins a line of the text, and what reads
// as a value or an operation.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range []string{"kernel", "slots", "symbol", "param", "for", "to", "true", "false", "inf", "size", "index"} {
		m[s] = true
	}
	for _, d := range ir.DTypes() {
		m[d.String()] = true
	}
	for _, op := range ir.Ops() {
		m[op.String()] = true
	}
	return m
}()

func (p *printer) body(body []Stmt, indent string) {
	for _, s := range body {
		p.stmt(s, indent)
	}
}

func (p *printer) stmt(s Stmt, indent string) {
	switch s := s.(type) {
	case *Loop:
		p.share(indent, s.Lo, s.Hi)
		if s.Lo == nil {
			p.printf("%sfor %v %s < %s {\n", indent, s.Range, p.name(s.Var, s.Var.Name), p.expr(s.Hi, 0))
		} else {
			p.printf("%sfor %v %s = %s to %s {\n", indent, s.Range, p.name(s.Var, s.Var.Name), p.expr(s.Lo, 0), p.expr(s.Hi, 0))
		}
		p.body(s.Body, indent+"\t")
		p.printf("%s}\n", indent)
	case *Set:
		p.share(indent, s.Value)
		p.printf("%s%s = %s\n", indent, p.name(s.Local, s.Local.Name), p.expr(s.Value, 0))
	case *Acc:
		p.share(indent, s.Value)
		p.printf("%s%s %v= %s\n", indent, p.name(s.Local, s.Local.Name), s.Op, p.expr(s.Value, 0))
	case *Store:
		p.share(indent, s.Index, s.Valid, s.Value)
		p.printf("%s%s = %s\n", indent, p.element(s.Param, s.Index, s.Valid), p.expr(s.Value, 0))
	}
}

// share numbers and prints the values below roots that have several users.
func (p *printer) share(indent string, roots ...*Expr) {
	uses := map[*Expr]int{}
	var order []*Expr // operands first
	var count func(e *Expr)
	count = func(e *Expr) {
		if e == nil {
			return
		}
		if uses[e]++; uses[e] > 1 {
			return
		}
		for _, a := range e.Args {
			count(a)
		}
		order = append(order, e)
	}
	for _, e := range roots {
		count(e)
	}
	p.shared = map[*Expr]int{}
	for _, e := range order {
		if uses[e] > 1 && len(e.Args) > 0 {
			text := p.expr(e, 0)
			p.printf("%s%%%d = %s\n", indent, len(p.shared), text)
			p.shared[e] = len(p.shared)
		}
	}
}

// infix operators by how tightly they bind; those of one level group from the
// left.
var infix = map[ir.Op]struct {
	text  string
	level int
}{
	ir.Less: {" < ", 0}, ir.Equal: {" == ", 0},
	ir.Add: {" + ", 1}, ir.Sub: {" - ", 1},
	ir.Mul: {"*", 2}, ir.Div: {"/", 2},
}

// expr prints e, in parentheses if it binds less tightly than level.
func (p *printer) expr(e *Expr, level int) string { return string(p.append(nil, e, level)) }

// append is expr behind b: long sums are copied once, not once a summand.
func (p *printer) append(b []byte, e *Expr, level int) []byte {
	if n, ok := p.shared[e]; ok {
		return strconv.AppendInt(append(b, '%'), int64(n), 10)
	}
	switch e.Kind {
	case KindConst:
		return append(b, constText(e.DType, e.Bits)...)
	case KindSize:
		return append(e.Size.Append(append(b, "size("...)), ')')
	case KindVar:
		return append(b, p.name(e.Var, e.Var.Name)...)
	case KindLocal:
		return append(b, p.name(e.Local, e.Local.Name)...)
	case KindLoad:
		var valid *Expr
		if len(e.Args) > 1 {
			valid = e.Args[1]
		}
		return p.appendElement(b, e.Param, e.Args[0], valid)
	case KindIndex:
		b = p.append(append(b, "index("...), e.Args[0], 0)
		return fmt.Appendf(b, ", %v, %d)", e.Size, e.Slot)
	}
	if in, ok := infix[e.Op]; ok && len(e.Args) == 2 {
		if in.level < level {
			b = append(b, '(')
		}
		// The left operand of a comparison may not be another.
		b = p.append(b, e.Args[0], max(in.level, 1))
		b = p.append(append(b, in.text...), e.Args[1], in.level+1)
		if in.level < level {
			b = append(b, ')')
		}
		return b
	}
	b = append(b, e.Op.String()...)
	if e.Op == ir.Cast || e.Op == ir.Bitcast {
		b = append(append(b, '.'), e.DType.String()...)
	}
	b = append(b, '(')
	for i, a := range e.Args {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = p.append(b, a, 0)
	}
	return append(b, ')')
}

func (p *printer) element(param int, index, valid *Expr) string {
	return string(p.appendElement(nil, param, index, valid))
}

func (p *printer) appendElement(b []byte, param int, index, valid *Expr) []byte {
	name := "param" + strconv.Itoa(param)
	if param >= 0 && param < len(p.k.Params) {
		q := &p.k.Params[param]
		name = p.name(q, q.Name)
	}
	b = p.append(append(append(b, name...), '['), index, 0)
	if valid != nil {
		b = p.append(append(b, " ? "...), valid, 0)
	}
	return append(b, ']')
}

// constText is the value of a constant; the bits, where no number says them.
func constText(d ir.DType, bits uint64) string {
	var s string
	f := ir.Float(d, bits)
	switch {
	case d == ir.Bool && bits <= 1:
		return strconv.FormatBool(bits == 1)
	case d == ir.I64:
		return strconv.FormatInt(int64(bits), 10)
	case d.IsFloat() && !math.IsNaN(f):
		width := 32
		if d == ir.F64 {
			width = 64
		}
		s = strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, width), "+"))
	case d.IsUnsigned():
		s = strconv.FormatUint(bits, 10)
	case d.IsInt():
		s = strconv.FormatInt(ir.Int(d, bits), 10)
	default:
		s = "0x" + strconv.FormatUint(bits, 16)
	}
	return d.String() + "(" + s + ")"
}
