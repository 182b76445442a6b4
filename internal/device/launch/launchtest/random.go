// Package launchtest tests what is below a device of package launch: single
// kernels on a Backend, and runs that fail.
package launchtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// RandomKernels compares kernels in a shape with the interpreter: four, 40 in CI, 80
// with -tags long. has, if it is not nil, leaves out operations that the device lacks;
// a type whose sums it leaves out is not used at all.
func RandomKernels(t *testing.T, b launch.Backend, s entry.Shape, has func(op ir.Op, from ir.DType) bool) {
	t.Helper()
	if has == nil {
		has = func(ir.Op, ir.DType) bool { return true }
	}
	count := effort.Of[uint64](4, 4, 40, 80)
	var cases []*looptest.Case
	var entries []*entry.Kernel
	types := slices.DeleteFunc(ir.DTypes(), func(d ir.DType) bool { return d != ir.Bool && !has(ir.Add, d) })
	for seed := range count {
		k := looptest.Random(rand.New(rand.NewPCG(seed, 2)), looptest.Config{WildIndices: true, Op: has, DTypes: types})
		cases = append(cases, k)
		entries = append(entries, s.Kernel(fmt.Sprint("k", seed), k.Kernel))
	}
	code, err := b.Emit(entries)
	if err != nil {
		t.Fatal(err)
	}
	program, err := b.Build(code)
	if err != nil {
		t.Fatalf("%v\n%s", err, code.Text)
	}
	defer program.Close()
	for i, k := range cases {
		want, got := k.Copy(), k.Copy()
		if err := loop.Interpret(loop.Expand(k.Kernel), want); err != nil {
			t.Fatal(err)
		}
		if err := runKernel(b, program, entries[i], code.Args[i], s, got); err != nil {
			t.Fatalf("kernel %d: %v", i, err)
		}
		if err := k.Same(got, want); err != nil {
			alone, _ := b.Emit(entries[i : i+1])
			t.Errorf("kernel %d: %v\n%v\n%v\n%s", i, err, k.Kernel, entries[i].Work, alone.Text)
		}
	}
}

// runKernel runs one entry point, with three iterations for each worker, on
// memory of its own.
func runKernel(b launch.Backend, p launch.Program, e *entry.Kernel, args []entry.Arg, s entry.Shape, a *loop.Args) (err error) {
	const chunk = 3
	workers := max(a.End-a.Start, 1)
	l := launch.Launch{Name: e.Work.Name, Kernel: e, Args: args, Groups: (workers + chunk - 1) / chunk, Items: e.Items}
	if !e.Groups() {
		l.Items = s.Flat
		l.Groups = (l.Groups + s.Flat - 1) / s.Flat
	}
	r, err := p.Record([]launch.Launch{l})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	status := make([]byte, 4*len(a.Status)+4)
	memory := map[int]launch.Memory{}
	defer func() {
		for _, m := range memory {
			err = errors.Join(err, m.Close())
		}
	}()
	for i, arg := range args {
		if arg.Kind != entry.ArgBuffer {
			n, err := number(e, arg, a, chunk)
			if err == nil {
				err = r.SetInt(0, i, n)
			}
			if err != nil {
				return err
			}
			continue
		}
		contents, size := status, len(status)
		switch {
		case arg.Param >= 0 && e.Work.Params[arg.Param].Use == loop.Scratch:
			n, err := e.Work.Params[arg.Param].Len.Eval(a.Sizes)
			if err != nil {
				return err
			}
			contents, size = nil, n*8*l.Groups*l.Items
		case arg.Param >= 0:
			contents = a.Buffers[arg.Param]
			size = len(contents)
		}
		const least = 64
		m, err := b.Alloc(max(size, least))
		if err != nil {
			return err
		}
		memory[arg.Param] = m
		if err := errors.Join(b.Write(m, 0, contents), r.SetMemory(0, i, m)); err != nil {
			return err
		}
	}
	if err := r.Run(); err != nil {
		return err
	}
	for param, m := range memory {
		if param < 0 {
			err = errors.Join(err, b.Read(status, m, 0))
		} else if e.Work.Params[param].Use != loop.Scratch {
			err = errors.Join(err, b.Read(a.Buffers[param], m, 0))
		}
	}
	for i := range a.Status {
		a.Status[i] = int64(status[4*i])
	}
	return err
}

// number is the value of an argument that is no memory.
func number(e *entry.Kernel, arg entry.Arg, a *loop.Args, chunk int64) (int64, error) {
	switch arg.Kind {
	case entry.ArgStride:
		n, err := e.Work.Params[arg.Param].Len.Eval(a.Sizes)
		return int64(n), err
	case entry.ArgSize:
		n, err := arg.Size.Eval(a.Sizes)
		return int64(n), err
	case entry.ArgStart:
		return int64(a.Start), nil
	case entry.ArgEnd:
		return int64(a.End), nil
	case entry.ArgChunk:
		return chunk, nil
	}
	return 0, nil
}
