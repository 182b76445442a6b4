//go:build amd64 && !linux

package cpuid

// allowTiles: Windows has such a request too, which has not been tried, and no
// Mac has tiles.
func allowTiles() bool { return false }
