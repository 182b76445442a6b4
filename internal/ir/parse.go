package ir

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Parse reads what Graph.String prints. Types are inferred anew: one that the
// text gets wrong is an error. Equal nodes merge and what no output needs is
// dropped, as a Builder does; node references may be any word; blank lines and
// lines that start with # are skipped.
func Parse(text string) (*Graph, error) {
	p := parser{symbols: map[string]Symbol{}, nodes: map[string]*Node{}}
	for text != "" && p.graph == nil {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		p.line++
		if err := p.parseLine(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
	}
	switch {
	case p.graph == nil:
		return nil, errors.New("the graph has no return line")
	case strings.TrimSpace(text) != "":
		return nil, fmt.Errorf("line %d: text after return", p.line+1)
	}
	return p.graph, nil
}

type parser struct {
	line    int
	begun   bool // past the line "graph"
	symbols map[string]Symbol
	leaves  []Leaf
	builder *Builder // nil until the first node
	nodes   map[string]*Node
	graph   *Graph
}

func (p *parser) parseLine(s string) error {
	if s == "" || s[0] == '#' {
		return nil
	}
	if !p.begun {
		if s != "graph" {
			return fmt.Errorf("want graph, found %q", s)
		}
		p.begun = true
		return nil
	}
	word, rest, _ := strings.Cut(s, " ")
	switch {
	case word == "symbol":
		return p.parseSymbol(rest)
	case word == "leaf":
		return p.parseLeaf(rest)
	case word == "return":
		return p.parseReturn(rest)
	case word[0] == '%':
		return p.parseNode(s)
	}
	return fmt.Errorf("unknown line %q", word)
}

// parseSymbol reads: NAME MIN MAX.
func (p *parser) parseSymbol(s string) error {
	f := strings.Fields(s)
	if len(f) != 3 {
		return errors.New("want symbol NAME MIN MAX")
	}
	lo, err1 := strconv.ParseInt(f[1], 10, 64)
	hi, err2 := strconv.ParseInt(f[2], 10, 64)
	sym := Symbol{f[0], lo, hi}
	if err := errors.Join(err1, err2, sym.Check()); err != nil {
		return err
	}
	if _, ok := p.symbols[sym.Name]; ok {
		return fmt.Errorf("symbol %s comes twice", sym.Name)
	}
	p.symbols[sym.Name] = sym
	return nil
}

// parseLeaf reads: NUMBER KIND "NAME" TYPE.
func (p *parser) parseLeaf(s string) error {
	if p.builder != nil {
		return errors.New("leaves come before nodes")
	}
	number, s, _ := strings.Cut(s, " ")
	if number != strconv.Itoa(len(p.leaves)) {
		return fmt.Errorf("leaf %q, want %d", number, len(p.leaves))
	}
	kind, s, _ := strings.Cut(s, " ")
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return fmt.Errorf("the name of leaf %s: %w", number, err)
	}
	l := Leaf{Kind: ParseOp(kind)}
	if !l.Kind.isLeafKind() {
		return fmt.Errorf("%q is no kind of leaf", kind)
	}
	if l.Name, err = strconv.Unquote(quoted); err != nil {
		return err
	}
	if l.Type, err = p.parseType(strings.TrimSpace(s[len(quoted):])); err != nil {
		return err
	}
	p.leaves = append(p.leaves, l)
	return nil
}

func (p *parser) parseReturn(s string) error {
	var outs []*Node
	for _, f := range strings.Fields(s) {
		n, err := p.ref(f)
		if err != nil {
			return err
		}
		outs = append(outs, n)
	}
	if len(outs) == 0 {
		return errors.New("nothing is returned")
	}
	p.graph = p.builder.Finish(outs...)
	return nil
}

func (p *parser) ref(s string) (*Node, error) {
	if n := p.nodes[s]; n != nil && s[0] == '%' {
		return n, nil
	}
	return nil, fmt.Errorf("there is no node %q before this line", s)
}

