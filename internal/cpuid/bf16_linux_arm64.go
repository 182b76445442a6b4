package cpuid

import (
	"encoding/binary"
	"os"
)

// hasBF16 reads the kernel's auxiliary vector, pairs of words: x/sys/cpu has no
// field for BFDOT and BFMMLA.
func hasBF16() bool {
	const (
		atHWCAP2  = 26
		hwcapBF16 = 1 << 14
	)
	aux, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return false
	}
	for ; len(aux) >= 16; aux = aux[16:] {
		if binary.LittleEndian.Uint64(aux) == atHWCAP2 {
			return binary.LittleEndian.Uint64(aux[8:])&hwcapBF16 != 0
		}
	}
	return false
}
