package loop

import "github.com/sinterml/sinter/internal/ir"

// ring is scratch for several rows: those between the stage that fills a row and
// the last that reads it.
type ring struct {
	rows   int
	stride int // elements from one to the next
	// late says that the oldest row is read and filled anew in one step, so that
	// stores have to come after all loads. Fewer rows leave more of the first
	// cache to others.
	late bool
}

// ringPad is the bytes between two rows of scratch beyond whole pages. Were they
// at the same place of a page, they would compete for the same sets of the first
// cache.
const ringPad = 1344

// findRings makes rings of the params that are scratch, where more than one stage
// uses them. It fails for those of unknown size.
func (s *staggering) findRings() bool {
	first, last := map[int]int{}, map[int]int{}
	early := map[int]bool{} // a store cannot come late: lanes may meet, or it is read just behind
	for i, stage := range s.stages() {
		walkStores(stage, func(st *Store) {
			first[st.Param] = i
			early[st.Param] = !s.ofLane(st.Index)
		})
		(&Kernel{Body: stage}).WalkExprs(func(e *Expr) {
			if at, ok := first[e.Param]; ok && e.Kind == KindLoad {
				last[e.Param] = i
				early[e.Param] = early[e.Param] || at == i || !s.ofLane(e.Args[0])
			}
		})
	}
	k := *s.k
	k.Params = append([]Param(nil), s.k.Params...)
	s.k, s.rings = &k, map[int]ring{}
	for i := range k.Params {
		p := &k.Params[i]
		if p.Use != Scratch {
			continue
		}
		n, static := p.Len.Const()
		if !static {
			return false
		}
		if apart := last[i] - first[i]; apart > 0 {
			r := ring{rows: apart + 1, stride: ringStride(n, p.DType.Size())}
			if apart > 1 && !early[i] {
				r.rows, r.late = apart, true
			}
			s.rings[i] = r
			p.Len = ir.N(r.rows * r.stride)
		}
	}
	return true
}

// ofLane tells whether an index is the lane itself: no other lane's, and not one
// of a statement between passes.
func (s *staggering) ofLane(index *Expr) bool { return index.Kind == KindVar && index.Var == s.lane }

func ringStride(n, size int) int {
	const page = 4096
	return ((n*size+page-1)/page*page + ringPad) / size
}

// place is where stage i has an element of a row of scratch in a step; other
// params stay as they are.
func (s *staggering) place(i, param int, index *Expr, step *Var) *Expr {
	r, ok := s.rings[param]
	if !ok {
		return index
	}
	row := Apply(ir.Mod, ir.I64, AddIndex(step.Ref(), Int(len(s.passes)-1-i)), Int(r.rows))
	return AddIndex(MulIndex(row, Int(r.stride)), index)
}
