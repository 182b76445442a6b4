package launchtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/launch"
)

// recorded is what a run was said to take.
type recorded struct{ runs [][]device.KernelRun }

func (r *recorded) Record(_ device.Module, kernels []device.KernelRun) {
	r.runs = append(r.runs, kernels)
}

// Timed compares runs that are timed with plain ones, and the times of their kernels
// with that of the run for the host. apart says whether the host has to start each
// kernel by itself; else each kernel takes least, at least.
func Timed(t *testing.T, d *launch.Device, apart bool, least time.Duration) {
	t.Helper()
	const products, rounds = 5, 3
	ctx := context.Background()
	m, err := d.CompileGraph(ctx, Chain(t, products), device.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	y, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]byte, 256)
	for i := range 64 {
		binary.LittleEndian.PutUint32(values[4*i:], math.Float32bits(float32(i%5)/16))
	}
	if err := d.Copy(ctx, x, compile.HostBytes(values)); err != nil {
		t.Fatal(err)
	}
	run := func(r device.Recorder) (result []byte, began, ended time.Time) {
		began = time.Now()
		e, err := d.Submit(ctx, &device.Bound{Module: m, Leaves: []device.Buffer{x}, Outputs: []device.Buffer{y}, Record: r})
		if err == nil {
			err = e.Wait(ctx)
		}
		ended = time.Now()
		result = make([]byte, 256)
		if err := errors.Join(err, d.Copy(ctx, compile.HostBytes(result), y)); err != nil {
			t.Fatal(err)
		}
		return result, began, ended
	}
	want, _, _ := run(nil)
	r := &recorded{}
	for n := range rounds {
		got, began, ended := run(r)
		if !bytes.Equal(got, want) {
			t.Error("a run that is timed has other results")
		}
		if len(r.runs) != n+1 || len(r.runs[n]) != products {
			t.Fatalf("recorded %+v", r.runs)
		}
		last := began
		for i, k := range r.runs[n] {
			took := k.End.Sub(k.Start)
			if k.Number != i || k.Apart != apart || k.Tasks < 1 || k.Start.Before(last) || took < 0 || !apart && took < least {
				t.Errorf("kernel %d took %v, apart: %v, %v behind what came before: %+v", i, took, k.Apart, k.Start.Sub(last), k)
			}
			last = k.End
		}
		if late := last.Sub(ended); late > ended.Sub(began)/10 {
			t.Errorf("the last kernel ends %v behind the run", late)
		}
	}
	if got, _, _ := run(nil); !bytes.Equal(got, want) || len(r.runs) != rounds {
		t.Errorf("%d of %d runs are recorded", len(r.runs), rounds)
	}
	if err := errors.Join(x.Close(), y.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}

// unrecorded is of a run that fails.
type unrecorded struct{ t *testing.T }

func (u unrecorded) Record(device.Module, []device.KernelRun) {
	u.t.Error("a run that failed is recorded")
}

// TimedFails runs five kernels that are timed, of which one fails: wants is in the
// error.
func TimedFails(t *testing.T, d *launch.Device, wants string) {
	t.Helper()
	ctx := context.Background()
	m, err := d.CompileGraph(ctx, Chain(t, 5), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &device.Bound{Module: m, Record: unrecorded{t}}
	for _, list := range []*[]device.Buffer{&b.Leaves, &b.Outputs} {
		v, err := d.Alloc(256)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		*list = append(*list, v)
	}
	e, err := d.Submit(ctx, b)
	if err == nil {
		err = e.Wait(ctx)
	}
	if err == nil || !strings.Contains(err.Error(), wants) {
		t.Errorf("error %v, want %q", err, wants)
	}
	_ = m.Close() // a device that was lost may say so
}
