// Package mtl calls Apple's Metal through the runtime of Objective-C, which
// programs reach as a library: a method is a function that is given the object,
// the method's name and the arguments.
package mtl

import "unsafe"

// ID is an object of Objective-C; 0 is none.
type ID uintptr

// Device describes a GPU.
type Device struct {
	ID       ID
	Name     string
	Memory   uint64 // bytes that it works with well
	Used     uint64 // by this process
	MaxAlloc uint64 // bytes of one buffer
	Shared   int    // bytes of memory of a group
	Unified  bool   // shares its memory with the processor
	LowPower bool   // the smaller of two
}

// Launch is a kernel with its groups and arguments.
type Launch struct {
	Pipeline      ID
	Groups, Items int
	Buffers       []ID // by slot
	// Far are buffers of which the kernel is given the addresses, which follow
	// those with slots if there are any; then come the numbers.
	Far       []ID
	Addresses []uint64
	Numbers   []int64

	groups, items [3]uintptr // as MTLSize
}

// API is the table of what sinter asks of Metal. Tests put functions of their own
// in the place of Apple's. What a text says that is not empty has gone wrong.
type API struct {
	System   string // that Metal is a part of, with its version
	Devices  func() []*Device
	NewQueue func(device ID) ID
	// NewBuffer gives memory that the processor reaches as well, and where.
	NewBuffer func(device ID, n int) (ID, unsafe.Pointer)
	// Address is where the device has a buffer; 0 before macOS 13.
	Address func(buffer ID) uint64
	// Compile makes a library of a program.
	Compile func(device ID, source string) (ID, string)
	// Pipeline prepares a function, and tells how many work-items a group of it
	// may have.
	Pipeline func(device, library ID, name string) (pipeline ID, items int, wrong string)
	// Run runs kernels one after another and waits for the last.
	Run     func(queue ID, launches []*Launch) string
	Release func(ID)
}
