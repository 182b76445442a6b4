package cpuid

import "golang.org/x/sys/unix"

// allowTiles asks the kernel for the tile registers, which it saves only for
// processes that did (Documentation/arch/x86/xstate.rst). A kernel that does not
// know them, a sandbox and a thread whose stack for signals is too small refuse.
func allowTiles() bool {
	const (
		requestPermission = 0x1023 // ARCH_REQ_XCOMP_PERM
		tileData          = 18     // of the XSAVE features
	)
	_, _, errno := unix.Syscall(unix.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return errno == 0
}
