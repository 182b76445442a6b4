package suite

import (
	"errors"
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// faultCases are runs that must end with an error: what is wrong is data, which
// no compiler sees.
func faultCases() []*Case {
	var all []*Case
	for _, bad := range []float64{6, -1, math.MaxInt32, math.MinInt32} {
		for _, d := range []ir.DType{ir.I32, ir.I64} {
			at := func(op string) func(error) error {
				return wantIndex(device.IndexError{Op: op, Index: int64(bad), Size: 6, At: 3})
			}
			index := func(b *Builder) *ir.Node { return b.Input(d, Given(0, 5, 2, bad), ir.N(4)) }
			all = append(all, &Case{Name: fmt.Sprintf("gather outside at %v %v", bad, d), Fails: at("gather"), Build: func(b *Builder) []*ir.Node {
				return []*ir.Node{b.Add(ir.Gather, ir.Attr{Axes: []int{0}}, b.Input(ir.F32, Ordinary, ir.N(6)), index(b))}
			}})
			for _, mode := range []string{"set", "add"} {
				all = append(all, &Case{Name: fmt.Sprintf("scatter %s outside at %v %v", mode, bad, d), Fails: at("scatter"), Build: func(b *Builder) []*ir.Node {
					return []*ir.Node{b.Add(ir.Scatter, ir.Attr{Axes: []int{0}, Mode: mode}, b.Input(ir.F32, Ordinary, ir.N(6)), index(b), b.Input(ir.F32, Ordinary, ir.N(4)))}
				}})
			}
		}
	}
	for _, d := range ir.DTypes() {
		for _, op := range []ir.Op{ir.IDiv, ir.Mod} {
			if fits(op, ir.Attr{}, ir.Type{DType: d}, ir.Type{DType: d}) {
				all = append(all, &Case{Name: fmt.Sprintf("%v by zero %v", op, d), Fails: wantDivision(op, 5), Build: func(b *Builder) []*ir.Node {
					return []*ir.Node{b.Add(op, ir.Attr{}, b.Input(d, Ordinary, ir.N(8)), b.Input(d, Given(1, 2, 3, 4, 5, 0), ir.N(8)))}
				}})
			}
		}
	}
	for _, op := range []ir.Op{ir.ReduceMax, ir.ReduceMin, ir.ArgMax, ir.ArgMin} {
		all = append(all, &Case{Name: fmt.Sprintf("%v of nothing", op), Sizes: []ir.Env{{"N": 0}}, Fails: anyError, Build: func(b *Builder) []*ir.Node {
			return []*ir.Node{b.Add(op, ir.Attr{Axes: []int{0}}, b.Input(ir.F32, Ordinary, rows, ir.N(3)))}
		}})
	}
	// The run that follows may use the memory of an index that a kernel has
	// computed; yet the error says which it was.
	all = append(all, &Case{Name: "gather outside at a computed index", Fails: wantIndex(device.IndexError{Op: "gather", Index: 9, Size: 6, At: 3}), Build: func(b *Builder) []*ir.Node {
		sum := func(x *ir.Node) *ir.Node { return b.Add(ir.Scan, ir.Attr{Axes: []int{0}, Mode: "sum"}, x) }
		at := sum(b.Input(ir.I32, Given(0, 1, 2, 6), ir.N(4)))
		x := b.Add(ir.Gather, ir.Attr{Axes: []int{0}}, b.Input(ir.F32, Ordinary, ir.N(6)), at)
		return []*ir.Node{sum(sum(sum(sum(x))))}
	}})
	return append(all, offsetCases()...)
}

// offsetCases have offsets that do not cut their rows into segments.
func offsetCases() []*Case {
	var all []*Case
	for _, bad := range [][]float64{{1, 6}, {0, 7}, {0, 4, 2, 6}, {0, 5}, {0, -1, 6}, {0, math.MaxInt32, 6}, {math.MinInt32, 6}} {
		offsets := func(b *Builder) *ir.Node { return b.Input(ir.I32, Given(bad...), ir.N(len(bad))) }
		add := func(op ir.Op, build func(b *Builder) *ir.Node) {
			all = append(all, &Case{Name: fmt.Sprintf("%v with offsets %v", op, bad), Fails: wantOffsets(op),
				Build: func(b *Builder) []*ir.Node { return []*ir.Node{build(b)} }})
		}
		add(ir.SegmentIDs, func(b *Builder) *ir.Node { return b.Add(ir.SegmentIDs, ir.Attr{Shape: ir.Static(6)}, offsets(b)) })
		add(ir.SegmentReduce, func(b *Builder) *ir.Node {
			return b.Add(ir.SegmentReduce, ir.Attr{Mode: "sum"}, b.Input(ir.F32, Ordinary, ir.Static(6, 3)...), offsets(b))
		})
		add(ir.Attention, func(b *Builder) *ir.Node {
			x := b.Input(ir.F32, Ordinary, ir.Static(6, 2, 3)...)
			o := offsets(b)
			return b.Add(ir.Get, ir.Attr{}, b.Add(ir.Attention, ir.Attr{Attention: &ir.AttentionAttr{Scale: 1, Ragged: true}}, x, x, x, o, o))
		})
	}
	return all
}

func anyError(error) error { return nil }

func wantIndex(want device.IndexError) func(error) error {
	return func(err error) error {
		var e *device.IndexError
		if !errors.As(err, &e) {
			return fmt.Errorf("want an IndexError: %w", err)
		}
		if *e != want {
			return fmt.Errorf("got %q, want %q", e, &want)
		}
		return nil
	}
}

func wantDivision(op ir.Op, at int) func(error) error {
	return func(err error) error {
		var e *device.DivisionError
		if !errors.As(err, &e) {
			return fmt.Errorf("want a DivisionError: %w", err)
		}
		if e.Op != op.String() || e.At != at {
			return fmt.Errorf("got %q, want %v at %d", e, op, at)
		}
		return nil
	}
}

// wantOffsets leaves open which of several wrong offsets is named.
func wantOffsets(op ir.Op) func(error) error {
	return func(err error) error {
		var e *device.IndexError
		if !errors.As(err, &e) || e.Op != op.String() {
			return fmt.Errorf("want an IndexError of %v: %w", op, err)
		}
		return nil
	}
}
