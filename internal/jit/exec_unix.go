//go:build (linux && (amd64 || arm64)) || (darwin && (amd64 || arm64))

package jit

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mapExec fills read-write pages and then turns them read-execute.
func mapExec(code []byte) ([]byte, error) {
	mem, err := mapAnonymous(code)
	if err == nil {
		syncInstructions(mem)
		return mem, nil
	}
	mem, errSealed := mapSealed(code)
	if errSealed == nil {
		syncInstructions(mem)
		return mem, nil
	}
	return nil, noExec(err, errSealed)
}

func mapAnonymous(code []byte) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, roundToPage(len(code)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	copy(mem, code)
	if err := unix.Mprotect(mem, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		_ = unix.Munmap(mem)
		return nil, fmt.Errorf("mprotect: %w", err)
	}
	return mem, nil
}

func unmapExec(mem []byte) error { return unix.Munmap(mem) }
