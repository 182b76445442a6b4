package cpu

import "golang.org/x/sys/unix"

// memory is the bytes of the machine; how much is free is not known.
func memory() (total, free uint64) {
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, 0
	}
	return total, 0
}
