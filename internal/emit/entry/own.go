package entry

import "github.com/sinterml/sinter/internal/loop"

// OwnOf is how many elements of a param each work-item has to itself, in
// registers; 0 for params that are memory.
func (k *Kernel) OwnOf(param int) int {
	if k.Own == nil {
		return 0
	}
	return k.Own[param]
}

// OwnPlace is which of its own elements of a param a work-item means by an
// index, item*own + place.
func (k *Kernel) OwnPlace(param int, index *loop.Expr) (place int, ok bool) {
	own := k.OwnOf(param)
	if len(index.Args) == 2 {
		if n, known := index.Args[1].AsInt(); known && loop.SameIndex(index, loop.AddIndex(index.Args[0], loop.Int(n))) {
			index, place = index.Args[0], n
		}
	}
	if own > 1 {
		if len(index.Args) != 2 || !loop.SameIndex(index, loop.MulIndex(index.Args[0], loop.Int(own))) {
			return 0, false
		}
		index = index.Args[0]
	}
	return place, index.Kind == loop.KindVar && place >= 0 && place < own
}
