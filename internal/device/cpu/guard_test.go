package cpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
	"github.com/sinterml/sinter/internal/jit"
)

// Whole programs with every leaf and output right in front of an unmapped
// page, or right behind one: kernels that leave their buffers fault, and the
// fault is the run's error. Nothing behind a buffer may be read: a tensor may be
// the last thing in a mapped file.
func TestGuardPages(t *testing.T) {
	n := effort.Of(60, 200, 400, 400)
	devices := machines(t)
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		c := irtest.Config{Smooth: true, Symbolic: seed%3 == 0, MaxElements: 2000, MaxNodes: 3 + seed%12}
		g, leaves, env := irtest.Random(rng, c)
		d := devices[seed%len(devices)]
		want, err := evaluate(d, g, env, leaves, device.Options{})
		if err != nil {
			continue // an index out of range, a division by zero, nothing to take a maximum of
		}
		for name, alloc := range map[string]func(n int) (*jit.Guarded, error){
			"behind": func(n int) (*jit.Guarded, error) { return jit.AllocGuarded(n, 1) },
			"front":  jit.AllocGuardedFront,
		} {
			got, err := evaluateGuarded(d, g, env, leaves, alloc)
			if err != nil {
				t.Fatalf("seed %d, %v, %s: %v\n%v", seed, d.ISA(), name, err, g)
			}
			for i := range want {
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("seed %d, %v, %s: output %d depends on where buffers lie\n%v", seed, d.ISA(), name, i, g)
				}
			}
		}
	}
}

// evaluateGuarded is evaluate with every buffer in memory of its own.
func evaluateGuarded(d *Device, g *ir.Graph, env ir.Env, leaves [][]byte, alloc func(n int) (*jit.Guarded, error)) (outs [][]byte, err error) {
	m, err := d.CompileGraph(context.Background(), g, device.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.Close() }()
	var guards []*jit.Guarded
	defer func() {
		for i, guard := range guards {
			if e := guard.Close(); e != nil && err == nil {
				err = fmt.Errorf("buffer %d of leaves and outputs: %w", i, e)
			}
		}
	}()
	place := func(n int) (device.Buffer, error) {
		guard, err := alloc(n)
		if err != nil {
			return nil, err
		}
		guards = append(guards, guard)
		return d.Import(guard.Bytes()[:n:n])
	}
	b := &device.Bound{Module: m, Env: env}
	for _, leaf := range leaves {
		buf, err := place(len(leaf))
		if err != nil {
			return nil, err
		}
		copy(buf.Bytes(), leaf)
		b.Leaves = append(b.Leaves, buf)
	}
	for _, o := range g.Outputs {
		n, err := o.Shape.Numel().Eval(env)
		if err != nil {
			return nil, err
		}
		buf, err := place(n * o.DType.Size())
		if err != nil {
			return nil, err
		}
		b.Outputs = append(b.Outputs, buf)
	}
	ev, err := d.Submit(context.Background(), b)
	if err == nil {
		err = ev.Wait(context.Background())
	}
	for i, leaf := range leaves {
		if err == nil && !bytes.Equal(b.Leaves[i].Bytes(), leaf) {
			err = fmt.Errorf("leaf %d was written", i)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, o := range b.Outputs {
		outs = append(outs, bytes.Clone(o.Bytes()))
	}
	return outs, nil
}

// A run that leaves its memory ends with an error and not with the process:
// here a leaf claims to be a page longer than it is.
func TestGuardPagesCatch(t *testing.T) {
	g, err := ir.Parse("graph\nleaf 0 input \"x\" f32[1024]\n%0 = input : f32[1024]\n%1 = neg %0 : f32[1024]\nreturn %1\n")
	if err != nil {
		t.Fatal(err)
	}
	guard, err := jit.AllocGuarded(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	for _, d := range machines(t) {
		m, err := d.CompileGraph(context.Background(), g, device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := d.Import(unsafe.Slice((*byte)(guard.Pointer()), 4096))
		if err != nil {
			t.Fatal(err)
		}
		out, err := d.Alloc(4096)
		if err != nil {
			t.Fatal(err)
		}
		ev, err := d.Submit(context.Background(), &device.Bound{Module: m, Leaves: []device.Buffer{x}, Outputs: []device.Buffer{out}})
		if err == nil {
			err = ev.Wait(context.Background())
		}
		var fault *jit.FaultError
		if !errors.As(err, &fault) {
			t.Errorf("%v: %v", d.ISA(), err)
		}
		if err := errors.Join(m.Close(), x.Close(), out.Close()); err != nil {
			t.Error(err)
		}
	}
}

// The number of threads changes no bit, on graphs large enough to share.
func TestThreadsOnRandomGraphs(t *testing.T) {
	n := effort.Of(30, 200, 200, 20_000)
	for _, isa := range []ISA{AMXFP16, AMX, AVX512, AVX2, NEON, Generic} {
		one, err := New(Options{ISA: isa, Threads: 1})
		if err != nil {
			t.Logf("%v: %v", isa, err)
			continue
		}
		two, err := New(Options{ISA: isa, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range n {
			c := irtest.Config{Symbolic: seed%3 == 0, MaxElements: 30_000, MaxNodes: 4 + seed%10, DTypes: []ir.DType{ir.F32, ir.F32, ir.BF16, ir.I32, ir.F64}[:1+seed%5]}
			g, leaves, env := irtest.Random(rand.New(rand.NewPCG(uint64(seed), uint64(isa))), c)
			x, err1 := evaluate(one, g, env, leaves, device.Options{})
			y, err2 := evaluate(two, g, env, leaves, device.Options{})
			if fmt.Sprint(err1) != fmt.Sprint(err2) {
				t.Fatalf("seed %d, %v: %v, with two threads %v", seed, isa, err1, err2)
			}
			for i := range x {
				if !bytes.Equal(x[i], y[i]) {
					t.Fatalf("seed %d, %v: output %d differs\n%v", seed, isa, i, g)
				}
			}
		}
		if one.Close() != nil || two.Close() != nil {
			t.Error("closing failed")
		}
	}
}
