package entry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// WideBytes is what a work-item loads at once at most. Memory of a param begins
// at a multiple of it on devices whose groups have several work-items.
const WideBytes = 16

// Wide says that a load is of one of several elements side by side, which are
// loaded at once: as words of 32 bits, from where a multiple of their bytes is.
type Wide struct {
	Group int        // loads of the same words have the same number, from 0
	First *loop.Expr // index of the first element
	At    int        // this one's place behind it
	Words int        // 1, 2 or 4
}

// wideLoads finds loads that can be done together: of elements that a list of
// statements sets locals from, of memory that nobody writes to; with written also
// of memory that is written to, between the statements that might do it.
func wideLoads(k *loop.Kernel, written bool) map[*loop.Expr]Wide {
	all := map[*loop.Expr]Wide{}
	groups := 0
	var look func(body []loop.Stmt)
	look = func(body []loop.Stmt) {
		for _, r := range runsOf(k, body, written) {
			for _, words := range []int{4, 2, 1} {
				groups = r.join(words, groups, all)
			}
		}
		for _, s := range body {
			if l, ok := s.(*loop.Loop); ok {
				look(l.Body)
			}
		}
	}
	look(k.Body)
	return all
}

// run is loads of one param whose indices differ by constants.
type run struct {
	size  int // bytes of an element
	terms []*loop.Expr
	loads map[int]*loop.Expr // by the constant
}

func runsOf(k *loop.Kernel, body []loop.Stmt, written bool) []*run {
	var all []*run
	byKey := map[string]*run{}
	seen := map[*loop.Expr]bool{}
	since := 0 // a number for the statements between two that write
	visit := func(e *loop.Expr) {
		if e.Kind != loop.KindLoad || len(e.Args) != 1 || seen[e] || e.DType == ir.Bool || e.DType.Size() > 4 {
			return
		}
		when := 0
		if k.Params[e.Param].Use != loop.Read {
			if when = since; !written {
				return
			}
		}
		seen[e] = true
		terms, c := termsOf(e.Args[0])
		key := fmt.Sprint(e.Param, " ", when, " ", strings.Join(names(terms), " "))
		r := byKey[key]
		if r == nil {
			r = &run{size: e.DType.Size(), terms: terms, loads: map[int]*loop.Expr{}}
			byKey[key] = r
			all = append(all, r)
		}
		r.loads[c] = e
	}
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Set:
			s.Value.Walk(visit)
		case *loop.Store, *loop.Loop:
			since++
		}
	}
	return all
}

// names tells expressions apart. Those of a kernel are shared, so that alike ones
// are one.
func names(terms []*loop.Expr) []string {
	all := make([]string, len(terms))
	for i, t := range terms {
		all[i] = fmt.Sprintf("%p", t)
	}
	slices.Sort(all)
	return all
}

// termsOf writes an index as a sum of terms and a constant.
func termsOf(e *loop.Expr) (terms []*loop.Expr, c int) {
	if n, ok := e.AsInt(); ok {
		return nil, n
	}
	if e.Kind != loop.KindApply || e.Op != ir.Add {
		return []*loop.Expr{e}, 0
	}
	a, x := termsOf(e.Args[0])
	b, y := termsOf(e.Args[1])
	return append(a, b...), x + y
}

// join has elements that fill so many words loaded together, and counts their
// groups on from groups.
func (r *run) join(words, groups int, all map[*loop.Expr]Wide) int {
	n := 4 * words / r.size
	if n < 2 {
		return groups
	}
	for _, t := range r.terms {
		if !loop.Multiple(t, n) {
			return groups
		}
	}
	for _, c := range slices.Sorted(maps.Keys(r.loads)) {
		if c%n != 0 || !r.whole(c, n, all) {
			continue
		}
		for i := range n {
			all[r.loads[c+i]] = Wide{Group: groups, First: r.loads[c].Args[0], At: i, Words: words}
		}
		groups++
	}
	return groups
}

// whole tells whether there are n loads from c on that are in no group yet.
func (r *run) whole(c, n int, all map[*loop.Expr]Wide) bool {
	for i := range n {
		e := r.loads[c+i]
		if _, done := all[e]; e == nil || done {
			return false
		}
	}
	return true
}
