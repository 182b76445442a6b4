package cosine

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/sinterml/sinter"
)

// Groups puts two vectors into one group where their cosine, as embed.Cosine
// gives it, is threshold or more, or where a chain of such pairs leads from one
// to the other. Copies belong together, whatever they are; other vectors with
// NaN or an infinity in them belong to nobody. A vector of zeros has cosine 0
// with all. The groups of two or more are returned as rising numbers of
// vectors, in the order of their first.
//
// All pairs are compared by products in f32; those that may be alike within the
// error of these are then compared exactly. Blocks whose vectors are in one
// group already are left out. done, if not nil, is called with the share of the
// pairs that have been looked at, from one goroutine at a time.
func (s *Vectors) Groups(ctx context.Context, d *sinter.Device, threshold float64, done func(share float64)) ([][]int, error) {
	if math.IsNaN(threshold) {
		return nil, fmt.Errorf("the threshold is not a number")
	}
	p, err := newProduct(s.dim, d)
	if err != nil {
		return nil, err
	}
	defer p.close()
	f := newForest(s.Len())
	for _, c := range s.copies {
		f.join(int32(c[0]), int32(c[1]))
	}
	g := &grouping{Vectors: s, product: p, forest: f, threshold: float32(threshold), done: done}
	if err := g.run(ctx); err != nil {
		return nil, err
	}
	return f.groups(), nil
}

// grouping is one call of Groups.
type grouping struct {
	*Vectors
	product   *product
	forest    *forest
	threshold float32
	done      func(share float64)

	mu            sync.Mutex
	a, b          int // the next pair of blocks, a <= b
	finishedPairs int // pairs of blocks finished
}

// workers is how many pairs of blocks are worked on at once: while the products
// of one are looked at, the device multiplies another.
const workers = 2

func (g *grouping) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for ctx.Err() == nil {
				a, b, ok := g.next()
				if !ok {
					return
				}
				if err := g.pair(ctx, a, b); err != nil {
					cancel(err)
				}
				g.finished()
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

func (g *grouping) next() (a, b *block, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.a >= len(g.blocks) {
		return nil, nil, false
	}
	a, b = &g.blocks[g.a], &g.blocks[g.b]
	if g.b++; g.b == len(g.blocks) {
		g.a++
		g.b = g.a
	}
	return a, b, true
}

func (g *grouping) finished() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.finishedPairs++
	if n := len(g.blocks); g.done != nil {
		g.done(float64(g.finishedPairs) / float64(n*(n+1)/2))
	}
}

// idsOf are the vectors of a block.
func (g *grouping) idsOf(b *block) []int32 { return g.ids[b.first : b.first+len(b.norms)] }

// pair joins what is alike in two blocks.
func (g *grouping) pair(ctx context.Context, a, b *block) error {
	if g.forest.together(g.idsOf(a), g.idsOf(b)) {
		return nil
	}
	products, err := g.product.run(ctx, a, 0, len(a.norms), b, b.scales)
	if err != nil {
		return err
	}
	least := float64(g.threshold) - g.margin()
	width := len(b.norms)
	near := make([]int32, 0, width)
	for i, norm := range a.norms {
		from := 0
		if a.first == b.first {
			from = i + 1
		}
		near = atLeast(near[:0], products[i*width:(i+1)*width], from, float32(least*float64(norm)))
		g.joinNear(a.first+i, b, near)
	}
	return nil
}

// atLeast appends the positions from on of values that are least or more.
func atLeast(to []int32, values []float32, from int, least float32) []int32 {
	for j, v := range values[from:] {
		if v >= least {
			to = append(to, int32(from+j))
		}
	}
	return to
}

// joinNear joins a row with those of the rows of b near it that are alike.
func (g *grouping) joinNear(row int, b *block, near []int32) {
	if len(near) == 0 {
		return
	}
	id := g.ids[row]
	for n, j := range near {
		near[n] = g.ids[b.first+int(j)]
	}
	for _, other := range g.forest.apart(id, near) {
		if g.exact(row, int(g.rowOf[other])) >= g.threshold {
			g.forest.join(id, other)
		}
	}
}
