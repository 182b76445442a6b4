package ptxsim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// instruction is a line of a function's body, taken apart.
type instruction struct {
	line  int
	text  string
	guard string // a predicate, "" for none
	not   bool   // guarded by its opposite
	name  string // up to the first dot
	mods  []string
	args  []string
}

// has tells whether a modifier is there.
func (x *instruction) has(mod string) bool {
	for _, m := range x.mods {
		if m == mod {
			return true
		}
	}
	return false
}

// kind is the last modifier: the type of most instructions.
func (x *instruction) kind() string {
	if len(x.mods) == 0 {
		return ""
	}
	return x.mods[len(x.mods)-1]
}

// register is a declared one.
type register struct {
	kind string // its type
	row  int    // or the number of the predicate
}

// parser reads a module, one statement a line.
type parser struct {
	m     *Module
	f     *Function // nil outside
	in    bool      // between the braces
	line  int
	text  string
	regs  map[string]register
	label map[string]int    // to the instruction behind it
	place map[string]uint64 // addresses of shared and local memory, and of params that are arrays
	body  []instruction
}

// Load parses the text of a module.
func Load(text string) (*Module, error) {
	p := &parser{m: &Module{functions: map[string]*Function{}}}
	for i, line := range strings.Split(text, "\n") {
		p.line = i + 1
		line, _, _ = strings.Cut(line, "//")
		if p.text = strings.TrimSpace(line); p.text == "" {
			continue
		}
		if err := p.statement(); err != nil {
			return nil, fmt.Errorf("ptxsim: line %d %q: %w", p.line, p.text, err)
		}
	}
	switch {
	case p.f != nil:
		return nil, fmt.Errorf("ptxsim: function %s does not end", p.f.Name)
	case p.m.Version == "" || p.m.Target == "":
		return nil, errors.New("ptxsim: .version and .target must stand at the head")
	}
	return p.m, nil
}

func (p *parser) statement() error {
	t := p.text
	switch {
	case !p.in:
		return p.outside(t)
	case t == "}":
		return p.finish()
	case strings.HasSuffix(t, ":"):
		name := t[:len(t)-1]
		if _, ok := p.label[name]; ok {
			return errors.New("this label is there twice")
		}
		p.label[name] = len(p.body)
		return nil
	case !strings.HasSuffix(t, ";"):
		return errors.New("a statement without end")
	}
	t = strings.TrimSpace(t[:len(t)-1])
	switch {
	case strings.HasPrefix(t, ".reg "):
		return p.registers(strings.TrimSpace(t[5:]))
	case strings.HasPrefix(t, ".shared "):
		return p.array(t, p.place, &p.f.Shared, sharedBase)
	case strings.HasPrefix(t, ".local "):
		return p.array(t, p.place, &p.f.local, localBase)
	case strings.HasPrefix(t, ".pragma "):
		return nil
	}
	return p.instruction(t)
}

// outside reads what stands between functions, and their heads.
func (p *parser) outside(t string) error {
	word, rest, _ := strings.Cut(t, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case ".version":
		p.m.Version = rest
	case ".target":
		p.m.Target = rest
	case ".address_size":
		if rest != "64" {
			return errors.New("addresses have 64 bits")
		}
	case ".extern":
		name, ok := strings.CutSuffix(t, "[];")
		if !ok || !strings.HasPrefix(rest, ".shared ") {
			return errors.New("only shared memory is declared elsewhere")
		}
		p.m.dynamic = name[strings.LastIndexByte(name, ' ')+1:]
	case ".visible":
		name, ok := strings.CutPrefix(rest, ".entry ")
		if !ok {
			return errors.New("not an entry point")
		}
		name, rest, _ = strings.Cut(name, "(")
		p.begin(strings.TrimSpace(name))
		if rest != "" && rest != ")" {
			return errors.New("params stand in lines of their own")
		}
	case ".param":
		return p.param(rest)
	case ".maxntid", ".reqntid":
		return p.threads(rest)
	case ".minnctapersm", ".maxnreg", ")":
	case "{":
		if p.f == nil {
			return errors.New("no function begins here")
		}
		p.in = true
	default:
		return errors.New("not understood")
	}
	return nil
}

func (p *parser) begin(name string) {
	p.f = &Function{Name: name, module: p.m, special: map[string]int{}, unit: 16}
	p.regs, p.label, p.place, p.body = map[string]register{}, map[string]int{}, map[string]uint64{}, nil
}

func (p *parser) threads(rest string) error {
	p.f.Threads = 1
	for _, s := range strings.Split(rest, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return err
		}
		p.f.Threads *= n
	}
	return nil
}

