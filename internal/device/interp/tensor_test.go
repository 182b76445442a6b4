package interp

import (
	"errors"
	"math"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/philox"
)

func dims(n ...int) []ir.Dim { return ir.Static(n...) }

func count(g *graph, shape ...int) *ir.Node {
	values := make([]int32, numel(shape))
	for i := range values {
		values[i] = int32(i)
	}
	return of(g, values, shape...)
}

func TestMovement(t *testing.T) {
	for _, c := range []struct {
		op   ir.Op
		attr ir.Attr
		in   []int // shape of 0, 1, 2...
		want []int32
	}{
		{ir.Reshape, ir.Attr{Shape: dims(3, 2)}, []int{2, 3}, []int32{0, 1, 2, 3, 4, 5}},
		{ir.Permute, ir.Attr{Axes: []int{1, 0}}, []int{2, 3}, []int32{0, 3, 1, 4, 2, 5}},
		{ir.Permute, ir.Attr{Axes: []int{2, 0, 1}}, []int{2, 1, 3}, []int32{0, 3, 1, 4, 2, 5}},
		{ir.Permute, ir.Attr{Axes: []int{}}, []int{}, []int32{0}},
		{ir.Expand, ir.Attr{Shape: dims(2, 2, 2)}, []int{2, 1, 2}, []int32{0, 1, 0, 1, 2, 3, 2, 3}},
		{ir.Expand, ir.Attr{Shape: dims(0, 2)}, []int{1, 2}, nil},
		{ir.Pad, ir.Attr{Before: dims(1, 0), After: dims(0, 2), Value: 9}, []int{1, 2}, []int32{9, 9, 9, 9, 0, 1, 9, 9}},
		{ir.Pad, ir.Attr{Before: dims(1), After: dims(1), Value: 9}, []int{0}, []int32{9, 9}},
		{ir.Slice, ir.Attr{Starts: dims(0, 1), Steps: []int{2, 2}, Shape: dims(2, 2)}, []int{3, 4}, []int32{1, 3, 9, 11}},
		{ir.Slice, ir.Attr{Starts: dims(2), Steps: []int{1}, Shape: dims(0)}, []int{2}, nil},
		{ir.Flip, ir.Attr{Axes: []int{1}}, []int{2, 3}, []int32{2, 1, 0, 5, 4, 3}},
		{ir.Flip, ir.Attr{Axes: []int{0, 1}}, []int{2, 3}, []int32{5, 4, 3, 2, 1, 0}},
		{ir.Flip, ir.Attr{Axes: []int{0}}, []int{0, 3}, nil},
		{ir.Window, ir.Attr{Axes: []int{0}, Size: 2, Stride: 2, Dilation: 3}, []int{6}, []int32{0, 3, 2, 5}},
		{ir.Window, ir.Attr{Axes: []int{0}, Size: 2, Stride: 1, Dilation: 1}, []int{3, 2}, []int32{0, 2, 1, 3, 2, 4, 3, 5}},
		{ir.Contiguous, ir.Attr{}, []int{3}, []int32{0, 1, 2}},
	} {
		g := newGraph(t)
		check(g, g.add(c.op, c.attr, count(g, c.in...)), c.want...)
	}
	g := newGraph(t)
	check(g, g.add(ir.Concat, ir.Attr{Axes: []int{1}}, count(g, 2, 2), count(g, 2, 0), count(g, 2, 1)), int32(0), 1, 0, 2, 3, 1)
	// One test a width of element: movement copies bits.
	g = newGraph(t)
	check(g, g.add(ir.Flip, ir.Attr{Axes: []int{0}}, of(g, []uint8{1, 2})), uint8(2), 1)
	g = newGraph(t)
	check(g, g.add(ir.Flip, ir.Attr{Axes: []int{0}}, of(g, []int16{1, 2})), int16(2), 1)
	g = newGraph(t)
	check(g, g.add(ir.Pad, ir.Attr{Before: dims(1), After: dims(0), Value: math.Float64bits(7)}, of(g, []float64{1, 2})), 7.0, 1, 2)
}

func TestLeaves(t *testing.T) {
	g := newGraph(t)
	check(g, g.add(ir.Iota, ir.Attr{DType: ir.I64, Shape: dims(2, 3), Axes: []int{1}}), int64(0), 1, 2, 0, 1, 2)
	g = newGraph(t)
	check(g, g.add(ir.Iota, ir.Attr{DType: ir.F16, Shape: dims(2, 2), Axes: []int{0}}), 0, 0, ir.F16FromFloat32(1), ir.F16FromFloat32(1))
	g = newGraph(t)
	check(g, g.add(ir.Const, ir.Attr{DType: ir.F32, Value: 0x40490fdb}), float32(math.Pi))
	g = newGraph(t)
	key := philox.Key{1, 2, 3, 4}
	want := make([]uint32, 6)
	philox.Fill(key, 0, want)
	check(g, g.add(ir.Rand, ir.Attr{Shape: dims(2, 3)}, of(g, key[:])), want...)
}

