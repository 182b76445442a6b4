package loop

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sinterml/sinter/internal/ir"
)

// Parse reads what String prints. It does not check the kernel: Check does.
func Parse(text string) (*Kernel, error) {
	p := &parser{scan: scanner{text: text, line: 1}, k: &Kernel{}, symbols: map[string]ir.Dim{},
		params: map[string]int{}, vars: map[string]*Var{}, locals: map[string]*Local{}}
	err := p.next()
	if err == nil {
		err = p.kernel()
	}
	if err != nil {
		return nil, fmt.Errorf("kernel text, line %d: %w", p.scan.line, err)
	}
	return p.k, nil
}

// maxNesting bounds the recursion of the parser.
const maxNesting = 500

type parser struct {
	scan    scanner
	tok     token
	depth   int
	k       *Kernel
	symbols map[string]ir.Dim
	params  map[string]int
	vars    map[string]*Var
	locals  map[string]*Local
	shared  []*Expr // values %0, %1, ... of the statement that follows
}

func (p *parser) next() (err error) {
	p.tok, err = p.scan.next()
	return err
}

// accept steps over the token if it is the operator or word text.
func (p *parser) accept(text string) (bool, error) {
	if p.tok.text != text || p.tok.kind != tokenOperator && p.tok.kind != tokenWord {
		return false, nil
	}
	return true, p.next()
}

func (p *parser) expect(text string) error {
	ok, err := p.accept(text)
	if err == nil && !ok {
		err = fmt.Errorf("%q instead of %q", p.tok.text, text)
	}
	return err
}

func (p *parser) word() (string, error) {
	s := p.tok.text
	if p.tok.kind != tokenWord {
		return "", fmt.Errorf("%q instead of a name", s)
	}
	return s, p.next()
}

// integer reads a decimal that may be negative.
func (p *parser) integer() (int64, error) {
	neg, err := p.accept("-")
	if err != nil {
		return 0, err
	}
	s := p.tok.text
	if p.tok.kind != tokenNumber {
		return 0, fmt.Errorf("%q instead of a number", s)
	}
	if neg {
		s = "-" + s
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, err
	}
	return n, p.next()
}

func (p *parser) kernel() error {
	if err := p.expect("kernel"); err != nil {
		return err
	}
	if p.tok.kind != tokenString {
		return fmt.Errorf("%q instead of the quoted name", p.tok.text)
	}
	p.k.Name = p.tok.text
	if err := p.next(); err != nil {
		return err
	}
	for _, line := range []struct {
		word string
		read func() error
	}{{"slots", p.slots}, {"symbol", p.symbol}, {"param", p.param}} {
		for {
			if ok, err := p.accept(line.word); err != nil {
				return err
			} else if !ok {
				break
			}
			if err := line.read(); err != nil {
				return err
			}
		}
	}
	var err error
	p.k.Body, err = p.body()
	if err == nil && p.tok.kind != tokenEnd {
		err = fmt.Errorf("%q instead of a statement", p.tok.text)
	}
	return err
}

func (p *parser) slots() error {
	n, err := p.integer()
	p.k.Slots = int(n)
	return err
}

func (p *parser) symbol() error {
	name, err := p.word()
	if err != nil {
		return err
	}
	lo, err := p.integer()
	if err != nil {
		return err
	}
	hi, err := p.integer()
	if _, ok := p.symbols[name]; ok {
		return fmt.Errorf("symbol %s comes twice", name)
	}
	p.symbols[name] = ir.Sym(name, int(lo), int(hi))
	return err
}

