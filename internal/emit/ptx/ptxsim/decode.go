package ptxsim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// decoder turns instructions of a function into steps.
type decoder struct {
	*parser
	values map[uint64]int // rows of constants
}

// since is an error where the program is in an older version of the language.
func (d *decoder) since(version float64) error {
	if v, err := strconv.ParseFloat(d.m.Version, 64); err != nil || v < version {
		return fmt.Errorf("this needs .version %.1f, not %q", version, d.m.Version)
	}
	return nil
}

// step decodes one instruction.
func (d *decoder) step(x *instruction) (step, error) {
	s := step{guard: -1, not: x.not, source: x}
	if x.guard != "" {
		s.guard = d.regs[x.guard].row
	}
	var err error
	switch x.name {
	case "bra":
		s.flow = branches
		s.to, err = d.target(x)
	case "ret", "exit":
		s.flow = exits
		err = x.want(0)
	case "bar", "barrier":
		if x.has("warp") { // orders what the lanes of a warp did
			if len(x.args) != 1 || x.args[0] != "0xffffffff" {
				return s, errors.New("only bar.warp.sync of all lanes")
			}
			at := &step{source: x}
			s.run = func(w *warp, m uint32) {
				if w.together(at, m) {
					w.tick()
				}
			}
			return s, nil
		}
		s.flow = waits
		if x.guard != "" {
			err = errors.New("a barrier under a condition")
		} else if !x.has("sync") || len(x.args) != 1 || x.args[0] != "0" {
			err = errors.New("only bar.sync 0")
		}
	default:
		s.run, err = d.run(x)
	}
	return s, err
}

func (x *instruction) want(n int) error {
	if len(x.args) != n {
		return fmt.Errorf("%d operands, not %d", len(x.args), n)
	}
	return nil
}

func (d *decoder) target(x *instruction) (int, error) {
	if err := x.want(1); err != nil {
		return 0, err
	}
	to, ok := d.label[x.args[0]]
	if !ok {
		return 0, fmt.Errorf("there is no label %s", x.args[0])
	}
	return to, nil
}

type run = func(w *warp, m uint32)

// run decodes what does not change the flow.
func (d *decoder) run(x *instruction) (run, error) {
	switch x.name {
	case "ld":
		if x.has("param") {
			return d.loadParam(x)
		}
		return d.load(x)
	case "st":
		return d.store(x)
	case "cp":
		if x.has("bulk") {
			return d.copyTensor(x)
		}
		return d.copyAsync(x)
	case "prefetch":
		return d.prefetch(x)
	case "ldmatrix":
		return d.loadMatrix(x)
	case "mma":
		return d.multiply(x)
	case "mbarrier":
		return d.phase(x)
	case "fence":
		return d.fence(x)
	case "wgmma":
		return d.wgmma(x)
	case "shfl":
		return d.shuffle(x)
	case "vote":
		return d.vote(x)
	case "mov":
		return d.move(x)
	case "setp":
		return d.compare(x)
	case "selp":
		return d.choose(x)
	case "cvt":
		return d.convert(x)
	case "cvta":
		switch strings.Join(x.mods, ".") {
		case "to.global.u64":
			return d.pure(x, "u64", func(d, a, _, _ *row) { *d = *a }, "u64")
		case "param.u64":
			return d.pure(x, "u64", func(d, a, _, _ *row) {
				for i := range d {
					d[i] = paramBase + a[i]
				}
			}, "u64")
		}
		return nil, errors.New("only cvta.to.global.u64 and cvta.param.u64")
	}
	if x.kind() == "pred" {
		return d.logic(x)
	}
	return d.arithmetic(x)
}

// pure makes an instruction that computes a register from up to three others
// and can do so in all lanes.
func (d *decoder) pure(x *instruction, kind string, f func(d, a, b, c *row), kinds ...string) (run, error) {
	if err := x.want(1 + len(kinds)); err != nil {
		return nil, err
	}
	to, err := d.register(x.args[0], kind)
	if err != nil {
		return nil, err
	}
	var at [3]int
	for i, k := range kinds {
		if at[i], err = d.value(x.args[1+i], k); err != nil {
			return nil, err
		}
	}
	switch len(kinds) {
	case 1:
		at[1], at[2] = at[0], at[0]
	case 2:
		at[2] = at[0]
	}
	return func(w *warp, m uint32) {
		f(w.result(to, m), &w.rows[at[0]], &w.rows[at[1]], &w.rows[at[2]])
		w.keep(to, m)
	}, nil
}