func axes(n ...int) ir.Attr { return ir.Attr{Axes: n} }

func TestReductions(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		op   ir.Op
		axes []int
		want []float32
	}{
		{ir.ReduceSum, []int{0}, []float32{5, 7, 9}}, {ir.ReduceSum, []int{1}, []float32{6, 15}},
		{ir.ReduceSum, []int{0, 1}, []float32{21}}, {ir.ReduceSum, []int{}, x},
		{ir.ReduceProd, []int{1}, []float32{6, 120}}, {ir.ReduceMax, []int{0}, []float32{4, 5, 6}},
		{ir.ReduceMin, []int{1}, []float32{1, 4}},
	} {
		g := newGraph(t)
		check(g, g.add(c.op, axes(c.axes...), of(g, x, 2, 3)), c.want...)
	}
	g := newGraph(t)
	check(g, g.add(ir.ReduceSum, axes(0), of(g, []int8{100, 100})), int8(-56))
	g = newGraph(t)
	check[float32](g, g.add(ir.ReduceSum, axes(0), of(g, []float32{neg0, neg0})), 0)
	g = newGraph(t)
	check[float32](g, g.add(ir.ReduceMax, axes(0), of(g, []float32{neg0, 0, -1})), 0)
	g = newGraph(t)
	check(g, g.add(ir.ReduceMin, axes(0), of(g, []float32{0, neg0, 1})), neg0)
	g = newGraph(t)
	check(g, g.add(ir.ReduceMax, axes(1), of(g, []float32{1, nan, -inf, -inf}, 2, 2)), nan, -inf)
	g = newGraph(t)
	check(g, g.add(ir.ReduceMax, axes(0), of(g, []uint8{3, 250})), uint8(250))
	// f32 keeps 24 bits in each step; the referee rounds once.
	g = newGraph(t)
	check[float32](g, g.add(ir.ReduceSum, axes(0), of(g, []float32{1 << 24, 1, 1, 1, 1})), 1<<24+4)
}

func TestArgReductions(t *testing.T) {
	x := []float32{1, 3, 3, nan, 5, nan, neg0, 0, -1}
	g := newGraph(t)
	check(g, g.add(ir.ArgMax, axes(1), of(g, x, 3, 3)), int64(1), 0, 0)
	g = newGraph(t)
	check(g, g.add(ir.ArgMin, axes(1), of(g, x, 3, 3)), int64(0), 0, 2)
	g = newGraph(t)
	check(g, g.add(ir.ArgMax, axes(0), of(g, []int32{2, 1, 2, 5}, 2, 2)), int64(0), 1)
}

// Empty axes that are only known to be empty when the program runs.
func TestEmpty(t *testing.T) {
	n := ir.Sym("n", 0, 8)
	input := func(g *graph, data []float32, shape ...ir.Dim) *ir.Node {
		return g.input(ir.F32, raw(data), shape)
	}
	for _, op := range []ir.Op{ir.ReduceMax, ir.ReduceMin, ir.ArgMax, ir.ArgMin} {
		g := newGraph(t)
		if _, _, err := g.evaluate(ir.Env{"n": 0}, g.add(op, axes(1), input(g, nil, ir.N(2), n))); !errors.Is(err, errEmpty) {
			t.Errorf("%v over nothing gives %v", op, err)
		}
		g = newGraph(t)
		if outs := g.values(ir.Env{"n": 0}, g.add(op, axes(1), input(g, nil, n, ir.N(2)))); len(outs[0]) != 0 {
			t.Errorf("%v of no rows gives %v", op, outs[0])
		}
	}
	g := newGraph(t)
	sum, prod := g.add(ir.ReduceSum, axes(0), input(g, nil, n)), g.add(ir.ReduceProd, axes(0), input(g, nil, n))
	outs := g.values(ir.Env{"n": 0}, sum, prod)
	if s, p := elements[float32](outs[0])[0], elements[float32](outs[1])[0]; s != 0 || p != 1 {
		t.Errorf("sum and product of nothing: %v, %v", s, p)
	}
	g = newGraph(t)
	m := g.add(ir.MatMul, ir.Attr{}, input(g, nil, ir.N(2), n), input(g, nil, n, ir.N(2)))
	if got := elements[float32](g.values(ir.Env{"n": 0}, m)[0]); len(got) != 4 || got[0] != 0 {
		t.Errorf("product over no columns: %v", got)
	}
}

