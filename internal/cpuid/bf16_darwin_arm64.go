package cpuid

import "golang.org/x/sys/unix"

// hasBF16 asks the kernel: x/sys/cpu has no field for BFDOT and BFMMLA.
func hasBF16() bool {
	v, err := unix.SysctlUint32("hw.optional.arm.FEAT_BF16")
	return err == nil && v != 0
}
