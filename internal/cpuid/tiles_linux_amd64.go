package cpuid

import (
	"sync"

	"golang.org/x/sys/unix"
)

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

// tryF16Tiles executes TDPFP16PS in a child process, and gives its status as wait4
// does: 0 where that went well; -1 where there could be no child.
//
//go:noescape
func tryF16Tiles() (status int32)

// HidesAMXFP16 tells whether the processor multiplies tiles of f16, though CPUID says
// that it does not, as some hypervisors have it: a child process tries. That the
// hypervisor will not move this process to a processor that does not is for the user
// to know.
func HidesAMXFP16() bool { return hidesAMXFP16() }

var hidesAMXFP16 = sync.OnceValue(func() bool {
	h := Host()
	return h.HasAMX() && !h.AMXFP16 && tryF16Tiles() == 0
})
