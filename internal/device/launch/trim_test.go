package launch

import (
	"context"
	"errors"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
)

// gate is memory whose Close says that it has begun, and waits.
type gate struct {
	Memory
	begun, open chan bool
}

func (g gate) Close() error {
	close(g.begun)
	<-g.open
	return g.Memory.Close()
}

// ordered notes whether the program is closed.
type ordered struct {
	Program
	closed chan bool
}

func (p ordered) Close() error {
	close(p.closed)
	return p.Program.Close()
}

// A program that is closed while its idle sessions end is freed after them: what
// is recorded of a program is not to outlive it.
func TestTrimKeepsProgram(t *testing.T) {
	d, err := New(&simulated{}, Options{Kind: "simulated", Shape: entry.Shape{Items: 1, Flat: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := ir.NewBuilder(nil)
	x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(8, 8)}})
	for range 2 {
		if err == nil {
			x, err = b.Add(ir.MatMul, ir.Attr{}, x, x)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := d.CompileGraph(context.Background(), b.Finish(x), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := compiled.(*module)
	s, err := m.newSession(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	g := gate{s.arena, make(chan bool), make(chan bool)}
	p := ordered{m.program, make(chan bool)}
	s.arena, m.program = g, p
	m.keep(s)
	trimmed, closed := make(chan error), make(chan error)
	go func() { trimmed <- d.TrimMemory() }()
	<-g.begun
	go func() { closed <- m.Close() }()
	err = <-closed
	select {
	case <-p.closed:
		t.Error("the program was freed while its session ended")
	default:
	}
	close(g.open)
	if err = errors.Join(err, <-trimmed); err != nil {
		t.Error(err)
	}
	<-p.closed
}

// stuck is full, and cannot give back what it holds.
type stuck struct {
	simulated
	full bool
}

var errStuck = errors.New("cannot give back")

type fullError struct{ error }

func (fullError) OutOfMemory() bool { return true }

func (s *stuck) Alloc(n int) (Memory, error) {
	if s.full {
		return nil, fullError{errors.New("full")}
	}
	return s.simulated.Alloc(n)
}

func (s *stuck) Cached() int64        { return 1 }
func (s *stuck) SetLimit(int64) error { return nil }
func (s *stuck) Trim() error          { return errStuck }

// What was asked for is told where giving back what is held fails.
func TestTrimFails(t *testing.T) {
	s := &stuck{}
	d, err := New(s, Options{Kind: "stuck", Shape: entry.Shape{Items: 1, Flat: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s.full = true
	var full *device.OutOfMemoryError
	if _, err := d.Alloc(100); !errors.As(err, &full) || full.Size != 100 || !errors.Is(err, errStuck) {
		t.Errorf("%v", err)
	}
}