func (p *parser) param() error {
	name, err := p.word()
	if err != nil {
		return err
	}
	dtype, err := p.word()
	if err != nil {
		return err
	}
	d, err := ir.ParseDType(dtype)
	if err != nil {
		return err
	}
	if err := p.expect("["); err != nil {
		return err
	}
	size, err := p.dim()
	if err != nil {
		return err
	}
	if err := p.expect("]"); err != nil {
		return err
	}
	word, err := p.word()
	if err != nil {
		return err
	}
	use := find(useNames[:], word)
	if use == 0 {
		return fmt.Errorf("a param is not %q", word)
	}
	if err := p.fresh(name); err != nil {
		return err
	}
	p.params[name] = len(p.k.Params)
	p.k.Params = append(p.k.Params, Param{Name: name, DType: d, Len: size, Use: Use(use)})
	return nil
}

// fresh refuses names that mean something already.
func (p *parser) fresh(name string) error {
	_, isParam := p.params[name]
	if isParam || p.vars[name] != nil || p.locals[name] != nil || reserved[name] {
		return fmt.Errorf("the name %s is taken", name)
	}
	return nil
}

// find gives the position of a word among names, 0 if it is none of them.
func find(names []string, word string) int {
	for i, s := range names {
		if s == word && s != "" {
			return i
		}
	}
	return 0
}

// dim reads a polynomial: 2*B*T+N-1.
func (p *parser) dim() (ir.Dim, error) {
	sum, err := p.product()
	for err == nil {
		var plus bool
		if plus, err = p.accept("+"); err != nil {
			break
		}
		if !plus && (p.tok.kind != tokenOperator || p.tok.text != "-") {
			return sum, nil
		}
		var t ir.Dim
		t, err = p.product()
		sum = sum.Add(t)
	}
	return sum, err
}

// product reads a term of a size with its sign.
func (p *parser) product() (ir.Dim, error) {
	d := ir.N(1)
	if p.tok.text == "-" && p.scan.peekLetter() {
		if err := p.next(); err != nil {
			return d, err
		}
		d = ir.N(-1)
	}
	for {
		if p.tok.kind == tokenWord {
			s, ok := p.symbols[p.tok.text]
			if !ok {
				return d, fmt.Errorf("unknown symbol %s", p.tok.text)
			}
			d = d.Mul(s)
			if err := p.next(); err != nil {
				return d, err
			}
		} else {
			n, err := p.integer()
			if err != nil {
				return d, err
			}
			d = d.Mul(ir.N(int(n)))
		}
		if more, err := p.accept("*"); err != nil || !more {
			return d, err
		}
	}
}

func (p *parser) body() ([]Stmt, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	var body []Stmt
	for p.tok.kind == tokenWord || p.tok.kind == tokenValue {
		if p.tok.kind == tokenValue {
			if err := p.value(); err != nil {
				return nil, err
			}
			continue
		}
		s, err := p.stmt()
		if err != nil {
			return nil, err
		}
		p.shared = nil
		body = append(body, s)
	}
	return body, nil
}

// value reads %n = expr.
func (p *parser) value() error {
	if want := strconv.Itoa(len(p.shared)); p.tok.text != want {
		return fmt.Errorf("%%%s instead of %%%s", p.tok.text, want)
	}
	if err := p.next(); err != nil {
		return err
	}
	if err := p.expect("="); err != nil {
		return err
	}
	e, err := p.expr(0)
	p.shared = append(p.shared, e)
	return err
}

func (p *parser) stmt() (Stmt, error) {
	name, err := p.word()
	if err != nil {
		return nil, err
	}
	if name == "for" {
		return p.loop()
	}
	if param, ok := p.params[name]; ok {
		index, valid, err := p.element()
		if err != nil {
			return nil, err
		}
		if err := p.expect("="); err != nil {
			return nil, err
		}
		value, err := p.expr(0)
		return &Store{Param: param, Index: index, Value: value, Valid: valid}, err
	}
	if p.tok.kind == tokenWord {
		return p.acc(name)
	}
	if err := p.expect("="); err != nil {
		return nil, err
	}
	value, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	l := p.locals[name]
	if l == nil {
		if err := p.fresh(name); err != nil {
			return nil, err
		}
		l = &Local{Name: name, DType: value.DType}
		p.locals[name] = l
	}
	return &Set{Local: l, Value: value}, nil
}

