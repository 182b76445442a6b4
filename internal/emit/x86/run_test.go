package x86

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

var isaNames = map[ISA]string{AVX2: "avx2", AVX512: "avx512"}

// runnable tells whether this machine runs code for isa.
func runnable(isa ISA) bool {
	if !jit.Available() {
		return false
	}
	avx2 := cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2
	if isa == AVX2 {
		return avx2
	}
	return avx2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
}

// eachISA runs f for the instruction sets of this machine.
func eachISA(t *testing.T, f func(t *testing.T, isa ISA)) {
	ran := false
	for _, isa := range []ISA{AVX512, AVX2} {
		if !runnable(isa) {
			continue
		}
		ran = true
		t.Run(isaNames[isa], func(t *testing.T) { f(t, isa) })
	}
	if !ran && runtime.GOARCH == "amd64" {
		t.Log("this machine runs neither instruction set: nothing was executed")
	}
}

// guardedArgs are the arguments of a call in memory that notices accesses
// outside the buffers.
type guardedArgs struct {
	code    *jit.Code
	words   []uint64
	buffers []*jit.Guarded
	status  []int64
	spill   *jit.Guarded
}

// newGuardedArgs copies a case's buffers next to unmapped pages: ends, or
// starts with front. Reads of the padding behind a buffer are allowed where
// there is a clamped index.
func newGuardedArgs(c *looptest.Case, code *Code, front bool) (*guardedArgs, error) {
	g := &guardedArgs{}
	var err error
	if g.code, err = jit.Map(code.Text); err != nil {
		return nil, err
	}
	l := LayoutOf(c.Kernel)
	g.words = make([]uint64, l.Words)
	for i, b := range c.Args.Buffers {
		size := max(len(b), Padding*index(len(b) == 0))
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

func (g *guardedArgs) call() error {
	err := jit.Protect(func() error {
		jit.Call(g.code.Entry(0), unsafe.Pointer(&g.words[0]))
		return nil
	})
	runtime.KeepAlive(g)
	return err
}

// result closes the memory and returns what the call left in it.
func (g *guardedArgs) result(c *looptest.Case) (*loop.Args, error) {
	out := c.Copy()
	errs := []error{g.code.Close(), g.spill.Close()}
	for i, m := range g.buffers {
		copy(out.Buffers[i], m.Bytes())
		errs = append(errs, m.Close())
	}
	copy(out.Status, g.status)
	return out, errors.Join(errs...)
}

// runCase runs a case's kernel as machine code.
func runCase(c *looptest.Case, isa ISA, front bool) (*loop.Args, *Code, error) {
	code, err := Emit(c.Kernel, isa)
	if err != nil {
		return nil, nil, err
	}
	g, err := newGuardedArgs(c, code, front)
	if err != nil {
		return nil, code, err
	}
	if err := g.call(); err != nil {
		return nil, code, err
	}
	got, err := g.result(c)
	return got, code, err
}

// checkCase compares machine code with the interpreter.
func checkCase(c *looptest.Case, isa ISA) error { return checkNear(c, isa, 0) }

// checkNear is checkCase with f32 results up to tolerance apart.
func checkNear(c *looptest.Case, isa ISA, tolerance float64) error {
	want := c.Copy()
	if err := loop.Interpret(c.Kernel, want); err != nil {
		return fmt.Errorf("interpreter: %w", err)
	}
	for _, front := range []bool{false, true} {
		got, code, err := runCase(c, isa, front)
		if err != nil {
			return err
		}
		if tolerance > 0 {
			snap(got, want, tolerance)
		}
		if err := c.Same(got, want); err != nil {
			return fmt.Errorf("%w\n%v\n%v", err, c.Kernel, code.Listing())
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

// parse reads a kernel from its text.
func parse(t testing.TB, text string) *loop.Kernel {
	t.Helper()
	k, err := loop.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := loop.Check(k); err != nil {
		t.Fatal(err)
	}
	return k
}

// specials are floats that operations treat apart.
var specials = []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e-45, -1e-40, 3e38, 65504, 1e9, -1e9, 0.5, -2.5}
