//go:build !simulate

package cpuid

func simulated(f Features) Features { return f }