func (p *parser) param(rest string) error {
	if p.f == nil {
		return errors.New("not a param")
	}
	rest = strings.TrimSuffix(rest, ",")
	if strings.HasPrefix(rest, ".align ") {
		place := map[string]uint64{}
		if err := p.array(".param "+rest, place, &p.f.args, 0); err != nil {
			return err
		}
		for name, at := range place {
			p.f.Params = append(p.f.Params, Param{Name: name, Offset: int(at), Size: p.f.args - int(at)})
			p.place[name] = at
		}
		return nil
	}
	kind, name, ok := strings.Cut(rest, " ")
	size := sizeOf(strings.TrimPrefix(kind, "."))
	if !ok || size == 0 {
		return errors.New("not a param")
	}
	p.f.args = (p.f.args + size - 1) / size * size
	p.f.Params = append(p.f.Params, Param{Name: strings.TrimSpace(name), Offset: p.f.args, Size: size})
	p.f.args += size
	return nil
}

// sizeOf is the bytes of a type, 0 for none.
func sizeOf(kind string) int {
	switch strings.TrimLeft(kind, "busf") {
	case "8":
		return 1
	case "16":
		return 2
	case "32":
		return 4
	case "64":
		return 8
	}
	return 0
}

// registers reads ".t %r<5>" and ".t %a, %b".
func (p *parser) registers(t string) error {
	kind, names, ok := strings.Cut(t, " ")
	kind = strings.TrimPrefix(kind, ".")
	if !ok || kind != "pred" && sizeOf(kind) < 2 {
		return errors.New("no type of registers")
	}
	add := func(name string) {
		r := register{kind: kind, row: p.f.rows}
		if kind == "pred" {
			r.row = p.f.preds
			p.f.preds++
		} else {
			p.f.rows++
		}
		p.regs[name] = r
	}
	for _, name := range strings.Split(names, ",") {
		name, count, many := strings.Cut(strings.TrimSpace(name), "<")
		if !many {
			add(name)
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(count, ">"))
		if err != nil || n > 1<<16 {
			return errors.New("no number of registers")
		}
		for i := range n {
			add(name + strconv.Itoa(i))
		}
	}
	return nil
}

// array reads ".shared .align 16 .b8 name[64]" and puts it behind the bytes of
// the state space that are taken.
func (p *parser) array(t string, place map[string]uint64, taken *int, base uint64) error {
	var align, n int
	name, size, ok := strings.Cut(t, "[")
	words := strings.Fields(name)
	if !ok || len(words) != 5 || words[1] != ".align" || words[3] != ".b8" {
		return errors.New("not understood")
	}
	align, err := strconv.Atoi(words[2])
	if err == nil {
		n, err = strconv.Atoi(strings.TrimSuffix(size, "]"))
	}
	if err != nil || align <= 0 || align > 1024 || n < 0 || n > 1<<20 {
		return errors.New("no size")
	}
	*taken = (*taken + align - 1) / align * align
	place[words[4]] = base + uint64(*taken)
	*taken += n
	return nil
}

func (p *parser) instruction(t string) error {
	x := instruction{line: p.line, text: p.text}
	if strings.HasPrefix(t, "@") {
		x.guard, t, _ = strings.Cut(t[1:], " ")
		x.guard, x.not = strings.CutPrefix(x.guard, "!")
		if p.regs[x.guard].kind != "pred" {
			return fmt.Errorf("%s is no predicate", x.guard)
		}
	}
	op, rest, _ := strings.Cut(strings.TrimSpace(t), " ")
	words := strings.Split(op, ".")
	x.name, x.mods = words[0], words[1:]
	x.args = splitArgs(rest)
	p.body = append(p.body, x)
	return nil
}

// splitArgs cuts at commas outside of brackets.
func splitArgs(s string) []string {
	var out []string
	depth, start := 0, 0
	for i, c := range s {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(s[start:]); last != "" {
		out = append(out, last)
	}
	return out
}

// finish decodes the body, once all labels are known.
func (p *parser) finish() error {
	if _, ok := p.m.functions[p.f.Name]; ok {
		return fmt.Errorf("there are two functions %s", p.f.Name)
	}
	d := &decoder{parser: p, values: map[uint64]int{}}
	for i := range p.body {
		x := &p.body[i]
		s, err := d.step(x)
		if err != nil {
			return fmt.Errorf("line %d %q: %w", x.line, x.text, err)
		}
		p.f.code = append(p.f.code, s)
	}
	if err := p.overlaps(); err != nil {
		return err
	}
	// A function may end without ret.
	p.f.code = append(p.f.code, step{flow: exits, guard: -1, source: &instruction{name: "ret", text: "}", line: p.line}})
	p.m.functions[p.f.Name] = p.f
	p.f, p.in = nil, false
	return nil
}

// overlaps refuses what drivers call a function for, beside products by groups of
// warps: with it in their kernel each product waits for the one before.
func (p *parser) overlaps() error {
	multiplies := func(x instruction) bool { return x.name == "wgmma" }
	if !slices.ContainsFunc(p.body, multiplies) {
		return nil
	}
	for _, x := range p.body {
		switch op := x.name + "." + strings.Join(x.mods, "."); op {
		case "div.u64", "div.s64", "rem.u64", "rem.s64", "div.rn.f32", "rcp.rn.f32", "sqrt.rn.f32", "div.rn.f64", "rcp.rn.f64", "sqrt.rn.f64":
			return fmt.Errorf("%q in line %d calls a function, which has wgmma wait", x.text, x.line)
		}
	}
	return nil
}
