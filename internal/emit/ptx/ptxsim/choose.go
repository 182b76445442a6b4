package ptxsim

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// move decodes mov: of a value, and between a register and its parts.
func (d *decoder) move(x *instruction) (run, error) {
	if err := x.want(2); err != nil {
		return nil, err
	}
	kind := x.kind()
	switch {
	case strings.HasPrefix(x.args[0], "{"):
		return d.split(x, kind)
	case strings.HasPrefix(x.args[1], "{"):
		return d.unite(x, kind)
	case kind == "pred":
		return nil, errors.New("a predicate cannot be moved")
	}
	return d.pure(x, kind, func(d, a, _, _ *row) { *d = *a }, kind)
}

// split is mov.b32 {%h0, %h1}, %r0 and the like.
func (d *decoder) split(x *instruction, kind string) (run, error) {
	parts := vector(x.args[0])
	size := sizeOf(kind) / len(parts)
	to, err := d.registersOf(x.args[0], fmt.Sprint("b", 8*size), len(parts))
	if err != nil {
		return nil, err
	}
	from, err := d.value(x.args[1], kind)
	if err != nil {
		return nil, err
	}
	k := mask(size)
	return func(w *warp, m uint32) {
		a := w.rows[from]
		for i, at := range to {
			r := w.result(at, m)
			for j := range r {
				r[j] = a[j] >> (8 * size * i) & k
			}
			w.keep(at, m)
		}
	}, nil
}

// unite is the other way round.
func (d *decoder) unite(x *instruction, kind string) (run, error) {
	parts := vector(x.args[1])
	size := sizeOf(kind) / len(parts)
	var from []int
	for _, p := range parts {
		r, err := d.value(p, fmt.Sprint("b", 8*size))
		if err != nil {
			return nil, err
		}
		from = append(from, r)
	}
	return d.pure1(x.args[0], kind, func(w *warp, d *row) {
		for j := range d {
			var v uint64
			for i, at := range from {
				v |= w.rows[at][j] << (8 * size * i)
			}
			d[j] = v
		}
	})
}

// pure1 makes an instruction with operands of its own.
func (d *decoder) pure1(arg, kind string, f func(w *warp, d *row)) (run, error) {
	to, err := d.register(arg, kind)
	if err != nil {
		return nil, err
	}
	return func(w *warp, m uint32) {
		f(w, w.result(to, m))
		w.keep(to, m)
	}, nil
}

// choose decodes selp.
func (d *decoder) choose(x *instruction) (run, error) {
	if err := x.want(4); err != nil {
		return nil, err
	}
	kind := x.kind()
	yes, err := d.value(x.args[1], kind)
	if err != nil {
		return nil, err
	}
	no, err := d.value(x.args[2], kind)
	if err != nil {
		return nil, err
	}
	p, err := d.predicate(x.args[3])
	if err != nil {
		return nil, err
	}
	return d.pure1(x.args[0], kind, func(w *warp, d *row) {
		a, b, c := &w.rows[yes], &w.rows[no], w.preds[p]
		for i := range d {
			if c>>i&1 != 0 {
				d[i] = a[i]
			} else {
				d[i] = b[i]
			}
		}
	})
}

// logic decodes operations on predicates.
func (d *decoder) logic(x *instruction) (run, error) {
	var at [3]int
	for i, a := range x.args {
		if i == len(at) {
			break
		}
		var err error
		if at[i], err = d.predicate(a); err != nil {
			return nil, err
		}
	}
	f := map[string]func(a, b uint32) uint32{
		"and": func(a, b uint32) uint32 { return a & b },
		"or":  func(a, b uint32) uint32 { return a | b },
		"xor": func(a, b uint32) uint32 { return a ^ b },
	}[x.name]
	n := 3
	if x.name == "not" {
		n, f = 2, func(a, _ uint32) uint32 { return ^a }
	}
	if f == nil {
		return nil, fmt.Errorf("no way to run %s of predicates", x.name)
	}
	if err := x.want(n); err != nil {
		return nil, err
	}
	return func(w *warp, m uint32) {
		v := f(w.preds[at[1]], w.preds[at[2]])
		w.preds[at[0]] = w.preds[at[0]]&^m | v&m
	}, nil
}

