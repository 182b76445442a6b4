package sinter

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestVariableReadsTheCommittedVersion(t *testing.T) {
	v := NewVariable("v", Of([]float32{1, 2}, 2))
	x := v.Tensor()
	next := v.Assign(x.Add(Scalar(10)))
	double := x.Mul(Scalar(2))
	p := compileOn(t, open(t, "interp"), next, double)
	for _, expected := range [][2]float32{{1, 2}, {11, 12}} {
		want(t, v.Tensor(), expected[0], expected[1])
		out, err := p.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		want(t, out[0], expected[0]+10, expected[1]+10)
		want(t, out[1], 2*expected[0], 2*expected[1]) // the old version
	}
	want[float32](t, v.Tensor(), 21, 22)
}

func TestAssignCommitsOnlyAsAnOutput(t *testing.T) {
	v := NewVariable("v", Scalar(1))
	a := v.Assign(Scalar(5))
	want[float32](t, a.Mul(Scalar(2)), 10)
	want[float32](t, v.Tensor(), 1)
	want[float32](t, a, 5)
	want[float32](t, v.Tensor(), 5)
	if v.Assign(Of([]int32{1})).Err() == nil || v.Assign(Of([]float32{1, 2}, 2)).Err() == nil {
		t.Error("assigned another type")
	}
}

func TestFailedRunCommitsNothing(t *testing.T) {
	a, b := NewVariable("a", Scalar(1)), NewVariable("b", Of([]int32{1}))
	p := compileOn(t, open(t, "interp"), a.Assign(Scalar(2)), b.Assign(b.Tensor().FloorDiv(Of([]int32{0}))))
	_, err := p.Run(context.Background(), nil)
	var division *DivisionError
	if !errors.As(err, &division) {
		t.Fatalf("got %v", err)
	}
	want[float32](t, a.Tensor(), 1)
	want[int32](t, b.Tensor(), 1)
}

// Counting up from many goroutines loses nothing only if runs take turns, and
// readers see two variables change together.
func TestRunsThatAssignTakeTurns(t *testing.T) {
	ctx := context.Background()
	d := open(t, "interp")
	a, b := NewVariable("a", Of([]int64{0})), NewVariable("b", Of([]int64{0}))
	one := Scalar(1)
	up := compileOn(t, d, a.Assign(a.Tensor().Add(one)), b.Assign(b.Tensor().Add(one)))
	other := compileOn(t, d, b.Assign(b.Tensor().Add(one)), a.Assign(a.Tensor().Add(one)))
	difference := compileOn(t, d, a.Tensor().Sub(b.Tensor()))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			p := up
			if i%2 == 0 {
				p = other
			}
			for range 50 {
				if _, err := p.Run(ctx, nil); err != nil {
					t.Error(err)
				}
				out, err := difference.Run(ctx, nil)
				if err != nil {
					t.Error(err)
					continue
				}
				if v, err := Values[int64](ctx, out[0]); err != nil || v[0] != 0 {
					t.Errorf("a - b = %v, %v", v, err)
				}
			}
		})
	}
	wg.Wait()
	want[int64](t, a.Tensor(), 400)
}

func TestWaitingForATurnCanBeCancelled(t *testing.T) {
	v := NewVariable("v", Scalar(0))
	p := compileOn(t, open(t, "interp"), v.Assign(Scalar(1)))
	if err := v.turn.take(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.Run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	v.turn.pass()
	if _, err := p.Run(context.Background(), nil); err != nil {
		t.Error(err)
	}
}

func TestVariableStartsFromAComputedTensor(t *testing.T) {
	w := NewVariable("w", NewRand(Scalar(3)).Normal(N(4)).Mul(Scalar(0)).Add(Scalar(2)))
	shadow := NewVariable("shadow", w.Tensor().Mul(Scalar(3)))
	want[float32](t, shadow.Tensor(), 6, 6, 6, 6)
}

// Making the first value of one variable assigns another: a run that assigns
// that one must not wait for itself.
func TestFirstValueThatAssigns(t *testing.T) {
	a := NewVariable("a", Of([]float32{1}))
	b := NewVariable("b", a.Assign(a.Tensor().Add(Scalar(1))))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := Eval(ctx, a.Assign(a.Tensor().Add(b.Tensor())))
	if err != nil {
		t.Fatal(err)
	}
	want[float32](t, out[0], 4) // 2 + 2: b's first value had assigned a
	want[float32](t, a.Tensor(), 4)
	want[float32](t, b.Tensor(), 2)
}

func TestVariablesAreExchanged(t *testing.T) {
	for _, device := range []string{"interp", "cpu"} {
		a, b := NewVariable("a", Of([]float32{1, 2}, 2)), NewVariable("b", Of([]float32{3, 4}, 2))
		p := compileOn(t, open(t, device), a.Assign(b.Tensor()), b.Assign(a.Tensor()))
		for i := range 3 {
			if _, err := p.Run(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				want[float32](t, a.Tensor(), 3, 4)
				want[float32](t, b.Tensor(), 1, 2)
			}
		}
		want[float32](t, a.Tensor(), 3, 4)
		want[float32](t, b.Tensor(), 1, 2)
	}
}

// A run that gives a variable's version as a result may have another run commit
// the next one just before it says that it keeps this.
func TestVersionSharedAfterItsTime(t *testing.T) {
	ctx := context.Background()
	v := NewVariable("v", Zeros(F32, N(1)))
	p := compileOn(t, open(t, "cpu"), v.Assign(v.Tensor().Add(Scalar(1))))
	step := func() {
		t.Helper()
		if err := p.Step(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	step()
	var version [1]*storage
	if err := versions(ctx, []*Variable{v}, version[:]); err != nil {
		t.Fatal(err)
	}
	step()
	version[0].share()
	endUses([]*Variable{v}, version[:])
	got, err := elements[float32](ctx, version[0])
	if err != nil || got[0] != 1 {
		t.Errorf("the version that was shared is %v, %v, want 1", got, err)
	}
	want[float32](t, v.Tensor(), 2)
}
