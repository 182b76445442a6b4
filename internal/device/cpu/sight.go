package cpu

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/inspect"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/schedule"
)

// sight collects what there is to see of kernels while they are compiled, for
// who asked: the texts of stages, or a Compilation.
type sight struct {
	c      *compiler
	o      device.Options
	look   *inspect.Compilation // nil: only texts are asked for
	codes  []inspect.Compiled
	at     map[kernel]int // in codes
	of     []int          // by kernel of the plan
	before int            // kernels that were generic
	all    []kernel       // of the plan
	common map[int]bool   // kernels whose right operand others have too
}

func newSight(c *compiler, o device.Options, look *inspect.Compilation) *sight {
	if !c.listed {
		return nil
	}
	return &sight{c: c, o: o, look: look, at: map[kernel]int{}}
}

// kernel notes a kernel of the plan that has just been compiled, or found.
func (s *sight) kernel(k *schedule.Kernel, code kernel) {
	if s == nil {
		return
	}
	at, ok := s.at[code]
	if !ok {
		at = len(s.codes)
		s.at[code] = at
		s.codes = append(s.codes, inspect.Compiled{Loops: loopsText(k, code), Generic: len(s.c.generic) > s.before, Parts: s.c.parts})
		s.c.parts, s.before = nil, len(s.c.generic)
	}
	s.of, s.all = append(s.of, at), append(s.all, code)
}

// product is how a matrix product in machine code runs at the sizes of env.
func (s *sight) product(n int, env ir.Env) (p inspect.Product, ok bool) {
	k, ok := s.all[n].(*gemmKernel)
	if !ok {
		return p, false
	}
	g := k.work
	sizes, err := ir.Shape{g.BatchSize, g.Rows, g.Cols, g.K}.Eval(env)
	if err != nil {
		return p, false
	}
	size := gemmSize{sizes[0], sizes[1], sizes[2], sizes[3]}
	kind := k.tiles
	switch {
	case k.mayPair(s.c.device) && worthPairs(size.k): // in the long run, unless too few pairs are found
		kind.format = x86.GemmPairs
	case k.mayStorePast(s.c.device, size):
		kind.form = x86.GemmPast
	case k.fetchesNext(s.c.device, kind, size):
		kind.form = x86.GemmFetching
	}
	tile := k.tile(s.c.device, kind, size, s.common[n])
	set, err := kind.set(tile)
	if err != nil {
		return p, false
	}
	main, err := set.Listing()
	if err != nil {
		return p, false
	}
	p.Tile, p.Main = fmt.Sprintf("%d rows x %d columns", tile.Rows, set.width()), inspect.CompiledPart(main)
	if k.constY != nil {
		batches := size.batch
		if k.sharedY {
			batches = 1
		}
		plan := planGemm(size, cutOf(set.Format), set.lanes, tile, 1, false)
		p.Packed = int64(batches) * int64(plan.packedLen())
		if set.Format == x86.GemmPairs {
			p.Packed = int64(batches) * int64(plan.pairsLen())
		}
		p.From, p.Layout = k.constY.loads, k.constY.layout
	}
	return p, true
}

// loopsText is a kernel as loops, and its second form behind the first.
func loopsText(k *schedule.Kernel, code kernel) string {
	text := work(k).String()
	if lk, ok := code.(*loopKernel); ok && lk.streams != nil && lk.large.work != lk.plain.work {
		text += "\n" + lk.large.work.String()
	}
	return text
}

// shared notes the products of a module that have a right operand in common.
func (s *sight) shared(m *module) {
	if s == nil {
		return
	}
	s.common = map[int]bool{}
	for i, c := range m.common {
		s.common[m.each[i]] = c > 0
	}
}

// end hands over what was seen.
func (s *sight) end(plan *schedule.Plan, apart bool) {
	if s == nil {
		return
	}
	if look := s.look; look != nil {
		look.Plan, look.Codes, look.CodeOf, look.Apart = plan, s.codes, s.of, apart
		look.Product = s.product
	}
	if s.o.Trace == nil {
		return
	}
	var loops, code strings.Builder
	for _, at := range s.of {
		fmt.Fprintf(&loops, "%s\n", s.codes[at].Loops)
	}
	for _, c := range s.codes {
		for _, p := range c.Parts {
			fmt.Fprintf(&code, "%s\n%s\n", p.Name, p.Text)
		}
	}
	s.o.Trace("loops", loops.String())
	s.o.Trace("code", code.String())
}
