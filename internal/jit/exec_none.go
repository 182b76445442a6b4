//go:build !(linux && (amd64 || arm64)) && !(darwin && (amd64 || arm64)) && !(windows && (amd64 || arm64))

package jit

import (
	"fmt"
	"runtime"
)

// mapExec refuses: there is no trampoline, or no way to get the memory.
func mapExec([]byte) ([]byte, error) {
	return nil, fmt.Errorf("%w: not supported on %s/%s", ErrNoExec, runtime.GOOS, runtime.GOARCH)
}

func unmapExec([]byte) error { return nil }
