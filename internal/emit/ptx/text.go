// Package ptx writes programs for NVIDIA's GPUs in PTX, the language that their
// driver translates: an entry point for each kernel, with as many registers as
// there are values. Arithmetic is exact: every rounding is written out, nothing
// is flushed, approximated or contracted.
package ptx

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
)

// Program is the text of a plan and how its entry points are called: with
// arguments of 64 bits each, but for maps. A block has as many threads as its kernel has
// work-items, or, where a worker is a thread, any number of them.
type Program struct {
	Source string
	Args   [][]entry.Arg // of each kernel
}

// Write makes a program of kernels whose entries have different names.
func Write(t Target, kernels []*entry.Kernel) (*Program, error) {
	p := &Program{}
	var s strings.Builder
	fmt.Fprintf(&s, ".version %s\n.target %v\n.address_size 64\n", t.Version(), t)
	if t.SM >= 90 {
		fmt.Fprintf(&s, ".extern .shared .align %d .b8 %s[];\n", matrixAlign, dynamicShared)
	}
	for _, k := range kernels {
		args := flat.Args(k)
		b := newBuilder(t, k, args)
		b.rolled = k.Own != nil || k.Attended != nil // it holds as many values as there is room for
		err := flat.Write(k, b)
		if err == nil && b.err != nil {
			err = fmt.Errorf("kernel %s: %w", k.Work.Name, b.err)
		}
		if err != nil {
			return nil, fmt.Errorf("ptx: %w", err)
		}
		fmt.Fprintf(&s, "\n// %q\n", k.Work.Name)
		b.entry(&s, args)
		p.Args = append(p.Args, args)
	}
	p.Source = s.String()
	return p, nil
}

const (
	// matrixAlign is that of shared memory which holds matrices.
	matrixAlign = 128
	// elementAlign is that of other shared memory. The arrays of an attention by
	// tiles are multiples of it: they take up what their elements do, which is what
	// was compared with the room that there is.
	elementAlign = 16
)

// files are the register files: a letter for names, and the type.
var files = [...]struct{ prefix, kind string }{
	predicates: {"p", "pred"}, halves: {"h", "b16"}, words: {"r", "b32"}, longs: {"rd", "b64"}, singles: {"f", "f32"}, doubles: {"fd", "f64"},
}

type file int

const (
	predicates file = iota
	halves
	words
	longs
	singles
	doubles
)

// text collects the body of an entry point.
type text struct {
	lines  strings.Builder
	used   [len(files)]int // registers of each file
	labels int
	shared []string // declarations
}

// reg is a new register.
func (t *text) reg(f file) string {
	t.used[f]++
	return fmt.Sprintf("%%%s%d", files[f].prefix, t.used[f]-1)
}

func (t *text) line(format string, args ...any) {
	t.lines.WriteByte('\t')
	fmt.Fprintf(&t.lines, format, args...)
	t.lines.WriteString(";\n")
}

// op writes an instruction whose result is a new register.
func (t *text) op(f file, name string, args ...string) string {
	r := t.reg(f)
	t.line("%s %s, %s", name, r, strings.Join(args, ", "))
	return r
}

// label is a new one, which mark puts down.
func (t *text) label() string {
	t.labels++
	return fmt.Sprint("$L", t.labels)
}

func (t *text) mark(label string) { fmt.Fprintf(&t.lines, "%s:\n", label) }

// array declares shared memory and gives its name.
func (t *text) array(bytes, align int) string {
	name := fmt.Sprint("near", len(t.shared))
	t.shared = append(t.shared, fmt.Sprintf(".shared .align %d .b8 %s[%d];", align, name, bytes))
	return name
}

// entry puts the whole entry point together.
func (b *builder) entry(s *strings.Builder, args []entry.Arg) {
	k := b.kernel
	fmt.Fprintf(s, ".visible .entry %s(\n", k.Entry)
	for i, a := range args {
		comma := ","
		if i == len(args)-1 {
			comma = ""
		}
		param := fmt.Sprint(".u64 arg_", i)
		if a.Kind == entry.ArgMap {
			param = fmt.Sprintf(".align %d .b8 arg_%d[%d]", entry.MapAlign, i, entry.MapBytes)
		}
		fmt.Fprintf(s, "\t.param %s%s\n", param, comma)
	}
	s.WriteString(")\n")
	if k.Groups() {
		fmt.Fprintf(s, ".maxntid %d, 1, 1\n.minnctapersm %d\n", k.Items, b.target.blocks(k))
	} else {
		fmt.Fprintf(s, ".maxnreg %d\n", smRegisters/mostItems)
	}
	s.WriteString("{\n")
	for f, n := range b.used {
		if n > 0 {
			fmt.Fprintf(s, "\t.reg .%s %%%s<%d>;\n", files[f].kind, files[f].prefix, n)
		}
	}
	for _, d := range b.shared {
		fmt.Fprintf(s, "\t%s\n", d)
	}
	s.WriteString(b.lines.String())
	s.WriteString("\tret;\n}\n")
}
