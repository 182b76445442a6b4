// Package launch is the device that all kinds of devices of work-groups have in
// common: it takes plans apart into launches of kernels, gives them memory and
// arguments, and looks after what goes wrong. What differs from kind to kind is
// a Backend.
package launch

import (
	"github.com/sinterml/sinter/internal/emit/entry"
)

// Backend is one device by way of its driver. Its methods may be called from
// many goroutines. What happens to memory happens in the order of the calls.
type Backend interface {
	// Alloc makes n bytes of any contents, from a multiple of entry.WideBytes on; n
	// is at least leastBytes. Where an error from here, Build or Record has a
	// method OutOfMemory() bool that returns true, package launch gives back what
	// it holds, and tries again.
	Alloc(n int) (Memory, error)
	// Import has kernels read the caller's memory, which stays where it is until
	// Close. It is nil, without an error, where the device needs a copy.
	Import(p []byte) (Memory, error)
	// Write and Read return when p has been read or written, Copy and Zero may
	// return before. p may be empty.
	Write(to Memory, offset int, p []byte) error
	Read(p []byte, from Memory, offset int) error
	Copy(to, from Memory, n int) error
	Zero(m Memory, n int) error

	// Emit writes kernels as one program; Build compiles that.
	Emit(kernels []*entry.Kernel) (*Code, error)
	Build(c *Code) (Program, error)

	Close() error // waits for what runs
}

// Pooled is a Backend whose driver holds memory that was closed, for later.
type Pooled interface {
	Cached() int64 // bytes that are held so
	// SetLimit bounds what is in use and held together, in bytes; 0: there is no
	// bound.
	SetLimit(n int64) error
	Trim() error // gives back what is held
}

// Memory is a part of a device's memory. Close frees it once nothing that was
// started uses it.
type Memory interface{ Close() error }

// Code is a program as a Backend writes it.
type Code struct {
	Text   string        // for people, and for drivers that take text
	Binary []byte        // for drivers that do not
	Args   [][]entry.Arg // of each kernel
}

// Program is Code that was compiled.
type Program interface {
	// Record prepares runs of launches, each after those before it.
	Record(launches []Launch) (Recording, error)
	Close() error
}

// Launch is a kernel of a program with its ranges.
type Launch struct {
	Kernel *entry.Kernel
	Args   []entry.Arg
	Groups int
	Items  int // in each group
}

// Recording is a series of launches with their arguments. One run at a time
// uses it; arguments are set between runs.
type Recording interface {
	// SetMemory sets an ArgBuffer, nil for memory that is not used, SetInt any
	// other argument. All are set before the first run.
	SetMemory(launch, arg int, m Memory) error
	SetInt(launch, arg int, n int64) error
	// Run runs all launches and waits for the last.
	Run() error
	Close() error
}
