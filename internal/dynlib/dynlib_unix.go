//go:build (linux || darwin) && !android && !ios && (amd64 || arm64)

package dynlib

import (
	"strings"

	"github.com/ebitengine/purego"
)

// open binds every function at once, so that a library with a hole in it fails
// here; its names stay its own.
func open(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

func call(fn uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// absent tells whether the loader's reason is that there is no file of the name,
// rather than that something is wrong with it.
func absent(name, reason string) bool {
	return strings.HasPrefix(reason, name+": cannot open shared object file: No such file") || // glibc
		strings.HasPrefix(reason, "Error loading shared library "+name+": No such file") || // musl
		strings.Contains(reason, "no such file") // macOS, for each place it looked in
}

func callback(fn any) uintptr { return purego.NewCallback(fn) }
