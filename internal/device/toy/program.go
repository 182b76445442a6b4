package toy

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/generic"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// separator ends each kernel of a program's text.
const separator = "\n---\n"

// Emit writes kernels as the device's driver takes them: here the text of their
// loops. It needs no device. The arguments that a kernel wants beside what all
// have are the values of its symbols.
func (b *backend) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	code := &launch.Code{}
	for _, k := range kernels {
		code.Text += k.Work.String() + separator
		var sizes []ir.Dim
		for _, s := range k.Work.Symbols() {
			sizes = append(sizes, ir.Sym(s.Name, int(s.Min), int(s.Max)))
		}
		code.Args = append(code.Args, k.Args(sizes))
	}
	return code, nil
}

// program is compiled: the driver has made a function of each kernel.
type program struct{ functions map[string]*generic.Func }

// Build compiles.
func (b *backend) Build(c *launch.Code) (launch.Program, error) {
	p := &program{functions: map[string]*generic.Func{}}
	for text := range strings.SplitSeq(strings.TrimSuffix(c.Text, separator), separator) {
		if text == "" { // a program may do nothing
			continue
		}
		k, err := loop.Parse(text)
		if err == nil {
			p.functions[text], err = generic.Compile(k)
		}
		if err != nil {
			return nil, fmt.Errorf("the compiler of toy refuses a program: %w\n%s", err, text)
		}
	}
	return p, nil
}

func (p *program) Close() error { return nil }

// recording is a plan, ready to run: what a real driver calls a command buffer
// or a graph.
type recording struct {
	launches  []launch.Launch
	functions []*generic.Func
	memories  [][]*memory // of each launch, by argument
	numbers   [][]int64
}

// Record prepares a series of launches, each after those before it.
func (p *program) Record(launches []launch.Launch) (launch.Recording, error) {
	r := &recording{launches: launches}
	for _, l := range launches {
		f := p.functions[l.Kernel.Work.String()]
		if f == nil {
			return nil, fmt.Errorf("toy: the program has no kernel %s", l.Kernel.Entry)
		}
		r.functions = append(r.functions, f)
		r.memories = append(r.memories, make([]*memory, len(l.Args)))
		r.numbers = append(r.numbers, make([]int64, len(l.Args)))
	}
	return r, nil
}

func (r *recording) SetMemory(at, arg int, m launch.Memory) error {
	r.memories[at][arg], _ = m.(*memory) // nil where it is not used
	return nil
}

func (r *recording) SetInt(at, arg int, n int64) error {
	r.numbers[at][arg] = n
	return nil
}

func (r *recording) Close() error { return nil }

// Run is one submission: all launches, one after another.
func (r *recording) Run() error {
	for i, l := range r.launches {
		for worker := range l.Groups * l.Items {
			if err := r.work(i, worker); err != nil {
				return fmt.Errorf("toy: %s: %w", l.Kernel.Entry, err)
			}
		}
	}
	return nil
}

// work is what one work-item does: it finds its arguments and its part of the
// Global loop's iterations, and runs these.
func (r *recording) work(at, worker int) error {
	l := r.launches[at]
	k := l.Kernel.Work
	args := &generic.Args{Params: make([][]byte, len(k.Params)), Status: make([]int64, k.Slots)}
	var status []byte
	last, chunk := 0, 0
	for i, a := range l.Args {
		n := int(r.numbers[at][i])
		switch a.Kind {
		case entry.ArgBuffer: // its offset follows, and for a slab the stride
			from := int(r.numbers[at][i+1])
			if a.Param < 0 {
				status = r.memories[at][i].data[4*from:]
				continue
			}
			p := k.Params[a.Param]
			if p.Use == loop.Scratch {
				from += worker * int(r.numbers[at][i+2])
			}
			args.Params[a.Param] = r.memories[at][i].data[from*p.DType.Size():]
		case entry.ArgSize:
			args.Sizes = append(args.Sizes, int64(n))
		case entry.ArgStart:
			args.Start += n
		case entry.ArgEnd:
			last = n
		case entry.ArgChunk:
			chunk = n
		}
	}
	args.Start += worker * chunk
	args.End = min(args.Start+chunk, last)
	if err := r.functions[at].Run(args); err != nil {
		return err
	}
	for slot, word := range args.Status { // none is cleared: other workers set them too
		if word != 0 {
			status[4*slot] = 1
		}
	}
	return nil
}
