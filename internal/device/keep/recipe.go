package keep

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
)

// Recipe tells how to compute the results of one constant kernel.
type Recipe struct {
	What    string // a hash of all that is computed; programs number their buffers differently
	Kernels []int  // of the plan, to be run in order; the last one's results are kept
	Leaves  []int  // buffers of the plan: the weights that all of this depends on, in order of first use
	Results []int  // buffers of the plan
}

// Recipes finds the constant kernels that others read from. Those that only
// lead to them are part of their recipes. how is what results depend on beside
// the texts of kernels, which are equal for those that compute the same.
func Recipes(p *schedule.Plan, how string, text func(k *schedule.Kernel) string) []*Recipe {
	var all []*Recipe
	writer := make([]int, len(p.Buffers))         // of each interim buffer
	source := make([]*Recipe, len(p.Buffers))     // of each constant buffer
	needs := make([]map[int]bool, len(p.Kernels)) // the kernels that a recipe for it runs
	for i, k := range p.Kernels {
		if !k.Constant {
			continue
		}
		needs[i] = map[int]bool{i: true}
		var results []int
		for j, prm := range k.Params() {
			a, writes := k.Args[j], prm.Use != loop.Read
			switch {
			case a < 0:
			case writes && p.Buffers[a].Kind == schedule.ConstantBuffer:
				results = append(results, a)
			case writes:
				writer[a] = i
			case p.Buffers[a].Kind == schedule.InterimBuffer:
				for n := range needs[writer[a]] {
					needs[i][n] = true
				}
			}
		}
		if results == nil {
			continue
		}
		r := &Recipe{Results: results}
		for n := range needs[i] {
			r.Kernels = append(r.Kernels, n)
		}
		slices.Sort(r.Kernels)
		r.describe(p, source, how, text)
		for _, a := range results {
			source[a] = r
		}
		all = append(all, r)
	}
	return all
}

// describe names what r computes and lists the weights.
func (r *Recipe) describe(p *schedule.Plan, source []*Recipe, how string, text func(k *schedule.Kernel) string) {
	leaf := func(a int) int {
		at := slices.Index(r.Leaves, a)
		if at < 0 {
			at = len(r.Leaves)
			r.Leaves = append(r.Leaves, a)
		}
		return at
	}
	interim := map[int]int{} // numbers of buffers
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", how)
	for _, i := range r.Kernels {
		k := p.Kernels[i]
		io.WriteString(h, text(k))
		for _, a := range k.Args {
			switch {
			case a < 0:
				io.WriteString(h, "scratch\n")
			case p.Buffers[a].Kind == schedule.LeafBuffer:
				fmt.Fprintf(h, "weight %d\n", leaf(a))
			case source[a] != nil:
				from := source[a]
				fmt.Fprintf(h, "result %d of %x", slices.Index(from.Results, a), from.What)
				for _, l := range from.Leaves {
					fmt.Fprintf(h, " %d", leaf(l))
				}
				io.WriteString(h, "\n")
			default:
				if _, ok := interim[a]; !ok {
					interim[a] = len(interim)
				}
				fmt.Fprintf(h, "buffer %d kept %v\n", interim[a], slices.Contains(r.Results, a))
			}
		}
	}
	r.What = string(h.Sum(nil)[:16])
}

// Interim visits the buffers of the plan that the kernels of r write beside its
// results.
func (r *Recipe) Interim(p *schedule.Plan, visit func(buf int) error) error {
	for _, i := range r.Kernels {
		k := p.Kernels[i]
		for j, prm := range k.Params() {
			a := k.Args[j]
			if a < 0 || prm.Use == loop.Read || slices.Contains(r.Results, a) {
				continue
			}
			if err := visit(a); err != nil {
				return err
			}
		}
	}
	return nil
}
