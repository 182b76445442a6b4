package train

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/sinterml/sinter"
)

// Batch is what one step is given: a tensor for each Input of its graph, by the
// Input's name. Others are left aside.
type Batch = map[string]sinter.Tensor

// Data gives batches, the same ones in the same order whenever it is asked for
// the same epoch with the same seed.
type Data interface {
	// Epoch gives the batches of an epoch, counted from 0, but for the first
	// skip. It stops at the first error.
	Epoch(seed int64, epoch, skip int) iter.Seq2[Batch, error]
}

// Func is Data by a function of seed and epoch. Batches that are to be skipped
// are made and dropped.
type Func func(seed int64, epoch int) iter.Seq2[Batch, error]

// Epoch calls f.
func (f Func) Epoch(seed int64, epoch, skip int) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		if f == nil {
			yield(nil, errors.New("train: the Func is nil: there are no batches"))
			return
		}
		batches := f(seed, epoch)
		if batches == nil {
			yield(nil, errors.New("train: the Func gave nil: there are no batches"))
			return
		}
		for b, err := range batches {
			if skip > 0 && err == nil {
				skip--
				continue
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Rows is data that is read row by row, in any order.
type Rows interface {
	Len() int
	// At gives the rows of these numbers, one below the other, as a batch.
	At(rows []int) (Batch, error)
}

// Batches is Data of rows, so many at a time. The zero Batches has no rows.
type Batches struct {
	Rows Rows
	Size int // of a batch; 0: 32
	// Shuffle deals the rows anew for each epoch.
	Shuffle bool
	// DropLast leaves out the rest at the end of an epoch that fills no batch.
	// Where it is kept, Inputs need a size like Sym("rows", 1, size).
	DropLast bool
}

// Count is how many batches an epoch has.
func (b Batches) Count() int {
	if b.Rows == nil || b.size() < 1 {
		return 0
	}
	rows, size := max(0, b.Rows.Len()), b.size()
	count := rows / size
	if rows%size > 0 && !b.DropLast {
		count++
	}
	return count
}

func (b Batches) size() int {
	if b.Size == 0 {
		return 32
	}
	return b.Size
}

// Epoch deals the rows and reads them batch by batch.
func (b Batches) Epoch(seed int64, epoch, skip int) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		if b.Rows == nil || b.Size < 0 {
			yield(nil, fmt.Errorf("train: batches of %d rows: give Rows, and a Size of at least 1", b.Size))
			return
		}
		if t, ok := b.Rows.(Table); ok { // a column at fault may have no rows to find it by
			if err := t.check(nil); err != nil {
				yield(nil, err)
				return
			}
		}
		order := b.order(seed, epoch)
		for i := max(0, skip); i < b.Count(); i++ {
			batch, err := b.Rows.At(order[i*b.size() : min(len(order), (i+1)*b.size())])
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// order is the numbers of all rows as an epoch takes them.
func (b Batches) order(seed int64, epoch int) []int {
	order := make([]int, max(0, b.Rows.Len()))
	for i := range order {
		order[i] = i
	}
	if b.Shuffle {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(epoch)))
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}
