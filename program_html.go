package sinter

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/inspect"
	"github.com/sinterml/sinter/internal/inspect/page"
	"github.com/sinterml/sinter/internal/ir"
)

// HTMLOptions say what Program.HTML shows beside the program. The zero value
// adds nothing.
type HTMLOptions struct {
	Title string
	// Sizes are those of symbols at which memory and work are shown; a symbol
	// that is not named has about 128.
	Sizes map[string]int
	// Profile, if set, has measured runs of the program.
	Profile *Profile
	// Limits of the machine, if known, set times of the Profile in relation.
	Limits Limits
}

// Limits are what a machine can do at most, where that is known.
type Limits struct {
	// Operations a second of a loop of multiply-adds, by number format: "f32",
	// "bf16", "int8".
	Operations map[string]float64
	Bandwidth  float64 // bytes a second from memory
	Cache      int     // bytes below which data need not come from memory
	// Copies, if there are any, are rates by how many bytes are touched, in
	// ascending order: they count instead of Bandwidth and Cache.
	Copies []CopyRate
}

// CopyRate is how fast a device copies.
type CopyRate struct {
	Bytes float64 // that are read and written
	Rate  float64 // bytes a second
}

// Limits measures what the device can do at most, in some seconds, or takes what
// was measured for it within the last hour: the rate of multiply-adds in f32, and
// of copies of several sizes. What units for matrices can do is not known. For the
// cpu and the referee the result is the zero value.
func (d *Device) Limits(ctx context.Context) (Limits, error) {
	if err := d.check(); err != nil {
		return Limits{}, err
	}
	limiter, ok := d.dev.(device.Limiter)
	if !ok {
		return Limits{}, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	known, err := limiter.Limits(ctx)
	if err != nil {
		return Limits{}, err
	}
	l := Limits{Operations: map[string]float64{"f32": known.Rate}}
	for _, b := range known.Bandwidth {
		l.Copies = append(l.Copies, CopyRate(b))
		l.Bandwidth = b.Rate
	}
	return l, nil
}

// Least is the time that the runs of a kernel could not do without: of its
// arithmetic, or of moving its data where a run moves more than the cache
// holds. It is 0 where nothing is known.
func (l Limits) Least(k KernelProfile) time.Duration {
	return time.Duration(min(max(l.arithmetic(k), l.memory(k)), maxSeconds) * float64(time.Second))
}

// arithmetic is the seconds that the operations of k take at least.
func (l Limits) arithmetic(k KernelProfile) (seconds float64) {
	if k.Operations > 0 && l.Operations["f32"] > 0 {
		seconds += k.Operations / l.Operations["f32"]
	}
	if k.Products > 0 && l.Operations[k.Format] > 0 {
		seconds += k.Products / l.Operations[k.Format]
	}
	return seconds
}

// memory is the seconds that the bytes of k take at least where they come from
// memory, else 0.
func (l Limits) memory(k KernelProfile) float64 {
	if k.Runs < 1 {
		return 0
	}
	bytes := k.Read + k.Written
	if rate := l.rate(bytes / float64(k.Runs)); rate > 0 {
		return bytes / rate
	}
	return 0
}

// rate is how many bytes a second a run moves at most that touches so many; 0: no
// limit is known.
func (l Limits) rate(bytes float64) float64 {
	rate := 0.0
	for i, c := range l.Copies {
		if i == 0 || c.Bytes <= bytes {
			rate = c.Rate
		}
	}
	if len(l.Copies) == 0 && bytes > float64(l.Cache) {
		rate = l.Bandwidth
	}
	return rate
}

// check refuses rates that are none.
func (l Limits) check() error {
	rates := maps.Clone(l.Operations)
	if rates == nil {
		rates = map[string]float64{}
	}
	rates["memory"] = l.Bandwidth
	for name, rate := range rates {
		if !(rate >= 0 && rate <= math.MaxFloat64) {
			return fmt.Errorf("Limits: a rate of %v for %s: give a finite one, or 0 where none is known", rate, name)
		}
	}
	last := 0.0
	for _, c := range l.Copies {
		if !(c.Rate >= 0 && c.Rate <= math.MaxFloat64 && c.Bytes >= last && c.Bytes <= math.MaxFloat64) {
			return fmt.Errorf("Limits: copies at a rate of %v that touch %v bytes: give finite numbers, in ascending order of bytes", c.Rate, c.Bytes)
		}
		last = c.Bytes
	}
	return nil
}

// maxSeconds is less than a Duration holds.
const maxSeconds = 1 << 32

// HTML writes the program as a page that needs nothing but itself: what each
// stage of compiling made of its graph, which operations each kernel does and
// why others do not, memory over time, machine code; and, of a Profile, times.
// It compiles the program once more to see all that, and runs nothing.
func (p *Program) HTML(w io.Writer, o HTMLOptions) error {
	switch {
	case p == nil || p.compiled == nil:
		return errZeroProgram
	case w == nil:
		return errNilWriter
	}
	if err := o.Limits.check(); err != nil {
		return err
	}
	d, err := p.document(o)
	if err != nil {
		return err
	}
	return page.Write(w, d)
}

// document is what there is to see of p.
func (p *Program) document(o HTMLOptions) (*inspect.Document, error) {
	if !p.users.enter() {
		return nil, errClosedProgram
	}
	defer p.users.leave()
	g := p.named()
	f := inspect.Facts{Title: o.Title, Precision: p.precision.String(), Values: make([]string, len(g.Nodes)), Env: usualSizes(g)}
	for name, size := range o.Sizes {
		i := slices.IndexFunc(p.symbols, func(s ir.Symbol) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("the program has no size %q to be %d; it has %s", name, size, cmp.Or(strings.Join(slices.Sorted(maps.Keys(f.Env)), ", "), "none"))
		}
		if s := p.symbols[i]; int64(size) < s.Min || int64(size) > s.Max {
			return nil, fmt.Errorf("size %q is between %d and %d, not %d", name, s.Min, s.Max, size)
		}
		f.Env[name] = size
	}
	for i, n := range g.Nodes {
		if n.Op.HasLeaf() && n.Op != ir.Assign {
			f.Values[i] = p.leafPreview(n.Attr.Leaf)
		}
	}
	doc := p.device.document(g, p.options, f)
	doc.Run = o.Profile.run(p.module, o.Limits)
	return doc, nil
}

// DOT prints what kernels are made of in the language of Graphviz, with a box
// around the operations of each. It compiles the program once more to see that.
func (p *Program) DOT() string {
	if p == nil || p.compiled == nil || !p.users.enter() {
		return "digraph {\n}\n"
	}
	defer p.users.leave()
	c, _ := p.device.look(p.named(), p.options) // else it is of the graph alone
	return c.DOT()
}

// named is the graph with the names that this program has for its leaves: others
// may share the graph.
func (p *Program) named() *ir.Graph {
	g := *p.graph
	g.Leaves = slices.Clone(p.leaves)
	for i := range g.Leaves {
		g.Leaves[i].Storage = nil
	}
	return &g
}

// leafPreview prints the first values of a leaf that keeps them.
func (p *Program) leafPreview(leaf int) string {
	if p.variables[leaf] != nil {
		return "" // another one after each run
	}
	if s, ok := p.leaves[leaf].Storage.(*storage); ok {
		return s.preview(8)
	}
	return ""
}

// run is what was measured of a module, nil if that is nothing.
func (p *Profile) run(m device.Module, l Limits) *inspect.Run {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	program := slices.Index(p.modules, m)
	var runs [][]device.KernelRun
	for _, r := range p.runs {
		if r.program == program && len(r.kernels) > 0 {
			runs = append(runs, r.kernels)
		}
	}
	p.mu.Unlock()
	if len(runs) == 0 {
		return nil
	}
	run := &inspect.Run{Runs: len(runs), Peaks: l.Operations, Bandwidth: l.Bandwidth}
	for _, k := range p.Kernels() {
		if k.Program != program {
			continue
		}
		n := float64(k.Runs)
		timed := inspect.Timed{Kernel: k.Number, Seconds: k.Time.Seconds() / n, Read: k.Read / n, Written: k.Written / n, Mixed: k.Products > 0 && k.Operations > 0}
		if k.Products > 0 {
			timed.Format = k.Format
		}
		timed.ByMemory = l.memory(k) > l.arithmetic(k)
		if t := k.Time.Seconds(); t > 0 {
			timed.Share = l.Least(k).Seconds() / t
			timed.GFlops, timed.GBytes = (k.Products+k.Operations)/t/1e9, (k.Read+k.Written)/t/1e9
		}
		run.Kernels = append(run.Kernels, timed)
	}
	span := func(r []device.KernelRun) time.Duration { return r[len(r)-1].End.Sub(r[0].Start) }
	for _, r := range runs {
		run.Seconds += span(r).Seconds() / float64(len(runs))
	}
	slices.SortFunc(runs, func(x, y []device.KernelRun) int { return cmp.Compare(span(x), span(y)) })
	usual := runs[len(runs)/2]
	for i, k := range usual {
		run.Timeline = append(run.Timeline, inspect.Event{Kernel: k.Number, Begin: microseconds(k.Start.Sub(usual[0].Start)), Duration: microseconds(k.End.Sub(k.Start))})
		run.Kernels[i].Tasks = k.Tasks
	}
	return run
}
