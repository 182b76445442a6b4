package digits

import "math/rand/v2"

// Folds says for each row which part it belongs to. Each part is judged by a
// net that was trained with all others.
type Folds struct {
	Count int
	Of    []int
}

// Contiguous are parts of neighbours: row i is in part i*count/rows. The rows
// of a set go from writer to writer, so a part is by people whose hands no
// image of the other parts shows.
func Contiguous(rows, count int) Folds {
	f := Folds{count, make([]int, rows)}
	for i := range f.Of {
		f.Of[i] = i * count / rows
	}
	return f
}

// Shuffled are parts of random rows.
func Shuffled(rows, count int, seed int64) Folds {
	f := Contiguous(rows, count)
	r := rand.New(rand.NewPCG(uint64(seed), 'f'))
	r.Shuffle(rows, func(i, j int) { f.Of[i], f.Of[j] = f.Of[j], f.Of[i] })
	return f
}

// Split gives the numbers of the rows outside a part, and of those in it.
func (f Folds) Split(part int) (train, test []int) {
	for row, p := range f.Of {
		if p == part {
			test = append(test, row)
		} else {
			train = append(train, row)
		}
	}
	return train, test
}
