package flat

import "github.com/sinterml/sinter/internal/loop"

// makeOwn makes variables of what a work-item has of a param to itself.
func (w *writer) makeOwn(param int) {
	if w.own == nil {
		w.own = map[int][]Var{}
	}
	for range w.k.OwnOf(param) {
		w.own[param] = append(w.own[param], w.Var(valueType(w.k.Work.Params[param].DType)))
	}
}

// ownVar is the variable that an index means.
func (w *writer) ownVar(param int, index *loop.Expr) Var {
	n, ok := w.k.OwnPlace(param, index)
	if !ok {
		w.fail("which element of %s is meant depends on more than the work-item", w.k.Work.Params[param].Name)
	}
	return w.own[param][n]
}

func (w *writer) loadOwn(e *loop.Expr) Value { return w.Get(w.ownVar(e.Param, e.Args[0])) }

func (w *writer) storeOwn(s *loop.Store) {
	if s.Valid != nil {
		w.fail("a store to %s has a condition", w.k.Work.Params[s.Param].Name)
	}
	w.Set(w.ownVar(s.Param, s.Index), w.value(s.Value))
}
