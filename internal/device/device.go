// Package device is the seam between compiled programs and what runs them. A
// device is one folder below that passes internal/devicetest.
package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// ErrClosed is returned by what was closed before it was used.
var ErrClosed = errors.New("closed")

// Buffer is memory that a device reads and writes. It is freed when Close has
// been called as often as Retain plus once.
type Buffer interface {
	Size() int // bytes
	// Bytes is the memory itself where the host can address it, else nil;
	// valid until the last Close.
	Bytes() []byte
	Retain()
	Close() error
}

// Module is a program compiled for one device; it may run many times at once.
type Module interface {
	// Info tells how the program will run.
	Info() Info
	Close() error
}

// Rester is a Module that is told whether anybody holds it, or only remembers it
// in case somebody compiles the same: what it keeps with weights is bounded then.
// It begins as one that is held. Runs are of modules that are.
type Rester interface {
	Rest()
	Wake()
}

// Info describes a compiled program.
type Info struct {
	Kernels   int // launches a run
	Constant  int // kernels that run once for a set of weights
	CodeBytes int
	// Generic lists kernels that run without generated code.
	Generic []string
	// InPlace tells of each output whether it may be bound to the buffer of the
	// variable that it assigns. A run that fails or is cancelled has then
	// written none of them, unless the error says so. Nil: none may.
	InPlace []bool
}

// Bound is one run: a module with its sizes and buffers.
type Bound struct {
	Module  Module
	Env     ir.Env   // values of the graph's symbols
	Leaves  []Buffer // by number in Graph.Leaves; none is written but those that are outputs too
	Outputs []Buffer // by number in Graph.Outputs, of the right size, distinct from all leaves but as Info.InPlace says
	Record  Recorder // nil: the run is not timed; else the device is a Timer
	Tune    *Tuning  // nil: as always; else the device is a Tuner
}

// Event is a submitted run.
type Event interface {
	// Wait blocks until the run has ended and returns its error. Once ctx is
	// done it returns early; buffers stay in use until the run itself ends.
	Wait(ctx context.Context) error
}

// MemStats counts a device's memory in bytes.
type MemStats struct {
	Allocated int64 // in buffers
	Cached    int64 // held for reuse
	Peak      int64 // highest Allocated
}

// Device runs programs. All methods may be called from many goroutines.
type Device interface {
	Alloc(n int) (Buffer, error)     // zeroed or not: callers write before they read
	Import(b []byte) (Buffer, error) // the caller's memory, unchanged and alive until the last Close; not copied where the device can read it
	Copy(ctx context.Context, dst, src Buffer) error
	// Submit starts a run; b must not change afterwards. Where it returns an error
	// and no Event, nothing was written to outputs that are leaves too, so that the
	// run may be submitted again.
	Submit(ctx context.Context, b *Bound) (Event, error)
	Stats() MemStats
	Close() error
}

// Options are what compiling a program may be asked for. The zero value is
// everything on.
type Options struct {
	NoOpt []string // names of passes to leave out; "all" for every pass
	// Precision is what products compute in: BF16, F16, TF32, I8, or
	// as written where it is 0 or F32. The referee ignores it, as all passes.
	Precision ir.DType
	// Trace, if set, gets the text of each stage as it is made.
	Trace func(stage, text string)
	// Check runs every stage's checker.
	Check bool
}

// Compiler is a device's way from a graph to a module: through every stage of
// the pipeline, or for a referee straight. The graph stays unchanged.
type Compiler interface {
	CompileGraph(ctx context.Context, g *ir.Graph, o Options) (Module, error)
}

// IndexError is an index outside a tensor, found while running.
type IndexError struct {
	Op    string // the operation
	Index int64
	Size  int
	At    int // flat position of the index among the indices
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("%s: index %d at position %d is outside size %d", e.Op, e.Index, e.At, e.Size)
}

// DivisionError is an integer division or modulus by zero, found while running.
type DivisionError struct {
	Op string // the operation
	At int    // flat position of the element
}

func (e *DivisionError) Error() string {
	return fmt.Sprintf("%s: division by zero at position %d", e.Op, e.At)
}
