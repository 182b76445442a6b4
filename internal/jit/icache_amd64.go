//go:build !windows

package jit

// syncInstructions does nothing: x86 keeps instruction fetch coherent.
func syncInstructions([]byte) {}
