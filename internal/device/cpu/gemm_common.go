package cpu

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
)

// Products of a run may have one and the same right operand, as the steps of a
// recurrent net do: a weight that training changes between runs, or what a kernel
// makes of it. The first of them leaves it packed as a whole, the others read that.

const (
	// commonProducts is how many there have to be.
	commonProducts = 3
	// commonRows are the most of a product for which it takes long to pack.
	commonRows = 256
	// commonBytes is the most that a session keeps of one, from run to run: a larger one
	// comes from memory each time, packed or not.
	commonBytes = 4 << 20
)

// commonY is a right operand of several products, as a session has it.
type commonY struct {
	mem   *jit.Memory // nil: not yet
	first int         // the step that packs it
	full  bool        // there is no room for it: each packs what it needs
}

// findCommon finds the right operands that products have in common: for each step
// its number, from 1, or 0.
func (m *module) findCommon() error {
	m.common = make([]int, len(m.each))
	written := map[int]int{} // how often, of buffers
	alike := map[string][]int{}
	for i, n := range m.each {
		k := m.plan.Kernels[n]
		if key := commonKey(m.kernels[n], k, written); key != "" {
			alike[key] = append(alike[key], i)
		}
		for j, p := range k.Params() {
			if p.Use != loop.Read && k.Args[j] >= 0 {
				written[k.Args[j]]++
			}
		}
	}
	for _, steps := range alike {
		if len(steps) < commonProducts {
			continue
		}
		m.commons++
		for _, i := range steps {
			m.common[i] = m.commons
			p := m.kernels[m.each[i]].(*gemmKernel)
			if _, err := p.tiles.set(x86.GemmTiles(p.tiles.isa, p.tiles.format)[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// commonKey is equal for products whose packed right operands are, and empty for
// others: where batches have different ones, or it is kept from run to run.
func commonKey(code kernel, k *schedule.Kernel, written map[int]int) string {
	p, ok := code.(*gemmKernel)
	if !ok || p.constY != nil || p.packY == nil || !p.sharedY || p.tiles.format.Splits() {
		return ""
	}
	g := p.work
	key := fmt.Sprint(p.tiles.format, cutOf(p.tiles.format), g.K, g.Cols, packLayout(g))
	for _, param := range loads(g.Y) {
		key += fmt.Sprintf(" %d of %d", written[k.Args[param]], k.Args[param])
	}
	return key
}

// shares has the step pack B for others, or read what another has packed.
func (s *gemmStep) shares(r *binding) error {
	y := r.common
	if y == nil || y.full || s.rows > commonRows || s.packedLen() > commonBytes {
		return nil
	}
	if y.mem == nil {
		mem, err := r.module.device.memory(max(s.packedLen(), 1))
		if err != nil {
			return err
		}
		y.mem, y.first = mem, r.step
	}
	s.commonB = y.mem
	if y.first != r.step {
		s.packedB = y.mem
	}
	return nil
}

// dropCommons gives back what products have in common, from now on, and tells whether
// there was any.
func (s *session) dropCommons() (had bool) {
	for i := range s.commons {
		y := &s.commons[i]
		if y.mem != nil {
			_ = y.mem.Close()
		}
		had = had || !y.full
		*y = commonY{full: true}
	}
	return had
}

// forAll tells that a block of B is packed for other products too: that of the first
// rows, for which one task packs it.
func (s *gemmStep) forAll(b area) bool {
	return s.commonB != nil && s.packedB == nil && b.row0 == 0 && b.batch0 == 0
}
