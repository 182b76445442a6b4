package chars

import (
	"iter"
	"math/rand/v2"

	"github.com/sinterml/sinter"
)

// Windows is data of places in a text, drawn anew for each batch: ids and next
// [Batch, Block], next being one further. An epoch has as many batches as it
// takes to draw each character once on average.
type Windows struct {
	IDs          []int64
	Batch, Block int
}

// Epoch draws the batches of an epoch. Each is drawn from its own number, so
// that none before it has to be.
func (w Windows) Epoch(seed int64, epoch, skip int) iter.Seq2[map[string]sinter.Tensor, error] {
	return func(yield func(map[string]sinter.Tensor, error) bool) {
		count := max(1, len(w.IDs)/(w.Batch*w.Block))
		for i := skip; i < count; i++ {
			r := rand.New(rand.NewPCG(uint64(seed), uint64(epoch)<<32|uint64(i)))
			starts := make([]int, w.Batch)
			for j := range starts {
				starts[j] = r.IntN(len(w.IDs) - w.Block)
			}
			if !yield(w.at(starts), nil) {
				return
			}
		}
	}
}

func (w Windows) at(starts []int) map[string]sinter.Tensor {
	ids, next := make([]int64, 0, len(starts)*w.Block), make([]int64, 0, len(starts)*w.Block)
	for _, s := range starts {
		ids = append(ids, w.IDs[s:s+w.Block]...)
		next = append(next, w.IDs[s+1:s+w.Block+1]...)
	}
	return map[string]sinter.Tensor{"ids": sinter.Of(ids, len(starts), w.Block), "next": sinter.Of(next, len(starts), w.Block)}
}

// Blocks is data of a whole text, block after block: "held" and "held_next"
// [at most Batch, Block]. Characters at the end that fill no block are left out.
type Blocks struct {
	IDs          []int64
	Batch, Block int
}

// Epoch gives the same batches each time.
func (b Blocks) Epoch(_ int64, _, skip int) iter.Seq2[map[string]sinter.Tensor, error] {
	return func(yield func(map[string]sinter.Tensor, error) bool) {
		blocks := (len(b.IDs) - 1) / b.Block
		for at := skip * b.Batch; at < blocks; at += b.Batch {
			starts := make([]int, 0, b.Batch)
			for i := at; i < min(blocks, at+b.Batch); i++ {
				starts = append(starts, i*b.Block)
			}
			batch := Windows{IDs: b.IDs, Block: b.Block}.at(starts)
			if !yield(map[string]sinter.Tensor{"held": batch["ids"], "held_next": batch["next"]}, nil) {
				return
			}
		}
	}
}
