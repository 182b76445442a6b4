package mtl

import "golang.org/x/sys/unix"

// system is macOS with its version: Metal has none of its own.
func system() string {
	return systemText(func(name string) (string, error) { return unix.Sysctl(name) })
}
