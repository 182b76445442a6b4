//go:build !(linux && amd64)

package cpuid

// HidesAMXFP16 is for Linux.
func HidesAMXFP16() bool { return false }
