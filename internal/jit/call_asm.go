//go:build (amd64 && !simulate) || arm64

package jit

import "unsafe"

// Call enters the code at entry, an address from [Code.Entry], with args in
// DI (amd64) or R0 (arm64). What args points to, and the Code, must stay
// reachable until it returns: use runtime.KeepAlive for anything the struct
// holds as a plain number.
//
//go:noescape
func Call(entry uintptr, args unsafe.Pointer)

// pause executes n spin-wait hints: a few tens of cycles each on amd64.
//
//go:noescape
func pause(n uint32)
