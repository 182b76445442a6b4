//go:build !amd64

package mtl

import "unsafe"

// sizes are the arguments that two MTLSize become: what has more than two words
// is passed by its address, which is the caller's to keep.
func sizes(groups, items *[3]uintptr) []uintptr {
	return []uintptr{uintptr(unsafe.Pointer(groups)), uintptr(unsafe.Pointer(items))}
}
