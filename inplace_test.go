package sinter

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/toy"
)

// address is where the current version of v lies.
func address(v *Variable) *byte {
	s := v.version.Load()
	for _, b := range s.buffers {
		return unsafe.SliceData(b.Bytes())
	}
	return nil
}

// onBoth runs a test on the processor and on a device of work-groups.
func onBoth(t *testing.T, test func(t *testing.T, d *Device)) {
	t.Run("cpu", func(t *testing.T) { test(t, open(t, "cpu")) })
	t.Run("toy", func(t *testing.T) {
		device.Register(toy.Driver())
		test(t, open(t, "toy"))
	})
}

// counter is a variable of 5,000 elements, all n, that was computed.
func counter(name string, n float64) *Variable {
	return NewVariable(name, Full(F32, n, N(5000)))
}

func TestVariablesChangeWhereTheyLie(t *testing.T) { onBoth(t, variablesChangeWhereTheyLie) }

func variablesChangeWhereTheyLie(t *testing.T, d *Device) {
	ctx := context.Background()
	v, w := counter("v", 1), counter("w", 10)
	step := compileOn(t, d, v.Assign(v.Tensor().Add(w.Tensor())), w.Assign(w.Tensor().Sub(v.Tensor())), v.Tensor().Mul(w.Tensor()).Sum())
	var at [2]*byte
	for i, expected := range [][3]float32{{11, 9, 50000}, {20, -2, 495000}, {18, -22, -200000}} {
		out, err := step.Run(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		for j, x := range []Tensor{v.Tensor(), w.Tensor(), out[0], out[1]} {
			got, err := Values[float32](WithDevice(ctx, d), x)
			if err != nil || got[0] != expected[j%2] || got[4999] != expected[j%2] {
				t.Errorf("step %d: value %d is %v, want %v: %v", i, j, got[0], expected[j%2], err)
			}
		}
		want(t, out[2], expected[2])
		now := [2]*byte{address(v), address(w)}
		if i > 0 && d.Name() == "cpu" && now[0] != at[0] && now[1] != at[1] {
			t.Error("neither variable was changed in place")
		}
		at = now
	}
}

// One product's kernel computes two new values and what is made of them and of
// both old ones, which it must not have written over by then.
func TestProductsReadOldValuesFirst(t *testing.T) { onBoth(t, productsReadOldValuesFirst) }

func productsReadOldValuesFirst(t *testing.T, d *Device) {
	ctx := context.Background()
	v, u := NewVariable("v", Full(F32, 0, N(40), N(40))), NewVariable("u", Full(F32, 5, N(40), N(40)))
	ones := make([]float32, 40*8)
	for i := range ones {
		ones[i] = 1
	}
	x := Of(ones, 40, 8)
	a := v.Assign(x.MatMul(x.T()).Mul(Scalar(0.125)).Add(v.Tensor()))
	b := u.Assign(a.Tanh().Floor().Add(Scalar(2)).Add(v.Tensor()))
	step := compileOn(t, d, b, a, b.Mul(a).Add(v.Tensor()).Sub(u.Tensor()))
	for i, expected := range [][3]float32{{1, 2, -3}, {2, 3, 5}, {3, 4, 11}} {
		out, err := step.Run(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		for j, r := range []Tensor{v.Tensor(), u.Tensor(), out[2]} {
			if got, err := Values[float32](WithDevice(ctx, d), r); err != nil || got[0] != expected[j] || got[1599] != expected[j] {
				t.Errorf("step %d: value %d is %v, want %v: %v", i, j, got[0], expected[j], err)
			}
		}
	}
}

// What somebody else has stays as it is.
func TestOldVersionsThatTensorsHaveStay(t *testing.T) { onBoth(t, oldVersionsThatTensorsHaveStay) }

func oldVersionsThatTensorsHaveStay(t *testing.T, d *Device) {
	ctx := context.Background()
	on := WithDevice(ctx, d)
	start := make([]float32, 5000)
	first := Of(start, 5000)
	v := NewVariable("v", first)
	step := compileOn(t, d, v.Assign(v.Tensor().Add(Scalar(1))), v.Tensor())
	plain := compileOn(t, d, v.Assign(v.Tensor().Add(Scalar(1))))
	var kept []Tensor
	for range 3 {
		old, err := Eval(on, v.Tensor())
		if err != nil {
			t.Fatal(err)
		}
		assigned, err := Eval(on, v.Assign(v.Tensor().Add(Scalar(1))))
		if err != nil {
			t.Fatal(err)
		}
		out, err := step.Run(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, old[0], assigned[0], out[1])
		for range 2 {
			if err := plain.Step(ctx, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, expected := range []float32{0, 1, 1, 4, 5, 5, 8, 9, 9} {
		if got, err := Values[float32](on, kept[i]); err != nil || got[0] != expected || got[4999] != expected {
			t.Errorf("tensor %d is %v, want %v: %v", i, got[0], expected, err)
		}
	}
	if got, err := Values[float32](on, first); err != nil || got[0] != 0 {
		t.Errorf("the tensor that the variable was made from is %v: %v", got[0], err)
	}
}

// A run that fails changes nothing, though its results would lie where the old
// values do; nor does one that is cancelled.
func TestFailedRunInPlaceChangesNothing(t *testing.T) { onBoth(t, failedRunInPlaceChangesNothing) }

func failedRunInPlaceChangesNothing(t *testing.T, d *Device) {
	ctx := context.Background()
	table, sum := counter("table", 1), counter("sum", 0)
	at := Input("at", I32, N(2))
	rows := table.Tensor().Take(at, 0)
	step := compileOn(t, d, table.Assign(table.Tensor().Add(rows.Sum())), sum.Assign(sum.Tensor().Add(Scalar(1))))
	good, bad := inputs{"at": Of([]int32{1, 4999}, 2)}, inputs{"at": Of([]int32{1, 5000}, 2)}
	for i, expected := range []float32{3, 9, 27} {
		for range 2 {
			var outside *IndexError
			if err := step.Step(ctx, bad); !errors.As(err, &outside) {
				t.Fatalf("got %v", err)
			}
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		if err := step.Step(cancelled, good); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		if err := step.Step(ctx, good); err != nil {
			t.Fatal(err)
		}
		if got, err := Values[float32](ctx, table.Tensor()); err != nil || got[7] != expected {
			t.Errorf("step %d: %v, want %v: %v", i, got[7], expected, err)
		}
		if got, err := Values[float32](ctx, sum.Tensor()); err != nil || got[7] != float32(i+1) {
			t.Errorf("step %d: %v steps were counted: %v", i, got[7], err)
		}
	}
}

// Readers see two variables change together, and no half of one, while steps
// write over them.
func TestReadersBesideStepsInPlace(t *testing.T) { onBoth(t, readersBesideStepsInPlace) }

func readersBesideStepsInPlace(t *testing.T, d *Device) {
	ctx := context.Background()
	on := WithDevice(ctx, d)
	a, b := counter("a", 0), counter("b", 0)
	one := Scalar(1)
	up := compileOn(t, d, a.Assign(a.Tensor().Add(one)), b.Assign(b.Tensor().Add(one)))
	other := compileOn(t, d, b.Assign(b.Tensor().Add(one)), a.Assign(a.Tensor().Add(one)))
	spread := compileOn(t, d, a.Tensor().Sub(b.Tensor()).Abs().Max(), a.Tensor().Max().Sub(a.Tensor().Min()))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			p := []*Program{up, other}[i%2]
			for range 100 {
				if err := p.Step(ctx, nil); err != nil {
					t.Error(err)
				}
				if i == 3 && rand.IntN(8) == 0 {
					if _, err := Eval(on, a.Tensor()); err != nil {
						t.Error(err)
					}
				}
			}
		})
		wg.Go(func() {
			for range 50 {
				out, err := spread.Run(ctx, nil)
				if err != nil {
					t.Error(err)
					return
				}
				for j, x := range out {
					if v, err := Values[float32](on, x); err != nil || v[0] != 0 {
						t.Errorf("difference %d is %v, %v", j, v, err)
					}
				}
				if v, err := Values[float32](on, b.Tensor()); err != nil || v[0] != v[4999] {
					t.Errorf("half of a step was read: %v and %v, %v", v[0], v[4999], err)
				}
			}
		})
	}
	wg.Wait()
	if v, err := Values[float32](on, a.Tensor()); err != nil || v[0] != 400 {
		t.Errorf("%v steps were counted, %v", v[0], err)
	}
}

// A step allocates nothing once it has run: no tensor, and nothing on the Go
// heap.
func TestStepsAllocateNothing(t *testing.T) {
	ctx := context.Background()
	d := open(t, "cpu")
	data := Of(make([]float32, 1000*16), 1000, 16)
	w, m := NewVariable("w", Full(F32, 0.5, N(16), N(8))), NewVariable("m", Full(F32, 0, N(16), N(8)))
	loss := NewVariable("loss", Full(F32, 0))
	y := data.Take(Input("rows", I32, N(32)), 0).MatMul(w.Tensor())
	l := y.Sub(Scalar(1)).Square().Mean()
	g := Grad(l, w.Tensor())[0]
	next := m.Tensor().Mul(Scalar(0.9)).Add(g)
	step := compileOn(t, d, m.Assign(next), w.Assign(w.Tensor().Sub(next.Mul(Input("rate", F32)))), loss.Assign(l), l.Mul(Scalar(2)))
	in := inputs{"rate": Of([]float32{0.1}).Reshape(), "rows": Of(make([]int32, 32), 32)}
	batches := []Tensor{Of(make([]int32, 32), 32), Of(make([]int32, 32), 32)}
	for range 3 {
		if err := step.Step(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	before, i := d.Stats(), 0
	allocs := testing.AllocsPerRun(100, func() {
		i++
		in["rows"] = batches[i%2]
		if err := step.Step(ctx, in); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("a step allocates %v times", allocs)
	}
	if after := d.Stats(); after.Allocated != before.Allocated || after.Peak != before.Peak {
		t.Errorf("tensors took %d bytes, %d at most; before %d and %d", after.Allocated, after.Peak, before.Allocated, before.Peak)
	}
}

// Results that Step drops, and has the next one use again, go with the program.
func TestCloseGivesBackWhatStepDrops(t *testing.T) {
	d := open(t, "cpu")
	v := counter("v", 1)
	step := compileOn(t, d, v.Assign(v.Tensor().Add(Scalar(1))), v.Tensor().Neg())
	if err := step.Step(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	before := d.Stats().Allocated
	if err := step.Close(); err != nil {
		t.Fatal(err)
	}
	if after := d.Stats().Allocated; after > before-4*5000 {
		t.Errorf("%d bytes before Close, %d after", before, after)
	}
	want(t, v.Tensor().Index(0, 0), float32(2))
}
