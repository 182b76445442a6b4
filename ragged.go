package sinter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Ragged batches are sequences one after another along the first axis:
// sequence i is rows offsets[i] up to offsets[i+1]. Offsets are I32 [B+1] and
// a leaf, so that they are checked whenever a program runs: they begin with 0,
// do not decrease and end with the number of rows.

// offsetsLeaf refuses offsets that could not be checked before a run.
func offsetsLeaf(offsets Tensor) error {
	v := offsets.load()
	if v.err != nil {
		return v.err
	}
	if !isOffsets(v.Type) {
		return fmt.Errorf("offsets are i32 of rank 1, not %v: use Cast", v.Type)
	}
	if v.leaf() == nil {
		return errors.New("offsets are computed: Eval them first, or make them an Input")
	}
	return nil
}

// SegmentIDs gives for each row the number of its sequence, as I32. The number
// of rows is Rows(offsets) unless it is given.
func SegmentIDs(offsets Tensor, rows ...Dim) Tensor {
	if bad, ok := firstErr(offsets); ok {
		return bad
	}
	if err := offsetsLeaf(offsets); err != nil {
		return fail(err, offsets)
	}
	if len(rows) > 1 {
		return failf([]Tensor{offsets}, "several numbers of rows: %v", rows)
	}
	if len(rows) == 0 {
		n := Rows(offsets)
		if n.IsConst(-1) {
			return failf([]Tensor{offsets}, "the number of rows is not known: give it as an argument")
		}
		rows = []Dim{n}
	}
	if err := checkSymbols(rows); err != nil {
		return fail(err, offsets)
	}
	return apply(ir.SegmentIDs, ir.Attr{Shape: ir.Shape{rows[0]}}, offsets)
}

// Positions gives for each row its position in its sequence, from 0, as I32.
// The number of rows is Rows(offsets) unless it is given.
func Positions(offsets Tensor, rows ...Dim) Tensor {
	ids := SegmentIDs(offsets, rows...)
	if bad, ok := firstErr(ids); ok {
		return bad
	}
	return Iota(I32, 0, ids.v.Shape...).Sub(offsets.Take(ids, 0))
}

// SegmentSum adds the rows of each sequence; 0 for an empty one.
func SegmentSum(x, offsets Tensor) Tensor { return segmentReduce("sum", x, offsets) }

// SegmentMax is the largest row of each sequence, element by element; the
// least value of the dtype (-Inf) for an empty one.
func SegmentMax(x, offsets Tensor) Tensor { return segmentReduce("max", x, offsets) }

// SegmentMean averages the rows of each sequence; 0 for an empty one.
func SegmentMean(x, offsets Tensor) Tensor {
	return x.float("SegmentMean", func(x Tensor) Tensor {
		sum := SegmentSum(x, offsets)
		if bad, ok := firstErr(sum); ok {
			return bad
		}
		lengths := offsets.Slice(Range{Start: 1}).Sub(offsets.Slice(Range{Stop: -1}))
		shape := slices.Repeat(ir.Shape{N(1)}, len(sum.v.Shape))
		shape[0] = sum.v.Shape[0]
		return sum.Div(lengths.Maximum(Scalar(1)).Cast(x.v.DType).reshape(shape))
	})
}

func segmentReduce(mode string, x, offsets Tensor) Tensor {
	if bad, ok := firstErr(x, offsets); ok {
		return bad
	}
	if err := offsetsLeaf(offsets); err != nil {
		return fail(err, x, offsets)
	}
	return apply(ir.SegmentReduce, ir.Attr{Mode: mode}, x, offsets)
}
