//go:build !(linux && amd64)

package cpuid

func tilesRefused() bool { return true }
