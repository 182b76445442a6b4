package interp

import (
	"fmt"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// checkOffsets refuses offsets that do not cut the given number of rows into
// sequences: the first is 0, none is below the one before, the last is rows.
func checkOffsets(op ir.Op, v *value, rows int) ([]int32, error) {
	offsets := view[int32](v)
	prev := int32(0)
	for at, o := range offsets {
		if o < prev || int(o) > rows || at == 0 && o != 0 || at == len(offsets)-1 && int(o) != rows {
			return nil, fmt.Errorf("offsets start with 0, never fall and end with the number of rows, %d: %w", rows,
				&device.IndexError{Op: op.String(), Index: int64(o), Size: rows, At: at})
		}
		prev = o
	}
	return offsets, nil
}

func segmentIDs(c *call) error {
	out := view[int32](c.out[0])
	offsets, err := checkOffsets(c.Op, c.in[0], len(out))
	if err != nil {
		return err
	}
	for s := range len(offsets) - 1 {
		fill(out[offsets[s]:offsets[s+1]], int32(s))
	}
	return nil
}

func segmentReduce(c *call) error {
	offsets, err := checkOffsets(c.Op, c.in[1], c.in[0].shape[0])
	if err != nil {
		return err
	}
	kernelsOf[c.in[0].t].segmentReduce(c, offsets)
	return nil
}

// segmentReduce gives an empty segment the sum 0 or the lowest value.
func (numbers[T, A]) segmentReduce(c *call, offsets []int32) {
	x, out := view[T](c.in[0]), view[T](c.out[0])
	width := numel(c.in[0].shape[1:])
	sums := make([]A, width)
	for s := range len(offsets) - 1 {
		row := out[s*width:][:width]
		fill(row, lowest[T]())
		fill(sums, 0)
		for i := int(offsets[s]); i < int(offsets[s+1]); i++ {
			for j, v := range x[i*width:][:width] {
				sums[j] += A(v)
				row[j] = max(row[j], v)
			}
		}
		if c.Attr.Mode == "sum" {
			for j, v := range sums {
				row[j] = T(v)
			}
		}
	}
}
