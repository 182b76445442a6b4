package sinter

import (
	"context"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// LiveHeap is how many bytes of the heap are in use. Cleanups run beside a collection,
// on a busy machine long behind it, and make more garbage: it collects until three
// collections in a row have found no more.
func LiveHeap() uint64 {
	least := uint64(math.MaxUint64)
	for idle := 0; idle < 3; idle++ {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.HeapAlloc+4<<10 < least {
			idle = -1
		}
		least = min(least, m.HeapAlloc)
	}
	return least
}

// A loop that computes its state step by step must not keep its history.
func TestResolvedTensorsDropTheirExpressions(t *testing.T) {
	ctx := context.Background()
	x := Of(make([]float32, 256), 256)
	var kept []Tensor
	step := func(n int) {
		for range n {
			before := x
			x = x.Mul(Scalar(0.5)).Add(Scalar(1))
			y := x.Sub(before) // built before x has a value
			if _, err := Eval(ctx, x); err != nil {
				t.Fatal(err)
			}
			kept = append(kept[max(0, len(kept)-2):], y)
		}
	}
	step(200)
	start := LiveHeap()
	step(5000)
	if end := LiveHeap(); end > start+512<<10 {
		t.Errorf("5000 steps hold %d bytes more", end-start)
	}
	if op := x.v.expr.Load().op.String(); op != "bound" {
		t.Errorf("x is still %s", op)
	}
	runtime.KeepAlive(kept)
}

func TestLongChain(t *testing.T) {
	x, one := Of([]float32{0}, 1), Of([]float32{1}, 1)
	for range 100_000 {
		x = x.Add(one)
	}
	ctx := WithDevice(context.Background(), open(t, "interp"))
	if v, err := Values[float32](ctx, x); err != nil || v[0] != 100_000 {
		t.Errorf("%v, %v", v, err)
	}
}

func TestNothingRunsBeforeItIsAskedFor(t *testing.T) {
	zero := Of([]int32{0}, 1)
	x := Of([]int32{1}, 1).FloorDiv(zero) // fails only when it runs
	if x.Err() != nil || !strings.Contains(x.String(), "idiv") {
		t.Fatalf("%v", x)
	}
	g := Capture(x)
	if g.Err() != nil {
		t.Fatal(g.Err())
	}
	if _, err := Values[int32](context.Background(), x); err == nil {
		t.Error("division by zero gave no error")
	}
}

func TestCaptureKeepsWhatTensorsDrop(t *testing.T) {
	x := Of([]float32{1, 2}, 2)
	y := x.Mul(x).Add(Scalar(1))
	g := Capture(y)
	before := g.String()
	want[float32](t, y, 2, 5)
	after := g.String()
	if !strings.HasPrefix(after, before) {
		t.Errorf("the graph changed:\n%s\n%s", before, after)
	}
	if !strings.Contains(after, "= [2 5]") || strings.Contains(before, "= [2 5]") {
		t.Errorf("values are not shown once they are there:\n%s", after)
	}
	if dot := g.DOT(); !strings.Contains(dot, "mul") || !strings.Contains(dot, "n0 -> ") {
		t.Errorf("DOT: %s", dot)
	}
	var page strings.Builder
	if err := g.HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"mul"`, `"i":[0,0]`, `[2 5]"`} {
		if !strings.Contains(page.String(), part) {
			t.Errorf("the page lacks %s:\n%s", part, &page)
		}
	}
	page.Reset()
	if err := Capture(Input("<b>", F32).Neg()).HTML(&page); err != nil || strings.Contains(page.String(), "<b>") {
		t.Errorf("a name is not escaped: %v\n%s", err, &page)
	}
	if g.HTML(nil) == nil || (*Graph)(nil).HTML(&page) != nil {
		t.Error("no writer is an error, the zero Graph a page that says so")
	}
}

func TestCaptureMergesEqualOperationsButNotDraws(t *testing.T) {
	x := Of([]float32{1, 2}, 2)
	if n := strings.Count(Capture(x.Exp().Add(x.Exp())).String(), " exp "); n != 1 {
		t.Errorf("exp came %d times", n)
	}
	bits := func() Tensor { return NewRand(Scalar(7)).Bits(N(2)) }
	if n := strings.Count(Capture(bits(), bits()).String(), " rand "); n != 2 {
		t.Errorf("%d draws, want 2", n)
	}
}

func TestHashLeavesOutValuesAndNames(t *testing.T) {
	hash := func(x Tensor) string { return Capture(x.Mul(Scalar(3))).graph.Hash().String() }
	a := hash(Of([]float32{1, 2}, 2))
	if b := hash(Of([]float32{3, 4}, 2)); a != b {
		t.Error("values are part of the hash")
	}
	if b := hash(Of([]float32{1, 2, 3}, 3)); a == b {
		t.Error("the shape is not part of the hash")
	}
	in := hash(Input("a", F32, N(2)))
	if b := hash(Input("b", F32, N(2))); in != b {
		t.Error("names are part of the hash")
	}
	if in == a {
		t.Error("an input and bound values are the same")
	}
	x, y := Of([]float32{1}, 1), Of([]float32{1}, 1)
	if Capture(x.Add(y)).graph.Hash() == Capture(x.Add(x)).graph.Hash() {
		t.Error("x+y and x+x are the same")
	}
	draw := func() string { return Capture(NewRand(Scalar(1)).Uniform(N(3))).graph.Hash().String() }
	r := NewRand(Of([]int64{5}))
	r.Uniform(N(3))
	if draw() != Capture(r.Uniform(N(3))).graph.Hash().String() {
		t.Error("seed or stream are part of the hash")
	}
}

// A size squared again and again is refused before its text grows without end.
func TestSizesStayReasonable(t *testing.T) {
	x := Input("x", F32, Sym("n", 0, 1))
	for range 60 {
		x = x.Outer(x).Reshape(-1)
	}
	if x.Err() == nil {
		t.Error("no limit")
	}
}

// What a tensor was made from long ago is remembered in bounded room.
func TestOriginsAreBounded(t *testing.T) {
	x := Of([]float32{1})
	first := x.v.serial
	for range 2 * maxRuns {
		before := x
		x = x.Mul(Scalar(0.5))
		_ = x.Sub(before) // a number that x does not come from
		if _, err := Eval(context.Background(), x); err != nil {
			t.Fatal(err)
		}
	}
	o := x.v.expr.Load().origins
	if len(o) > maxRuns || !o.has(first) || o.has(x.v.serial) {
		t.Errorf("%d runs, the first tensor among them: %v, itself: %v", len(o), o.has(first), o.has(x.v.serial))
	}
}
