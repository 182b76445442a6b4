package ir

import (
	"math"
	"slices"
)

// Bounds returns what d lies between, from the bounds of its symbols.
func (d Dim) Bounds() (lo, hi int64) {
	if lo, hi, ok := d.corners(); ok {
		return lo, hi
	}
	lo, hi = d.c, d.c
	for _, t := range d.terms {
		a, b := int64(1), int64(1)
		for _, s := range t.vars {
			p := [4]int64{mulSat(a, s.Min), mulSat(a, s.Max), mulSat(b, s.Min), mulSat(b, s.Max)}
			a, b = slices.Min(p[:]), slices.Max(p[:])
		}
		a, b = mulSat(a, t.coef), mulSat(b, t.coef)
		a, b = min(a, b), max(a, b)
		// Where one part is without bound, so is the sum, whatever the rest.
		if lo = addSat(lo, a); a == math.MinInt64 {
			lo = a
		}
		if hi = addSat(hi, b); b == math.MaxInt64 {
			hi = b
		}
	}
	return lo, hi
}

// corners is Bounds where terms have symbols in common, as those of n*(h-2) have: each
// may be least where another is not. What is linear in each symbol is least and greatest
// where all are at one of their ends; one of them may be squared, as the side of a square
// image is, and has its extreme between its ends as well. It is for few symbols, and sums
// that do not saturate.
func (d Dim) corners() (lo, hi int64, ok bool) {
	linear, squared, ok := d.shared()
	if !ok {
		return 0, 0, false
	}
	first := true
	for corner := range 1 << len(linear) {
		by := [3]int64{d.c} // coefficients of the powers of squared
		for _, t := range d.terms {
			p, power := t.coef, 0
			for _, s := range t.vars {
				if s.Name == squared.Name {
					power++
					continue
				}
				i := slices.IndexFunc(linear, func(o Symbol) bool { return o.Name == s.Name })
				end := s.Min
				if corner>>i&1 != 0 {
					end = s.Max
				}
				p = mulSat(p, end)
			}
			by[power] = addSat(by[power], p)
		}
		for _, at := range turns(by, squared) {
			v := addSat(addSat(by[0], mulSat(by[1], at)), mulSat(mulSat(by[2], at), at))
			if slices.ContainsFunc(by[:], infinite) || infinite(v) || infinite(mulSat(by[2], mulSat(at, at))) {
				return 0, 0, false
			}
			if first {
				lo, hi, first = v, v, false
			}
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi, true
}

// shared lists the symbols of d, one of which may be squared, if terms have some in
// common and there are few.
func (d Dim) shared() (linear []Symbol, squared Symbol, ok bool) {
	const most = 4
	common := false
	for _, t := range d.terms {
		for i, s := range t.vars {
			if i > 0 && t.vars[i-1].Name == s.Name {
				if squared.Name != "" && squared.Name != s.Name || i > 1 && t.vars[i-2].Name == s.Name {
					return nil, squared, false
				}
				squared, common = s, true
			} else if slices.ContainsFunc(linear, func(o Symbol) bool { return o.Name == s.Name }) {
				common = true
			} else if linear = append(linear, s); len(linear) > most {
				return nil, squared, false
			}
		}
	}
	linear = slices.DeleteFunc(linear, func(s Symbol) bool { return s.Name == squared.Name })
	return linear, squared, common
}

// turns are where a polynomial in s, of coefficients by power, may be least or greatest:
// at the ends, and on both sides of where it turns.
func turns(by [3]int64, s Symbol) []int64 {
	at := []int64{s.Min, s.Max}
	if by[2] == 0 || infinite(by[1]) || infinite(mulSat(2, by[2])) {
		return at
	}
	top := -by[1] / (2 * by[2])
	for _, v := range []int64{top - 1, top, top + 1} {
		if v > s.Min && v < s.Max {
			at = append(at, v)
		}
	}
	return at
}