// Sizes, slice starts and padding may all be symbolic.
func TestSymbolic(t *testing.T) {
	n := ir.Sym("n", 1, 10)
	g := newGraph(t)
	x := g.input(ir.I32, raw([]int32{1, 2, 3}), ir.Shape{n})
	twice := g.add(ir.Concat, axes(0), x, x)
	rest := g.add(ir.Slice, ir.Attr{Starts: []ir.Dim{n.Plus(-1)}, Steps: []int{1}, Shape: ir.Shape{n}}, twice)
	padded := g.add(ir.Pad, ir.Attr{Before: []ir.Dim{n}, After: dims(0), Value: 7}, rest)
	got := elements[int32](g.values(ir.Env{"n": 3}, padded)[0])
	want := []int32{7, 7, 7, 3, 1, 2}
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestGather(t *testing.T) {
	g := newGraph(t)
	check(g, g.add(ir.Gather, axes(1), count(g, 2, 3), of(g, []int64{2, 0, 1, 1}, 2, 2)), int32(2), 0, 4, 4)
	g = newGraph(t)
	check(g, g.add(ir.Gather, axes(0), count(g, 3, 2), of(g, []int32{2, 0}, 1, 2)), int32(4), 1)
	for _, bad := range []int64{3, -1, math.MaxInt64, math.MinInt64} {
		g := newGraph(t)
		_, _, err := g.evaluate(nil, g.add(ir.Gather, axes(0), count(g, 3), of(g, []int64{0, bad})))
		var e *device.IndexError
		if !errors.As(err, &e) || e.Index != bad || e.Size != 3 || e.At != 1 || e.Op != "gather" {
			t.Errorf("index %d gives %v", bad, err)
		}
	}
}

func TestScatter(t *testing.T) {
	build := func(g *graph, mode string) *ir.Node {
		return g.add(ir.Scatter, ir.Attr{Axes: []int{1}, Mode: mode}, count(g, 2, 3),
			of(g, []int32{0, 0, 2, 1}, 2, 2), of(g, []int32{10, 20, 30, 40}, 2, 2))
	}
	g := newGraph(t)
	check(g, build(g, "set"), int32(20), 1, 2, 3, 40, 30)
	g = newGraph(t)
	check(g, build(g, "add"), int32(30), 1, 2, 3, 44, 35)
	g = newGraph(t)
	check(g, g.add(ir.Scatter, ir.Attr{Axes: []int{0}, Mode: "add"}, of(g, []float32{neg0, neg0}), of(g, []int64{1}), of(g, []float32{0})), neg0, 0)
	g = newGraph(t)
	_, _, err := g.evaluate(nil, g.add(ir.Scatter, ir.Attr{Axes: []int{0}, Mode: "set"}, count(g, 2), of(g, []int32{2}), of(g, []int32{1})))
	var e *device.IndexError
	if !errors.As(err, &e) || e.Op != "scatter" {
		t.Errorf("index outside gives %v", err)
	}
}

func TestMatMul(t *testing.T) {
	g := newGraph(t)
	check(g, g.add(ir.MatMul, ir.Attr{}, count(g, 2, 3), count(g, 3, 2)), int32(10), 13, 28, 40)
	g = newGraph(t)
	check[float32](g, g.add(ir.MatMul, ir.Attr{}, of(g, []float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2), of(g, []float32{1, 0, 0, 1, 0, 1, 1, 0}, 2, 2, 2)),
		1, 2, 3, 4, 6, 5, 8, 7)
	g = newGraph(t) // more rows than a block
	check(g, g.add(ir.MatMul, ir.Attr{}, of(g, []float64{1, 2, 3, 4, 5, 6}, 6, 1), of(g, []float64{10}, 1, 1)), 10.0, 20, 30, 40, 50, 60)
	g = newGraph(t)
	check(g, g.add(ir.MatMul, ir.Attr{}, of(g, []int8{100, 100}, 1, 2), of(g, []int8{2, 1}, 2, 1)), int8(300-256))
	g = newGraph(t)
	check(g, g.add(ir.MatMul, ir.Attr{}, of(g, []float32{0, inf}, 1, 2), of(g, []float32{inf, 1}, 2, 1)), nan)
}

func TestConv(t *testing.T) {
	conv := func(g *graph, x, w *ir.Node, stride, dilation, before, after []int, groups int) *ir.Node {
		return g.add(ir.Conv, ir.Attr{Conv: &ir.ConvAttr{Stride: stride, Dilation: dilation, Before: before, After: after, Groups: groups}}, x, w)
	}
	one, none := []int{1}, []int{0}
	g := newGraph(t)
	check[float32](g, conv(g, of(g, []float32{1, 2, 3, 4}, 1, 1, 4), of(g, []float32{1, 10}, 1, 1, 2), one, one, none, none, 1), 21, 32, 43)
	g = newGraph(t)
	check[float32](g, conv(g, of(g, []float32{1, 2, 3, 4}, 1, 1, 4), of(g, []float32{1, 10}, 1, 1, 2), []int{2}, []int{2}, one, one, 1), 20, 42)
	g = newGraph(t) // two groups, two outputs each
	check[float32](g, conv(g, of(g, []float32{1, 2, 3, 4}, 1, 2, 2), of(g, []float32{1, 2, 3, 4}, 4, 1, 1), one, one, none, none, 2), 1, 2, 2, 4, 9, 12, 12, 16)
	g = newGraph(t) // two channels are summed
	check(g, conv(g, of(g, []int32{1, 2, 3, 4}, 2, 2, 1), of(g, []int32{1, 10}, 1, 2, 1), one, one, none, none, 1), int32(21), 43)
	g = newGraph(t) // 2 x 2 over 3 x 3, by hand
	two, zeros := []int{1, 1}, []int{0, 0}
	check[float32](g, conv(g, of(g, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3), of(g, []float32{1, 2, 3, 4}, 1, 1, 2, 2), two, two, zeros, zeros, 1), 37, 47, 67, 77)
	g = newGraph(t) // an infinite weight over the padding
	check(g, conv(g, of(g, []float32{1, 1}, 1, 1, 2), of(g, []float32{inf, 1}, 1, 1, 2), one, one, one, none, 1), nan, inf)
}

func TestSort(t *testing.T) {
	x := []float32{3, nan, neg0, 0, -inf, 3, nan}
	sorted := func(g *graph, desc bool, out int) *ir.Node {
		return g.get(g.add(ir.Sort, ir.Attr{Axes: []int{0}, Descending: desc}, of(g, x)), out)
	}
	g := newGraph(t)
	check(g, sorted(g, false, 0), -inf, neg0, 0, 3, 3, nan, nan)
	g = newGraph(t)
	check(g, sorted(g, false, 1), int64(4), 2, 3, 0, 5, 1, 6)
	g = newGraph(t)
	check(g, sorted(g, true, 0), 3, 3, neg0, 0, -inf, nan, nan)
	g = newGraph(t)
	check(g, sorted(g, true, 1), int64(0), 5, 2, 3, 4, 1, 6)
	g = newGraph(t)
	check(g, g.get(g.add(ir.Sort, axes(0), of(g, []int16{3, 1, 2, 5}, 2, 2)), 0), int16(2), 1, 3, 5)
}

func TestScan(t *testing.T) {
	for mode, want := range map[string][]float32{"sum": {1, 3, 0, nan}, "prod": {1, 2, -6, nan}, "max": {1, 2, 2, nan}} {
		g := newGraph(t)
		check(g, g.add(ir.Scan, ir.Attr{Axes: []int{0}, Mode: mode}, of(g, []float32{1, 2, -3, nan})), want...)
	}
	g := newGraph(t)
	check(g, g.add(ir.Scan, ir.Attr{Axes: []int{0}, Mode: "sum"}, of(g, []uint8{200, 1, 100, 2}, 2, 2)), uint8(200), 1, 44, 3)
}

func TestSegments(t *testing.T) {
	offsets := []int32{0, 2, 2, 3}
	g := newGraph(t)
	check(g, g.add(ir.SegmentIDs, ir.Attr{Shape: dims(3)}, of(g, offsets)), int32(0), 0, 2)
	for mode, want := range map[string][]float32{"sum": {4, 6, 0, 0, 5, nan}, "max": {3, 4, -inf, -inf, 5, nan}} {
		g := newGraph(t)
		check(g, g.add(ir.SegmentReduce, ir.Attr{Mode: mode}, of(g, []float32{1, 2, 3, 4, 5, nan}, 3, 2), of(g, offsets)), want...)
	}
	g = newGraph(t)
	check(g, g.add(ir.SegmentReduce, ir.Attr{Mode: "max"}, of(g, []int8{-3, 4, 5}), of(g, offsets)), int8(4), -128, 5)
	for _, bad := range [][]int32{{1, 3}, {0, 4}, {0, 2, 1, 3}, {0, 2}, {0, -1, 3}} {
		g := newGraph(t)
		_, _, err := g.evaluate(nil, g.add(ir.SegmentIDs, ir.Attr{Shape: dims(3)}, of(g, bad)))
		var e *device.IndexError
		if !errors.As(err, &e) {
			t.Errorf("offsets %v give %v", bad, err)
		}
	}
}
