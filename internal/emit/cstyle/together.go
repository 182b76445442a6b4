package cstyle

import (
	"fmt"
	"io"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
)

// call is what the entry point of a kernel has to do whose work is a function.
type call struct {
	kernel string   // the kernel's name
	begin  string   // of the entry point
	args   []string // as the function declares them, but for the worker
}

// pointer is the type of an argument that is one, else nothing.
func pointer(arg string) string {
	if to, _, is := strings.Cut(arg, "*"); is {
		return to + "*"
	}
	return ""
}

// likeness is equal for calls that can share an entry point: those with pointers
// in the same places.
func (c *call) likeness() string {
	var b strings.Builder
	b.WriteString(c.begin)
	for _, a := range c.args {
		fmt.Fprint(&b, " ", pointer(a) != "")
	}
	return b.String()
}

// entries writes the entry points of calls, and notes which share one.
func (s *Style) entries(b io.Writer, calls []*call, shared map[string]entry.Member) {
	var order []string
	alike := map[string][]*call{}
	for _, c := range calls {
		key := c.likeness()
		if alike[key] == nil {
			order = append(order, key)
		}
		alike[key] = append(alike[key], c)
		if len(alike[key]) == s.Together {
			s.entryOf(b, alike[key], shared)
			alike[key] = []*call{}
		}
	}
	for _, key := range order {
		s.entryOf(b, alike[key], shared)
	}
}

// entryOf writes the entry point of calls that are alike. That of one alone is
// the kernel's own.
func (s *Style) entryOf(b io.Writer, calls []*call, shared map[string]entry.Member) {
	if len(calls) == 0 {
		return
	}
	first := calls[0]
	if len(calls) == 1 {
		names := make([]string, len(first.args))
		for i, a := range first.args {
			names[i] = a[strings.LastIndexAny(a, " *")+1:]
		}
		fmt.Fprintf(b, "\n%s %s(%s) {\n\twork_%s(%s, %s);\n}\n",
			first.begin, first.kernel, strings.Join(first.args, ", "), first.kernel, strings.Join(names, ", "), s.Work)
		return
	}
	params := make([]string, len(first.args))
	for i, a := range first.args {
		kind := "const " + s.Types[ir.I64] + " "
		if pointer(a) != "" {
			kind = s.Global + s.Types[ir.U8] + " *"
		}
		params[i] = fmt.Sprint(kind, "a", i)
	}
	name := "of_" + first.kernel
	fmt.Fprintf(b, "\n%s %s(%s, const %s number) {\n\tswitch (number) {\n", first.begin, name, strings.Join(params, ", "), s.Types[ir.I64])
	for n, c := range calls {
		args := make([]string, len(c.args))
		for i, a := range c.args {
			args[i] = fmt.Sprint("a", i)
			if p := pointer(a); p != "" {
				args[i] = fmt.Sprintf("(%s)a%d", p, i)
			}
		}
		fmt.Fprintf(b, "\tcase %d: work_%s(%s, %s); break;\n", n, c.kernel, strings.Join(args, ", "), s.Work)
		shared[c.kernel] = entry.Member{Of: name, Number: n}
	}
	fmt.Fprint(b, "\t}\n}\n")
}
