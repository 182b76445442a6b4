package cstyle

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// head writes the signature and what stands before the loops.
func (w *writer) head(args []entry.Arg) {
	var buffers, numbers []string
	size := 0
	for _, a := range args {
		switch a.Kind {
		case entry.ArgBuffer:
			buffers = append(buffers, w.pointer(a))
		case entry.ArgOffset:
			numbers = append(numbers, fmt.Sprint("o", a.Param+1))
		case entry.ArgStride:
			numbers = append(numbers, fmt.Sprint("s", a.Param))
		case entry.ArgSize:
			numbers = append(numbers, fmt.Sprint("d", size))
			size++
		case entry.ArgStart:
			numbers = append(numbers, "start")
		case entry.ArgEnd:
			numbers = append(numbers, "end")
		case entry.ArgChunk:
			numbers = append(numbers, "chunk")
		case entry.ArgRows:
			numbers = append(numbers, "rows")
		}
	}
	if w.Slots > 0 {
		w.slots(buffers, numbers)
	} else {
		w.oneByOne(args, buffers, numbers)
	}
	w.places(args)
	w.near()
}

// flatItems is the most work-items of a group whose iterations have nothing in
// common, where no other number is chosen.
const flatItems = 256

// entry is what the entry point begins with.
func (w *writer) entry() string {
	items := cmp.Or(w.k.Strategy.Flat, flatItems)
	if w.groups {
		items = w.k.Items
	}
	return strings.ReplaceAll(w.Entry, "ITEMS", strconv.Itoa(items))
}

// pointer declares the memory of an argument.
func (w *writer) pointer(a entry.Arg) string {
	t, name, restrict := "int", "status", w.Restrict
	if a.Param >= 0 {
		p := w.k.Work.Params[a.Param]
		t, name = w.Types[p.DType], w.params[a.Param]
		if p.Use == loop.Read {
			t = "const " + t
		}
		if w.k.Shared(a.Param) {
			restrict = ""
		}
	}
	return w.Global + t + " *" + restrict + name
}

// oneByOne is a signature with the arguments as they come. Where work stands
// apart it is that of the function, which an entry point calls.
func (w *writer) oneByOne(args []entry.Arg, buffers, numbers []string) {
	var list []string
	for _, a := range args {
		if a.Kind == entry.ArgBuffer {
			list, buffers = append(list, buffers[0]), buffers[1:]
			continue
		}
		list, numbers = append(list, "const "+w.Types[ir.I64]+" "+numbers[0]), numbers[1:]
	}
	if !w.apart() {
		fmt.Fprintf(&w.b, "%s %s(%s) {\n", w.entry(), w.k.Entry, strings.Join(list, ", "))
		return
	}
	fmt.Fprintf(&w.b, "%s work_%s(%s, const %s worker) {\n", w.Apart, w.k.Entry, strings.Join(list, ", "), w.Types[ir.I64])
	w.call = &call{kernel: w.k.Entry, begin: w.entry(), args: list}
}

// apart tells whether a function of its own does the work of the entry point: in
// a group work-items meet at barriers, which only the entry point has.
func (w *writer) apart() bool { return w.Apart != "" && !w.groups }

// Direct is how many of so many buffers have slots of their own. If not all
// have, the slot behind them is for a list of the others' addresses. The last
// slot is for the numbers.
func (s *Style) Direct(buffers int) int {
	if buffers < s.Slots {
		return buffers
	}
	return s.Slots - 2
}

// slots is a signature with a slot for each buffer, if there are enough, and
// one for all numbers.
func (w *writer) slots(buffers, numbers []string) {
	n := w.Direct(len(buffers))
	direct, far := buffers[:n], buffers[n:]
	if len(far) > 0 {
		fmt.Fprintf(&w.b, "struct far_%s {\n\t%s;\n};\n", w.k.Entry, strings.Join(far, ";\n\t"))
		direct = append(direct[:n:n], fmt.Sprintf("constant far_%s *far", w.k.Entry))
	}
	fmt.Fprintf(&w.b, "%s %s(\n", w.entry(), w.k.Entry)
	for i, b := range direct {
		w.line("%s [[buffer(%d)]],", b, i)
	}
	w.line("constant %s *numbers [[buffer(%d)]],", w.Types[ir.I64], len(direct))
	w.line("%s) {", w.Places)
	for _, b := range far {
		name := b[strings.LastIndex(b, "*")+1:]
		w.line("%s = far->%s;", b, name)
	}
	for i, n := range numbers {
		w.line("const %s %s = numbers[%d];", w.Types[ir.I64], n, i)
	}
}

// places finds out which worker this is and where its memory begins.
func (w *writer) places(args []entry.Arg) {
	worker := w.Work
	if w.groups {
		worker = w.Group
		w.line("const int item = %s;", w.Item)
	}
	if !w.apart() {
		w.line("const long worker = %s;", worker)
	}
	for _, a := range args {
		if a.Kind != entry.ArgOffset {
			continue
		}
		switch {
		case a.Param < 0:
			w.line("status += o0;")
		case w.k.Work.Params[a.Param].Use == loop.Scratch:
			w.line("%s += o%d + worker * s%d;", w.params[a.Param], a.Param+1, a.Param)
		default:
			w.line("%s += o%d;", w.params[a.Param], a.Param+1)
		}
	}
}

// near declares scratch memory that is close by.
func (w *writer) near() {
	for i, p := range w.k.Work.Params {
		if p.Use != loop.Scratch || !w.k.Near[i] {
			continue
		}
		if own := w.k.OwnOf(i); own > 0 { // an array whose indices are constants lies in registers
			w.line("%s %s[%d];", w.valueType(p.DType), w.params[i], own)
			continue
		}
		n, ok := p.Len.Const()
		if !ok {
			w.fail("scratch %s near by has no constant size", p.Name)
		}
		where := ""
		if w.groups {
			where = w.Shared + " "
		}
		w.line("%s%s %s[%d];", where, w.Types[p.DType], w.params[i], max(n, 1))
	}
}

// hint writes what is put in front of a loop, if anything is.
func (w *writer) hint(text string) {
	if text != "" {
		w.line("%s", text)
	}
}

// typesExist fails if the language lacks a type that the kernel uses.
func (w *writer) typesExist() {
	see := func(d ir.DType) {
		if w.Types[d] == "" && d != ir.NoType {
			w.fail("%w", &entry.UnsupportedError{Text: fmt.Sprintf("%s has no %v: compute in f32, or on another device", w.Name, d)})
		}
	}
	for _, p := range w.k.Work.Params {
		see(p.DType)
	}
	w.k.Work.WalkExprs(func(e *loop.Expr) { see(e.DType) })
}
