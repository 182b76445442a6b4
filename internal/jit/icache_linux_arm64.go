package jit

import "unsafe"

// syncInstructions makes code just written visible to instruction fetch on all
// cores: arm64 does not keep the two caches coherent.
func syncInstructions(mem []byte) {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	cleanToPoU(p, p+uintptr(len(mem)))
}

// cleanToPoU cleans the data cache and invalidates the instruction cache for
// the addresses from start to end.
//
//go:noescape
func cleanToPoU(start, end uintptr)
