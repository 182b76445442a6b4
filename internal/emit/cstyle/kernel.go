package cstyle

import (
	"fmt"
	"maps"
	"strings"
	"unicode"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// writer writes one entry point.
type writer struct {
	*Style
	k      *entry.Kernel
	b      strings.Builder
	err    error
	indent string
	call   *call          // of the work, where that stands apart
	names  map[any]string // of variables and locals
	taken  map[string]bool
	params []string
	sizes  []ir.Dim
	named  map[*loop.Expr]string // values that have a name in this statement
	words  map[int]string        // that this list of statements has loaded, by entry.Wide.Group
	temps  int
	groups bool // work-items of a group share the work
	alone  bool // inside of an Item loop, or there is none
	wait   *entry.Barriers
}

// fail keeps the first error and stands in for a value.
func (w *writer) fail(format string, args ...any) string {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
	return "0"
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, w.indent+format+"\n", args...)
}

// name makes a C identifier.
func (w *writer) name(of any, own string) string {
	base := strings.Map(func(r rune) rune {
		if r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, own) + "_" // no word of the language
	s := base
	for n := 2; w.taken[s]; n++ {
		s = fmt.Sprint(base, n)
	}
	w.taken[s], w.names[of] = true, s
	return s
}

func (w *writer) size(d ir.Dim) string {
	if n, ok := d.Const(); ok {
		return cInt(ir.I64, uint64(int64(n)))
	}
	for i, have := range w.sizes {
		if have.Equal(d) {
			return fmt.Sprint("d", i)
		}
	}
	w.sizes = append(w.sizes, d)
	return fmt.Sprint("d", len(w.sizes)-1)
}

// write gives the text and the arguments of k, and what calls it if that is not
// in the text.
func (s *Style) write(k *entry.Kernel) (string, []entry.Arg, *call, error) {
	w := &writer{Style: s, k: k, indent: "\t", names: map[any]string{}, taken: map[string]bool{}, groups: k.Groups()}
	w.alone = !w.groups
	for i := range k.Work.Params {
		w.params = append(w.params, fmt.Sprint("p", i))
	}
	w.wait = entry.NewBarriers(k)
	w.typesExist()
	switch {
	case k.Gemm == nil:
		w.top(k.Work.Body)
	case w.groups:
		w.groupGemm()
	default:
		w.gemm()
	}
	body := w.b.String()
	w.b.Reset()
	args := k.Args(w.sizes)
	w.head(args)
	return w.b.String() + body + "}\n", args, w.call, w.err
}

// top writes the iterations of the Global loop that a worker does, or all of a
// kernel without one.
func (w *writer) top(body []loop.Stmt) {
	var l *loop.Loop
	if len(body) == 1 {
		l, _ = body[0].(*loop.Loop)
	}
	if l == nil || l.Range != loop.Global {
		if w.groups { // of which there is one
			w.body(body)
			return
		}
		w.line("if (worker == 0) {")
		w.inside(func() { w.body(body) })
		w.line("}")
		return
	}
	v := w.name(l.Var, l.Var.Name)
	w.line("const long from = start + worker * chunk, to = from + chunk < end ? from + chunk : end;")
	w.repeat(l.Body, func() { w.line("for (long %s = from; %s < to; %s++) {", v, v, v) })
}

// inside writes what is one level further in; locals set there end there.
func (w *writer) inside(f func()) {
	outer, indent := maps.Clone(w.names), w.indent
	w.indent += "\t"
	f()
	w.names, w.indent = outer, indent
}

// repeat writes a loop around body.
func (w *writer) repeat(body []loop.Stmt, head func()) {
	if !w.alone {
		w.wait.Enter(body)
		defer w.wait.Leave()
	}
	head()
	w.inside(func() { w.body(body) })
	w.line("}")
}

func (w *writer) body(body []loop.Stmt) {
	w.words = map[int]string{}
	for _, s := range body {
		w.named = map[*loop.Expr]string{}
		if !w.alone {
			switch w.wait.Before(s) {
			case entry.Shared:
				w.line("%s", w.BarrierShared)
			case entry.All:
				w.line("%s", w.BarrierAll)
			}
		}
		switch s := s.(type) {
		case *loop.Loop:
			w.loop(s)
		case *loop.Set:
			w.share(s.Value)
			value := w.value(s.Value)
			if name, ok := w.names[s.Local]; ok {
				w.line("%s = %s;", name, value)
				continue
			}
			w.line("%s %s = %s;", w.valueType(s.Local.DType), w.name(s.Local, s.Local.Name), value)
		case *loop.Acc:
			e := loop.Apply(s.Op, s.Local.DType, s.Local.Ref(), s.Value)
			w.share(e)
			w.line("%s = %s;", w.names[s.Local], w.value(e))
		case *loop.Store:
			w.store(s)
		}
	}
}

// longBody is the statements from which on a body has work enough for a unit: two
// of them at once would need more registers than there are.
const longBody = 32

func (w *writer) loop(l *loop.Loop) {
	w.share(l.Lo, l.Hi)
	lo := "0L"
	if l.Lo != nil {
		lo = w.value(l.Lo)
	}
	hi := w.value(l.Hi)
	v := w.name(l.Var, l.Var.Name)
	switch l.Range {
	case loop.Item:
		if n, _ := l.Hi.AsInt(); n == w.k.Items {
			w.line("{")
		} else {
			w.line("if (item < %d) {", n)
		}
		w.alone = true
		w.inside(func() {
			w.line("const long %s = item;", v)
			w.body(l.Body)
		})
		w.alone = false
		w.line("}")
	case loop.Vector:
		w.hint(w.Lanes)
		fallthrough
	default:
		if w.k.Own != nil && l.Range == loop.Unroll {
			w.hint(w.Pairs)
		} else if w.k.Own != nil || len(l.Body) > longBody {
			w.hint(w.Rolled)
		}
		w.repeat(l.Body, func() { w.line("for (long %s = %s, %s_end = %s; %s < %s_end; %s++) {", v, lo, v, hi, v, v, v) })
	}
}

// store writes an element. What all work-items of a group would store, the first
// alone computes: the others might read what it has already written.
func (w *writer) store(s *loop.Store) {
	if !w.alone {
		w.line("if (item == 0) {")
		w.alone = true
		w.inside(func() { w.store(s) })
		w.alone = false
		w.line("}")
		return
	}
	w.share(s.Index, s.Valid, s.Value)
	guard := ""
	if s.Valid != nil {
		guard = "if (" + w.value(s.Valid) + ") "
	}
	w.line("%s%s[%s] = %s;", guard, w.params[s.Param], w.place(s.Param, s.Index), w.value(s.Value))
}

// share gives names to the values below roots that have several users.
func (w *writer) share(roots ...*loop.Expr) {
	uses := map[*loop.Expr]int{}
	var order []*loop.Expr // operands first
	var count func(e *loop.Expr)
	count = func(e *loop.Expr) {
		if e == nil {
			return
		}
		if uses[e]++; uses[e] > 1 {
			return
		}
		for _, a := range e.Args {
			count(a)
		}
		order = append(order, e)
	}
	for _, e := range roots {
		count(e)
	}
	for _, e := range order {
		if uses[e] > 1 && len(e.Args) > 0 || e.Kind == loop.KindIndex {
			text := w.value(e)
			w.temps++
			name := fmt.Sprint("t", w.temps)
			w.line("const %s %s = %s;", w.valueType(e.DType), name, text)
			w.named[e] = name
		}
	}
}
