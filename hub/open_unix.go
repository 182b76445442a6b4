//go:build unix

package hub

import (
	"os"
	"syscall"
)

// openFlags open a file for reading without waiting for anything.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
