//go:build !unix

package hub

import "os"

// openFlags open a file for reading.
const openFlags = os.O_RDONLY
