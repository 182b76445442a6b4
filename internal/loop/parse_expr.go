package loop

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sinterml/sinter/internal/ir"
)

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
