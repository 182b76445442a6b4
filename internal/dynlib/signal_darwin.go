//go:build !ios && (amd64 || arm64)

package dynlib

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

const maxSignal = 31

// action is the C library's struct sigaction.
type action struct {
	handler     uintptr
	mask, flags uint32
}

var sigaction = sync.OnceValue(func() uintptr {
	f, err := purego.Dlsym(purego.RTLD_DEFAULT, "sigaction")
	if err != nil {
		return 0
	}
	return f
})

func getAction(s int, a *action) bool {
	return sigaction() != 0 && int32(Call(sigaction(), uintptr(s), 0, uintptr(unsafe.Pointer(a)))) == 0
}

func setAction(s int, a *action) {
	Call(sigaction(), uintptr(s), uintptr(unsafe.Pointer(a)), 0)
}