// compare decodes setp.
func (d *decoder) compare(x *instruction) (run, error) {
	if err := x.want(3); err != nil {
		return nil, err
	}
	if len(x.mods) != 2 {
		return nil, errors.New("setp takes a comparison and a type")
	}
	f := comparison(x.mods[0], x.mods[1])
	if f == nil {
		return nil, fmt.Errorf("no way to compare by %s", strings.Join(x.mods, "."))
	}
	to, err := d.predicate(x.args[0])
	if err != nil {
		return nil, err
	}
	a, err := d.value(x.args[1], x.mods[1])
	if err != nil {
		return nil, err
	}
	b, err := d.value(x.args[2], x.mods[1])
	if err != nil {
		return nil, err
	}
	return func(w *warp, m uint32) {
		var v uint32
		p, q := &w.rows[a], &w.rows[b]
		for left := m; left != 0; left &= left - 1 {
			i := bits.TrailingZeros32(left) & (lanes - 1)
			if f(p[i], q[i]) {
				v |= 1 << i
			}
		}
		w.preds[to] = w.preds[to]&^m | v
	}, nil
}

// comparison gives that of two values of a type.
func comparison(op, kind string) func(x, y uint64) bool {
	size := sizeOf(kind)
	switch {
	case size < 2:
		return nil
	case kind == "f32":
		if f := compareFloats(op); f != nil {
			return func(x, y uint64) bool { return f(float64(f32(x)), float64(f32(y))) }
		}
		return nil
	case kind == "f64":
		if f := compareFloats(op); f != nil {
			return func(x, y uint64) bool { return f(math.Float64frombits(x), math.Float64frombits(y)) }
		}
		return nil
	case op == "eq":
		return func(x, y uint64) bool { return x == y }
	case op == "ne":
		return func(x, y uint64) bool { return x != y }
	case kind[0] == 's':
		return map[string]func(x, y uint64) bool{
			"lt": func(x, y uint64) bool { return signed(x, size) < signed(y, size) },
			"le": func(x, y uint64) bool { return signed(x, size) <= signed(y, size) },
			"gt": func(x, y uint64) bool { return signed(x, size) > signed(y, size) },
			"ge": func(x, y uint64) bool { return signed(x, size) >= signed(y, size) },
		}[op]
	case kind[0] == 'u':
		return map[string]func(x, y uint64) bool{
			"lt": func(x, y uint64) bool { return x < y },
			"le": func(x, y uint64) bool { return x <= y },
			"gt": func(x, y uint64) bool { return x > y },
			"ge": func(x, y uint64) bool { return x >= y },
		}[op]
	}
	return nil
}

// compareFloats: those that end in u hold for NaN too.
func compareFloats(op string) func(x, y float64) bool {
	return map[string]func(x, y float64) bool{
		"eq":  func(x, y float64) bool { return x == y },
		"ne":  func(x, y float64) bool { return x < y || x > y },
		"lt":  func(x, y float64) bool { return x < y },
		"le":  func(x, y float64) bool { return x <= y },
		"gt":  func(x, y float64) bool { return x > y },
		"ge":  func(x, y float64) bool { return x >= y },
		"equ": func(x, y float64) bool { return !(x < y || x > y) },
		"neu": func(x, y float64) bool { return x != y },
		"ltu": func(x, y float64) bool { return !(x >= y) },
		"leu": func(x, y float64) bool { return !(x > y) },
		"gtu": func(x, y float64) bool { return !(x <= y) },
		"geu": func(x, y float64) bool { return !(x < y) },
		"num": func(x, y float64) bool { return x == x && y == y },
		"nan": func(x, y float64) bool { return x != x || y != y },
	}[op]
}
