//go:build amd64 || arm64

package jit

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapSealed serves where mprotect(PROT_EXEC) of anonymous memory is refused
// (systemd's MemoryDenyWriteExecute, SELinux execmem): the code goes to a file
// in memory that is sealed against writing and mapped read-execute.
func mapSealed(code []byte) ([]byte, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("sinter-code", flags|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // Linux before 6.3 does not know MFD_EXEC
		fd, err = unix.MemfdCreate("sinter-code", flags)
	}
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "sinter-code")
	defer f.Close() // the mapping outlives the descriptor
	if _, err := f.Write(code); err != nil {
		return nil, fmt.Errorf("memfd: %w", err)
	}
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return nil, fmt.Errorf("memfd seals: %w", err)
	}
	mem, err := unix.Mmap(fd, 0, roundToPage(len(code)), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mmap of memfd: %w", err)
	}
	return mem, nil
}
