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
// where all are at one of their ends. It is for few symbols, and sums that do not
// saturate.
func (d Dim) corners() (lo, hi int64, ok bool) {
	const most = 4
	var symbols []Symbol
	common := false
	for _, t := range d.terms {
		for i, s := range t.vars {
			if i > 0 && t.vars[i-1].Name == s.Name {
				return 0, 0, false // a power
			}
			if slices.ContainsFunc(symbols, func(o Symbol) bool { return o.Name == s.Name }) {
				common = true
			} else if symbols = append(symbols, s); len(symbols) > most {
				return 0, 0, false
			}
		}
	}
	if !common {
		return 0, 0, false
	}
	for corner := range 1 << len(symbols) {
		sum := d.c
		for _, t := range d.terms {
			p := t.coef
			for _, s := range t.vars {
				i := slices.IndexFunc(symbols, func(o Symbol) bool { return o.Name == s.Name })
				end := s.Min
				if corner>>i&1 != 0 {
					end = s.Max
				}
				p = mulSat(p, end)
			}
			if sum = addSat(sum, p); infinite(p) || infinite(sum) {
				return 0, 0, false
			}
		}
		if corner == 0 {
			lo, hi = sum, sum
		}
		lo, hi = min(lo, sum), max(hi, sum)
	}
	return lo, hi, true
}
