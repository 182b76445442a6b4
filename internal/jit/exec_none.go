//go:build !(linux && (amd64 || arm64)) && !(darwin && amd64) && !(windows && (amd64 || arm64))

package jit

import (
	"fmt"
	"runtime"
)

// mapExec refuses. On darwin/arm64 executable memory needs MAP_JIT and
// pthread_jit_write_protect_np, which belongs to threads, not goroutines.
func mapExec([]byte) ([]byte, error) {
	return nil, fmt.Errorf("%w: not supported on %s/%s", ErrNoExec, runtime.GOOS, runtime.GOARCH)
}

func unmapExec([]byte) error { return nil }