// register finds one that fits a type.
func (d *decoder) register(name, kind string) (int, error) {
	r, ok := d.regs[name]
	if !ok {
		return 0, fmt.Errorf("%s is no register", name)
	}
	if !fits(r.kind, kind) {
		return 0, fmt.Errorf("%s is a register of type %s, not %s", name, r.kind, kind)
	}
	return r.row, nil
}

// predicate finds one.
func (d *decoder) predicate(name string) (int, error) {
	r, ok := d.regs[name]
	if !ok || r.kind != "pred" {
		return 0, fmt.Errorf("%s is no predicate", name)
	}
	return r.row, nil
}

// fits tells whether a register takes part as a type: of the same size, and
// not a float where an integer is meant.
func fits(have, want string) bool {
	if have == "pred" || want == "pred" {
		return have == want
	}
	return sizeOf(have) == sizeOf(want) && (have[0] == 'b' || want[0] == 'b' || (have[0] == 'f') == (want[0] == 'f'))
}

// value finds the row of an operand: a register, a constant, a special
// register, or the address of shared or local memory.
func (d *decoder) value(arg, kind string) (int, error) {
	if arg == "" {
		return 0, errors.New("an operand is missing")
	}
	if _, ok := d.regs[arg]; ok {
		return d.register(arg, kind)
	}
	if arg[0] == '%' {
		return d.specialRow(arg, kind)
	}
	if at, ok := d.place[arg]; ok {
		return d.constant(at), nil
	}
	if arg == d.m.dynamic {
		d.f.dynamic = true
		at := (d.f.Shared + dynamicAlign - 1) / dynamicAlign * dynamicAlign
		return d.constant(uint64(sharedBase + at)), nil
	}
	bits, err := immediate(arg, kind)
	if err != nil {
		return 0, err
	}
	return d.constant(bits), nil
}

var specials = map[string]bool{
	"%tid.x": true, "%tid.y": true, "%tid.z": true, "%ntid.x": true, "%ntid.y": true, "%ntid.z": true, "%laneid": true,
	"%ctaid.x": true, "%ctaid.y": true, "%ctaid.z": true, "%nctaid.x": true, "%nctaid.y": true, "%nctaid.z": true,
}

func (d *decoder) specialRow(name, kind string) (int, error) {
	if !specials[name] || sizeOf(kind) != 4 {
		return 0, fmt.Errorf("%s is no register of type %s", name, kind)
	}
	if _, ok := d.f.special[name]; !ok {
		d.f.special[name] = d.newRow()
	}
	return d.f.special[name], nil
}

func (d *decoder) newRow() int {
	d.f.rows++
	return d.f.rows - 1
}

func (d *decoder) constant(bits uint64) int {
	at, ok := d.values[bits]
	if !ok {
		at = d.newRow()
		d.values[bits] = at
		d.f.consts = append(d.f.consts, constant{at, bits})
	}
	return at
}

// immediate reads a number of a type.
func immediate(s, kind string) (uint64, error) {
	size := sizeOf(kind)
	for prefix, n := range map[string]int{"0f": 4, "0F": 4, "0d": 8, "0D": 8} {
		if digits, ok := strings.CutPrefix(s, prefix); ok && n == size {
			return strconv.ParseUint(digits, 16, 8*n)
		}
	}
	if kind[0] == 'f' {
		return 0, fmt.Errorf("%s is no constant of type %s", s, kind)
	}
	v, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		u, err := strconv.ParseUint(strings.TrimSuffix(s, "U"), 0, 64)
		if err != nil {
			return 0, fmt.Errorf("%s is no constant", s)
		}
		v = int64(u)
	}
	if size < 8 && (v < -1<<(8*size-1) || v >= 1<<(8*size)) {
		return 0, fmt.Errorf("%s does not fit %s", s, kind)
	}
	return uint64(v) & mask(size), nil
}

// mask keeps the low bytes.
func mask(size int) uint64 { return ^uint64(0) >> (64 - 8*size) }

// vector takes "{%a, %b}" apart; one register stands for itself.
func vector(s string) []string {
	if !strings.HasPrefix(s, "{") {
		return []string{s}
	}
	var all []string
	for _, e := range strings.Split(strings.Trim(s, "{}"), ",") {
		all = append(all, strings.TrimSpace(e))
	}
	return all
}

// registersOf finds those of a vector.
func (d *decoder) registersOf(arg, kind string, n int) ([]int, error) {
	names := vector(arg)
	if len(names) != n {
		return nil, fmt.Errorf("%d registers, not %d: %s", len(names), n, arg)
	}
	var all []int
	for _, name := range names {
		r, err := d.register(name, kind)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
