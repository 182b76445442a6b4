//go:build linux && (amd64 || arm64)

package dynlib

import (
	"syscall"
	"testing"
)

// Two calls overlap, of which the second begins when what the first has loaded has
// taken a signal: Go's function is back in the end.
func TestKeepSignalsOverlap(t *testing.T) {
	const s = int(syscall.SIGUSR2)
	var own action
	getAction(s, &own)
	defer setAction(s, &own)
	if own.handler <= 1 {
		t.Skip("Go has no function for this signal")
	}
	first := KeepSignals()
	theirs := own
	theirs.handler = 0x1234000
	setAction(s, &theirs)
	second := KeepSignals()
	first()
	second()
	var now action
	if getAction(s, &now); now.handler != own.handler {
		t.Errorf("the function is %#x, want %#x", now.handler, own.handler)
	}
	if kept.users != 0 {
		t.Errorf("%d calls are under way", kept.users)
	}
}
