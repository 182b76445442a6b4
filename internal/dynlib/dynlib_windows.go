//go:build amd64 || arm64

package dynlib

import (
	"errors"
	"path/filepath"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/windows"
)

// open looks for a bare name in the system's folder alone, where drivers are
// installed: a library of the same name in the current folder is not run.
func open(name string) (uintptr, error) {
	var flags uintptr = windows.LOAD_LIBRARY_SEARCH_SYSTEM32
	if filepath.IsAbs(name) {
		flags = windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | windows.LOAD_LIBRARY_SEARCH_SYSTEM32
	}
	h, err := windows.LoadLibraryEx(name, 0, flags)
	if errors.Is(err, windows.ERROR_MOD_NOT_FOUND) {
		err = errAbsent
	}
	return uintptr(h), err
}

var errAbsent = errors.New("no such library")

func symbol(handle uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(handle), name)
}

func call(fn uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

func absent(_, reason string) bool { return reason == errAbsent.Error() }

func callback(fn any) uintptr { return purego.NewCallback(fn) }
