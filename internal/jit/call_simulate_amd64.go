//go:build simulate

package jit

import "unsafe"

// Simulate, where set, runs the code at entry if it is for instruction sets that are
// to be simulated, and says whether it was. Tests alone are built with it: args
// escapes, so that a run allocates.
var Simulate func(entry uintptr, args unsafe.Pointer) bool

// Call runs the code by Simulate, or as [native] does.
func Call(entry uintptr, args unsafe.Pointer) {
	if Simulate == nil || !Simulate(entry, args) {
		native(entry, args)
	}
}

//go:noescape
func native(entry uintptr, args unsafe.Pointer)

//go:noescape
func pause(n uint32)
