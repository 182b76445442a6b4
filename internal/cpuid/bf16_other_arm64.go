//go:build arm64 && !linux && !darwin

package cpuid

func hasBF16() bool { return false }
