package train

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sinterml/sinter"
)

// Table is Rows in memory: a column for each Input, by its name.
type Table map[string]Values

// Values is a column of a Table, made by Column.
type Values struct {
	rows int
	err  error
	at   func(rows []int) sinter.Tensor
}

// Column is values that stand row after row, each row of a shape; without one a
// row is a single value. The values are not copied: leave them as they are
// while the column is in use.
func Column[T sinter.Elem](values []T, shape ...int) Values {
	size := 1
	for _, n := range shape {
		if n < 1 || size > len(values)/n {
			return Values{err: fmt.Errorf("%d values hold no row of shape %v", len(values), shape)}
		}
		size *= n
	}
	if len(values)%size != 0 {
		return Values{err: fmt.Errorf("%d values are no whole number of rows of shape %v", len(values), shape)}
	}
	shape = slices.Clone(shape)
	at := func(rows []int) sinter.Tensor {
		picked := make([]T, 0, len(rows)*size)
		for _, r := range rows {
			picked = append(picked, values[r*size:(r+1)*size]...)
		}
		return sinter.Of(picked, append([]int{len(rows)}, shape...)...)
	}
	return Values{rows: len(values) / size, at: at}
}

// Len is the number of rows: of the longest column, where At finds that others
// have fewer.
func (t Table) Len() int {
	most := 0
	for _, c := range t {
		most = max(most, c.rows)
	}
	return most
}

// At gathers rows of every column.
func (t Table) At(rows []int) (Batch, error) {
	if err := t.check(rows); err != nil {
		return nil, err
	}
	batch := make(Batch, len(t))
	for name, c := range t {
		batch[name] = c.at(rows)
	}
	return batch, nil
}

// check makes sure that every column has these rows.
func (t Table) check(rows []int) error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		c := t[name]
		switch {
		case c.err != nil:
			return fmt.Errorf("train: column %q: %w", name, c.err)
		case c.at == nil:
			return fmt.Errorf("train: column %q has no values: make it with Column", name)
		case c.rows != t.Len():
			return fmt.Errorf("train: column %q has %d rows, another has %d", name, c.rows, t.Len())
		}
	}
	for _, r := range rows {
		if r < 0 || r >= t.Len() {
			return fmt.Errorf("train: there is no row %d among %d", r, t.Len())
		}
	}
	return nil
}

// Numbers is Rows that are but their numbers, as an I64 Input: for data that
// lies in a tensor, from which the graph takes its rows with Tensor.Take.
type Numbers struct {
	Name string // of the Input
	Rows int
}

// Len is the number of rows.
func (n Numbers) Len() int { return n.Rows }

// At is the numbers themselves.
func (n Numbers) At(rows []int) (Batch, error) {
	wide := make([]int64, len(rows))
	for i, r := range rows {
		wide[i] = int64(r)
	}
	return Batch{n.Name: sinter.Of(wide, len(wide))}, nil
}
