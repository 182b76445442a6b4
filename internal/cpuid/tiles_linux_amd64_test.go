package cpuid

import "golang.org/x/sys/unix"

// tilesRefused tells that the processor's tiles are not for this process, which a
// sandbox decides and /proc/cpuinfo does not know: ARCH_REQ_XCOMP_PERM for
// XFEATURE_XTILEDATA fails.
func tilesRefused() bool {
	_, _, errno := unix.Syscall(unix.SYS_ARCH_PRCTL, 0x1023, 18, 0)
	return errno != 0
}
