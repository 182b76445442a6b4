// Package launch is the device that all kinds of devices of work-groups have in
// common: it takes plans apart into launches of kernels, gives them memory and
// arguments, and looks after what goes wrong. What differs from kind to kind is
// a Backend.
package launch

import (
	"github.com/sinterml/sinter/internal/emit/entry"
)

// Backend is one device by way of its driver. Its methods, and those of what it
// made, may be called from many goroutines.
//
// The order of what happens to memory is that of the host. What a call does to
// memory has ended when it returns, for all calls that begin afterwards; calls
// that are under way at the same time are in no order, and a Backend has them go
// on beside each other where its driver can: runs each on a stream of its own, and
// transfers on others. So no two of them may use the same memory but to read it,
// nor may memory be closed that one of them uses: package launch sees to that.
// Where a driver does not say when something has ended, the Backend refuses what
// comes later, and keeps memory that is closed.
type Backend interface {
	// Alloc makes n bytes of any contents, from a multiple of entry.WideBytes on; n
	// is at least leastBytes. Where an error from here, Build or Record has a
	// method OutOfMemory() bool that returns true, package launch gives back what
	// it holds, and tries again.
	Alloc(n int) (Memory, error)
	// Import has kernels read the caller's memory, which stays where it is until
	// Close. It is nil, without an error, where the device needs a copy.
	Import(p []byte) (Memory, error)
	// p may be empty.
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

// Memory is a part of a device's memory. Close frees it; nothing uses it.
type Memory interface{ Close() error }

// Code is a program as a Backend writes it.
type Code struct {
	Text   string                  // for people, and for drivers that take text
	Binary []byte                  // for drivers that do not
	Args   [][]entry.Arg           // of each kernel
	Shared map[string]entry.Member // by Kernel.Entry, for the Backend itself: those that have no entry point of their own
}

// Program is Code that was compiled.
type Program interface {
	// Record prepares runs of launches, each after those before it.
	Record(launches []Launch) (Recording, error)
	Close() error
}

// Launch is a kernel of a program with its ranges.
type Launch struct {
	Name   string // of the kernel of the plan, for errors: others may be the same Kernel
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
	// Run runs all launches and waits for the last. An error that comes when some of
	// them may have written memory, and says that memory was lacking, is Begun.
	Run() error
	Close() error
}

// Mapper is a Recording of kernels that may have entry.Kernel.Maps.
type Mapper interface {
	// SetMap sets an ArgMap to a matrix in memory. It is false where the device
	// cannot copy by a map of that, which is no error; nobody reads the argument then.
	SetMap(launch, arg int, m Memory, of entry.Mapped) (bool, error)
}

// Begun is the error of a run in which launches may have written memory before it
// failed; nil stays nil.
func Begun(err error) error {
	if err == nil {
		return nil
	}
	return &begunError{err}
}

type begunError struct{ error }

func (e *begunError) Unwrap() error { return e.error }

// Fetcher is a Recording that can read memory behind its last launch as a part of
// the same run, for which the host waits once.
type Fetcher interface {
	RunAndRead(p []byte, from Memory) error
}