// parseNode reads: %3 = add %1 %2 name=value : TYPE, TYPE.
func (p *parser) parseNode(s string) error {
	label, s, _ := strings.Cut(s, " = ")
	if len(label) < 2 || strings.ContainsAny(label, " \t") {
		return fmt.Errorf("want %%LABEL = OPERATION, found %q", label)
	}
	if p.nodes[label] != nil {
		return fmt.Errorf("node %s comes twice", label)
	}
	s, types, ok := cutLast(s, " : ")
	if !ok {
		return errors.New("the node has no type: want \" : dtype[sizes]\" at the end")
	}
	name, s, _ := strings.Cut(s, " ")
	op := ParseOp(name)
	if op == NoOp {
		return fmt.Errorf("unknown operation %q", name)
	}
	outs, err := p.parseTypes(types)
	if err != nil {
		return err
	}
	var in []*Node
	s = strings.TrimLeft(s, " ")
	for strings.HasPrefix(s, "%") {
		var word string
		word, s, _ = strings.Cut(s, " ")
		n, err := p.ref(word)
		if err != nil {
			return err
		}
		in = append(in, n)
		s = strings.TrimLeft(s, " ")
	}
	a, err := p.parseAttr(op, s, outs[0])
	if err != nil {
		return fmt.Errorf("%v: %w", op, err)
	}
	if p.builder == nil {
		p.builder = NewBuilder(p.leaves)
	}
	n, err := p.builder.Add(op, a, in...)
	if err != nil {
		return err
	}
	if len(outs) != op.Outputs() {
		return fmt.Errorf("%v has %d outputs, the line %d types", op, op.Outputs(), len(outs))
	}
	for i, t := range outs {
		if !n.Out(i).Equal(t) {
			return fmt.Errorf("%v gives %v, the line says %v", op, n.Out(i), t)
		}
	}
	p.nodes[label] = n
	return nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func (p *parser) parseTypes(s string) ([]Type, error) {
	var types []Type
	for part := range strings.SplitSeq(s, ", ") {
		t, err := p.parseType(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	return types, nil
}

// parseType reads f32[N 384].
func (p *parser) parseType(s string) (Type, error) {
	open := strings.IndexByte(s, '[')
	if open < 0 {
		return Type{}, fmt.Errorf("%q is no type", s)
	}
	d, err := ParseDType(s[:open])
	if err != nil {
		return Type{}, err
	}
	shape, err := p.parseShape(s[open:])
	return Type{d, shape}, err
}

// parseShape reads [3 N 2*B+1].
func (p *parser) parseShape(s string) (Shape, error) {
	f, err := listFields(s)
	if err != nil {
		return nil, err
	}
	if len(f) > maxRank {
		return nil, fmt.Errorf("rank %d is above %d", len(f), maxRank)
	}
	shape := make(Shape, len(f))
	for i, w := range f {
		if shape[i], err = p.parseDim(w); err != nil {
			return nil, err
		}
	}
	return shape, nil
}

func listFields(s string) ([]string, error) {
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return nil, fmt.Errorf("%q is no list in brackets", s)
	}
	return strings.Fields(s[1 : len(s)-1]), nil
}

// parseDim reads a sum of products: 2*B*T-N+1.
func (p *parser) parseDim(s string) (Dim, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Dim{c: n}, nil
	}
	var sum Dim
	for terms, rest := 0, s; rest != ""; terms++ {
		end := strings.IndexAny(rest[1:], "+-") + 1
		if end == 0 {
			end = len(rest)
		}
		t, err := p.parseTerm(rest[:end], terms == 0)
		if err != nil {
			return Dim{}, fmt.Errorf("size %q: %w", s, err)
		}
		sum, rest = sum.Add(t), rest[end:]
		if terms > maxTerms {
			return Dim{}, errors.New("a size has too many terms")
		}
	}
	return sum, nil
}

// parseTerm reads 2*B*T with a sign in front, which the first may lack.
func (p *parser) parseTerm(s string, first bool) (Dim, error) {
	d := N(1)
	switch {
	case s[0] == '-':
		d, s = N(-1), s[1:]
	case s[0] == '+' && !first:
		s = s[1:]
	}
	const maxDegree = 32
	if strings.Count(s, "*") > maxDegree {
		return Dim{}, fmt.Errorf("a term has more than %d factors", maxDegree)
	}
	for f := range strings.SplitSeq(s, "*") {
		if sym, ok := p.symbols[f]; ok {
			d = d.Mul(Dim{terms: []term{{1, []Symbol{sym}}}})
			continue
		}
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil || f[0] < '0' || f[0] > '9' {
			return Dim{}, fmt.Errorf("%q is neither a number nor a symbol of this graph", f)
		}
		d = d.Mul(Dim{c: n})
	}
	return d, nil
}
