//go:build !(((linux || darwin) && !android && !ios) || windows) || !(amd64 || arm64)

package dynlib

func open(string) (uintptr, error) { return 0, ErrUnsupported }

func symbol(uintptr, string) (uintptr, error) { return 0, ErrUnsupported }

// call is never reached: there is no function to call.
func call(uintptr, []uintptr) uintptr { return 0 }

func absent(_, _ string) bool { return false }

func callback(any) uintptr { return 0 }
