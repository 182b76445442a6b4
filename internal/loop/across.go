package loop

const (
	// pageBytes is how far apart elements come into the same lines of a first cache, of
	// which it has pageWays.
	pageBytes, pageWays = 4096, 8
	// acrossLines are those that lanes may store to, side by side in such a cache.
	acrossLines = 128
	lineBytes   = 64
	// acrossBlock is the most elements of a block of rows that is one iteration of a
	// Global loop: of longer ones columns are, so that workers can share them.
	acrossBlock = 1 << 16
)

// Across gives the lanes of Vector loops that read down columns, whose rows push each
// other out of a first cache, to the loop around them, which runs along the rows: lanes
// then read elements side by side and store to lines of their own, which stay near
// until they are full. So images are turned for channels to come last.
func Across(k *Kernel) *Kernel {
	return rebuilt(k, func(body []Stmt) ([]Stmt, bool) { return across(k, body) })
}

func across(k *Kernel, body []Stmt) (all []Stmt, found bool) {
	for _, s := range body {
		l, ok := s.(*Loop)
		if !ok {
			all = append(all, s)
			continue
		}
		if inner := downColumns(k, l); inner != nil {
			all, found = append(all, exchanged(l, inner)), true
			continue
		}
		if blocks := acrossBlocks(k, l); blocks != nil {
			all, found = append(all, blocks), true
			continue
		}
		inside, more := across(k, l.Body)
		all, found = append(all, &Loop{Var: l.Var, Lo: l.Lo, Hi: l.Hi, Range: l.Range, Body: inside}), found || more
	}
	return all, found
}

// exchanged is the two loops the other way around.
func exchanged(rows, lanes *Loop) *Loop {
	inner := &Loop{Var: rows.Var, Hi: rows.Hi, Range: Vector, Body: lanes.Body}
	return &Loop{Var: lanes.Var, Hi: lanes.Hi, Range: Serial, Body: []Stmt{inner}}
}

// acrossBlocks is a Global loop of which some iterations at a time run along rows; nil if
// none do.
func acrossBlocks(k *Kernel, l *Loop) *Loop {
	n, known := l.Hi.AsInt()
	if l.Range != Global || l.Lo != nil || !known || len(l.Body) != 1 {
		return nil
	}
	if inner, ok := l.Body[0].(*Loop); !ok || inner.Range != Vector { // most kernels: nothing is copied for them
		return nil
	}
	for _, size := range []int{64, 32, 16, pageWays} {
		if n%size != 0 {
			continue
		}
		block, row := &Var{Name: l.Var.Name + "b"}, &Var{Name: l.Var.Name}
		place := AddIndex(MulIndex(block.Ref(), Int(size)), row.Ref())
		rows := &Loop{Var: row, Hi: Int(size), Range: Serial, Body: withPlace(l.Body, l.Var, place, map[*Var]int{row: size})}
		if lanes := downColumns(k, rows); lanes != nil {
			columns := exchanged(rows, lanes)
			blocks := &Loop{Var: block, Hi: Int(n / size), Range: Global, Body: []Stmt{columns}}
			if long, _ := lanes.Hi.AsInt(); long*size > acrossBlock {
				return Flatten(blocks, columns)
			}
			return blocks
		}
	}
	return nil
}

// downColumns is the Vector loop in a Serial one whose lanes read down columns; nil if
// it stays.
func downColumns(k *Kernel, rows *Loop) *Loop {
	if rows.Range != Serial || rows.Lo != nil || len(rows.Body) != 1 {
		return nil
	}
	lanes, ok := rows.Body[0].(*Loop)
	if !ok || lanes.Range != Vector || lanes.Lo != nil || !ownElements(rows) {
		return nil
	}
	n, known := rows.Hi.AsInt()
	if !known || n < pageWays || n > acrossLines {
		return nil
	}
	down := false
	columns, _ := lanes.Hi.AsInt()
	for _, s := range lanes.Body {
		store, ok := s.(*Store)
		if !ok || store.Valid != nil {
			return nil
		}
		along, apart, known := strides(store.Index, lanes.Var, rows.Var)
		if bytes := apart * k.Params[store.Param].DType.Size(); !known || along != 1 || bytes < lineBytes || crowded(n, bytes) {
			return nil
		}
		store.Value.Walk(func(e *Expr) {
			if e.Kind != KindLoad || !e.Uses(lanes.Var) && !e.Uses(rows.Var) {
				return
			}
			along, apart, sure := strides(e.Args[0], lanes.Var, rows.Var)
			known = known && sure && apart == 1 && crowded(columns, along*e.DType.Size())
			down = true
		})
		if !known {
			return nil
		}
	}
	if !down {
		return nil
	}
	return lanes
}

// crowded tells whether so many lines, the same number of bytes apart, are more than a
// first cache has for them.
func crowded(lines, apart int) bool {
	return apart > 0 && lines*min(apart&-apart, pageBytes) > pageWays*pageBytes
}

// strides are how far an index goes with each of two variables.
func strides(index *Expr, a, b *Var) (withA, withB int, known bool) {
	rest, x, ok := Affine(index, a)
	if !ok {
		return 0, 0, false
	}
	_, y, ok := Affine(rest, b)
	if !ok {
		return 0, 0, false
	}
	withA, okA := x.AsInt()
	withB, okB := y.AsInt()
	return withA, withB, okA && okB
}
