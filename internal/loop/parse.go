package loop

import (
	"fmt"
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
