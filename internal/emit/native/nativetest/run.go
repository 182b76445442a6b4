// Package nativetest runs machine code made for kernels of loops and compares
// it with the interpreter.
package nativetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// Code is what an emitter made of a kernel.
type Code struct {
	Text       []byte
	SpillBytes int
	Listing    string
}

// Emitter makes code of a kernel.
type Emitter func(k *loop.Kernel) (*Code, error)

// Call is the arguments of a call in memory that notices accesses outside the
// buffers.
type Call struct {
	code    *jit.Code
	words   []uint64
	buffers []*jit.Guarded
	status  []int64
	spill   *jit.Guarded
}

// NewCall copies a case's buffers next to unmapped pages: ends, or starts with
// front. An empty buffer has its padding.
func NewCall(c *looptest.Case, code *Code, front bool) (*Call, error) {
	g := &Call{}
	var err error
	if g.code, err = jit.Map(code.Text); err != nil {
		return nil, err
	}
	l := native.LayoutOf(c.Kernel)
	g.words = make([]uint64, l.Words)
	for i, b := range c.Args.Buffers {
		size := len(b)
		if size == 0 {
			size = native.Padding
		}
		alloc := func(n int) (*jit.Guarded, error) { return jit.AllocGuarded(n, 1) }
		if front {
			alloc = jit.AllocGuardedFront
		}
		m, err := alloc(size)
		if err != nil {
			return nil, err
		}
		copy(m.Bytes(), b)
		g.buffers = append(g.buffers, m)
		g.words[l.Params+i] = uint64(uintptr(m.Pointer()))
	}
	if g.spill, err = jit.AllocGuarded(max(64, code.SpillBytes), 64); err != nil {
		return nil, err
	}
	g.words[l.Spill] = uint64(uintptr(g.spill.Pointer()))
	g.status = make([]int64, len(c.Args.Status)+1)
	g.words[l.Status] = uint64(uintptr(unsafe.Pointer(&g.status[0])))
	g.words[l.Start], g.words[l.End] = uint64(c.Args.Start), uint64(c.Args.End)
	for i, s := range c.Kernel.Symbols() {
		g.words[l.Symbols+i] = uint64(c.Args.Sizes[s.Name])
	}
	return g, nil
}

// Run enters the code.
func (g *Call) Run() error {
	err := jit.Protect(func() error {
		jit.Call(g.code.Entry(0), unsafe.Pointer(&g.words[0]))
		return nil
	})
	runtime.KeepAlive(g)
	return err
}

// Result closes the memory and returns what the call left in it.
func (g *Call) Result(c *looptest.Case) (*loop.Args, error) {
	out := c.Copy()
	errs := []error{g.code.Close(), g.spill.Close()}
	for i, m := range g.buffers {
		copy(out.Buffers[i], m.Bytes())
		errs = append(errs, m.Close())
	}
	copy(out.Status, g.status)
	return out, errors.Join(errs...)
}

// Check compares machine code with the interpreter, f32 results being up to
// tolerance apart.
func Check(c *looptest.Case, emit Emitter, tolerance float64) error {
	want := c.Copy()
	if err := loop.Interpret(c.Kernel, want); err != nil {
		return fmt.Errorf("interpreter: %w", err)
	}
	code, err := emit(c.Kernel)
	if err != nil {
		return err
	}
	for _, front := range []bool{false, true} {
		g, err := NewCall(c, code, front)
		if err != nil {
			return err
		}
		if err := g.Run(); err != nil {
			return fmt.Errorf("%w\n%v\n%v", err, c.Kernel, code.Listing)
		}
		got, err := g.Result(c)
		if err != nil {
			return err
		}
		if tolerance > 0 {
			snap(got, want, tolerance)
		}
		if err := c.Same(got, want); err != nil {
			return fmt.Errorf("%w\n%v\n%v", err, c.Kernel, code.Listing)
		}
	}
	return nil
}

// snap makes those f32 of got equal to want that are near.
func snap(got, want *loop.Args, tolerance float64) {
	for i, b := range got.Buffers {
		for j := 0; j+4 <= len(b); j += 4 {
			x := math.Float32frombits(binary.LittleEndian.Uint32(b[j:]))
			y := math.Float32frombits(binary.LittleEndian.Uint32(want.Buffers[i][j:]))
			if math.Abs(float64(x-y)) <= tolerance {
				copy(b[j:j+4], want.Buffers[i][j:])
			}
		}
	}
}