func (p *parser) acc(name string) (Stmt, error) {
	l := p.locals[name]
	if l == nil {
		return nil, fmt.Errorf("local %s is accumulated before it is set", name)
	}
	op := ir.ParseOp(p.tok.text)
	if op == ir.NoOp {
		return nil, fmt.Errorf("unknown operation %q", p.tok.text)
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	if err := p.expect("="); err != nil {
		return nil, err
	}
	value, err := p.expr(0)
	return &Acc{Local: l, Op: op, Value: value}, err
}

func (p *parser) loop() (Stmt, error) {
	word, err := p.word()
	if err != nil {
		return nil, err
	}
	r := find(rangeNames[:], word)
	if r == 0 {
		return nil, fmt.Errorf("a loop is not %q", word)
	}
	name, err := p.word()
	if err != nil {
		return nil, err
	}
	l := &Loop{Range: Range(r)}
	if ok, err := p.accept("="); err != nil {
		return nil, err
	} else if ok {
		if l.Lo, err = p.expr(0); err != nil {
			return nil, err
		}
		err = p.expect("to")
		if err != nil {
			return nil, err
		}
	} else if err := p.expect("<"); err != nil {
		return nil, err
	}
	if l.Hi, err = p.expr(0); err != nil {
		return nil, err
	}
	p.shared = nil
	if l.Var = p.vars[name]; l.Var == nil {
		if err := p.fresh(name); err != nil {
			return nil, err
		}
		l.Var = &Var{Name: name}
		p.vars[name] = l.Var
	}
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	if l.Body, err = p.body(); err != nil {
		return nil, err
	}
	return l, p.expect("}")
}

// element reads [index] or [index ? valid].
func (p *parser) element() (index, valid *Expr, err error) {
	if err = p.expect("["); err != nil {
		return nil, nil, err
	}
	if index, err = p.expr(0); err != nil {
		return nil, nil, err
	}
	ok, err := p.accept("?")
	if err == nil && ok {
		valid, err = p.expr(0)
	}
	if err != nil {
		return nil, nil, err
	}
	return index, valid, p.expect("]")
}

// expr reads operators that bind at least as tightly as level.
func (p *parser) expr(level int) (*Expr, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	if level > 2 {
		return p.primary()
	}
	x, err := p.expr(level + 1)
	for err == nil {
		op := p.operator(level)
		if op == ir.NoOp {
			break
		}
		if err = p.next(); err != nil {
			break
		}
		var y *Expr
		if y, err = p.expr(level + 1); err == nil {
			x = Apply(op, resultType(op, []*Expr{x, y}), x, y)
		}
		if level == 0 { // comparisons do not chain
			break
		}
	}
	return x, err
}

// operator is the operation of the token if that is infix at level.
func (p *parser) operator(level int) ir.Op {
	if p.tok.kind == tokenOperator {
		switch [2]any{p.tok.text, level} {
		case [2]any{"<", 0}:
			return ir.Less
		case [2]any{"==", 0}:
			return ir.Equal
		case [2]any{"+", 1}:
			return ir.Add
		case [2]any{"-", 1}:
			return ir.Sub
		case [2]any{"*", 2}:
			return ir.Mul
		case [2]any{"/", 2}:
			return ir.Div
		}
	}
	return ir.NoOp
}

// resultType is the type of op's result unless it is a Cast.
func resultType(op ir.Op, args []*Expr) ir.DType {
	switch {
	case op == ir.Less || op == ir.Equal:
		return ir.Bool
	case op == ir.Where && len(args) > 1:
		return args[1].DType
	case len(args) > 0:
		return args[0].DType
	}
	return ir.NoType
}

func (p *parser) primary() (*Expr, error) {
	text := p.tok.text
	switch {
	case p.tok.kind == tokenNumber || p.tok.kind == tokenOperator && text == "-":
		n, err := p.integer()
		return Const(ir.I64, uint64(n)), err
	case p.tok.kind == tokenValue:
		n, err := strconv.Atoi(text)
		if err != nil || n >= len(p.shared) {
			return nil, fmt.Errorf("value %%%s is not set", text)
		}
		return p.shared[n], p.next()
	case p.tok.kind == tokenWord:
		if err := p.next(); err != nil {
			return nil, err
		}
		return p.named(text)
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	e, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	return e, p.expect(")")
}

// named reads what begins with a word, which was stepped over.
func (p *parser) named(word string) (*Expr, error) {
	if i, ok := p.params[word]; ok {
		index, valid, err := p.element()
		return Load(i, p.k.Params[i].DType, index, valid), err
	}
	if v := p.vars[word]; v != nil {
		return v.Ref(), nil
	}
	if l := p.locals[word]; l != nil {
		return l.Ref(), nil
	}
	if word == "true" {
		return Const(ir.Bool, 1), nil
	}
	if word == "false" {
		return Const(ir.Bool, 0), nil
	}
	op := ir.ParseOp(word)
	var to ir.DType
	if op == ir.Cast || op == ir.Bitcast {
		if err := p.expect("."); err != nil {
			return nil, err
		}
		name, err := p.word()
		if err != nil {
			return nil, err
		}
		if to, err = ir.ParseDType(name); err != nil {
			return nil, err
		}
	}
	d, notType := ir.ParseDType(word)
	if op == ir.NoOp && notType != nil && word != "size" && word != "index" {
		return nil, fmt.Errorf("unknown name %s", word)
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	e, err := p.call(word, op, to, d)
	if err != nil {
		return nil, err
	}
	return e, p.expect(")")
}

// call reads what stands in the parentheses after a word.
func (p *parser) call(word string, op ir.Op, to, d ir.DType) (*Expr, error) {
	switch {
	case word == "size":
		n, err := p.dim()
		return &Expr{Kind: KindSize, DType: ir.I64, Size: n}, err
	case word == "index":
		return p.index()
	case d != ir.NoType:
		bits, err := p.bits(d)
		return Const(d, bits), err
	}
	var args []*Expr
	for {
		a, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		args = append(args, a)
		if more, err := p.accept(","); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	if to == ir.NoType {
		to = resultType(op, args)
	}
	return Apply(op, to, args...), nil
}

func (p *parser) index() (*Expr, error) {
	x, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	size, err := p.dim()
	if err != nil {
		return nil, err
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	slot, err := p.integer()
	return Index(x, size, int(slot)), err
}

// bits reads a number of type d.
func (p *parser) bits(d ir.DType) (uint64, error) {
	sign := ""
	if neg, err := p.accept("-"); err != nil {
		return 0, err
	} else if neg {
		sign = "-"
	}
	s := p.tok.text
	if p.tok.kind != tokenNumber && s != "inf" {
		return 0, fmt.Errorf("%q instead of a number", s)
	}
	bits, err := parseBits(d, sign, s)
	if err != nil {
		return 0, err
	}
	return bits, p.next()
}

func parseBits(d ir.DType, sign, s string) (uint64, error) {
	size := 8 * d.Size()
	switch {
	case len(s) > 2 && s[:2] == "0x" && sign == "":
		return strconv.ParseUint(s[2:], 16, size)
	case d == ir.F64:
		f, err := strconv.ParseFloat(sign+s, 64)
		return math.Float64bits(f), err
	case d.IsFloat():
		f, err := strconv.ParseFloat(sign+s, 32)
		if err != nil {
			return 0, err
		}
		return ir.Bits(d, f)
	case d.IsUnsigned():
		return strconv.ParseUint(sign+s, 10, size)
	case d.IsInt():
		n, err := strconv.ParseInt(sign+s, 10, size)
		return uint64(n) << (64 - size) >> (64 - size), err
	}
	return 0, fmt.Errorf("%s%s is no %v", sign, s, d)
}
