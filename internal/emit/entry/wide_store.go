package entry

import (
	"slices"

	"github.com/sinterml/sinter/internal/loop"
)

// WideStore says that a store and those behind it in a list of statements are of
// elements side by side, which are stored at once: as words of 32 bits, from where
// a multiple of their bytes is. What they store is in locals.
type WideStore struct {
	Stores int // with the first
	Words  int // 1, 2 or 4
}

// wideStores finds stores that can be done together.
func wideStores(k *loop.Kernel) map[*loop.Store]WideStore {
	all := map[*loop.Store]WideStore{}
	var look func(body []loop.Stmt)
	look = func(body []loop.Stmt) {
		for i := 0; i < len(body); {
			if l, ok := body[i].(*loop.Loop); ok {
				look(l.Body)
			}
			w := widestAt(k, body[i:])
			if w.Stores > 0 {
				all[body[i].(*loop.Store)] = w
			}
			i += max(w.Stores, 1)
		}
	}
	look(k.Body)
	return all
}

// widestAt is the widest store that begins a list; zero: none does.
func widestAt(k *loop.Kernel, body []loop.Stmt) WideStore {
	first, ok := body[0].(*loop.Store)
	if !ok {
		return WideStore{}
	}
	size := k.Params[first.Param].DType.Size()
	terms, c := termsOf(first.Index)
	for _, words := range []int{4, 2, 1} {
		n := 4 * words / size
		if size > 4 || n < 2 || n > len(body) || c%n != 0 {
			continue
		}
		whole := !slices.ContainsFunc(terms, func(t *loop.Expr) bool { return !loop.Multiple(t, n) })
		for i, s := range body[:n] {
			next, ok := s.(*loop.Store)
			whole = whole && ok && next.Param == first.Param && next.Valid == nil &&
				next.Value.Kind == loop.KindLocal && isBehind(next.Index, terms, c+i)
		}
		if whole {
			return WideStore{Stores: n, Words: words}
		}
	}
	return WideStore{}
}

// isBehind tells whether an index is the sum of terms and c.
func isBehind(index *loop.Expr, terms []*loop.Expr, c int) bool {
	mine, d := termsOf(index)
	return c == d && slices.Equal(names(mine), names(terms))
}
