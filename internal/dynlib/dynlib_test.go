//go:build (linux || darwin) && (amd64 || arm64)

package dynlib_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
	"github.com/sinterml/sinter/internal/dynlib/libtest"
)

// build compiles a library from C.
func build(t *testing.T, source string) string {
	t.Helper()
	return filepath.Join(libtest.Build(t, []byte(source), "lib.so", "TEST"), "lib.so")
}

func open(t *testing.T, lib string) *dynlib.Library {
	t.Helper()
	l, err := dynlib.Open(dynlib.Spec{API: "Test", Linux: []string{"libno-such.so.7", lib}, Darwin: []string{lib}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCall(t *testing.T) {
	l := open(t, build(t, `
		long last(long a, long b, long c, long d, long e, long f, long g, long h, long i, long *out) {
			*out = a + 10*b + 100*c;
			return i;
		}`))
	last, err := l.Symbol("last")
	if err != nil {
		t.Fatal(err)
	}
	out := new(int64)
	call := func() uintptr {
		return dynlib.Call(last, 1, 2, 3, 4, 5, 6, 7, 8, 9, uintptr(unsafe.Pointer(out)))
	}
	if got := call(); got != 9 || *out != 321 {
		t.Errorf("got %d, %d: the tenth argument goes through memory", got, *out)
	}
	*out = 0
	held := func() uintptr {
		return dynlib.CallHeld(last, 3, 2, 1, 4, 5, 6, 7, 8, 10, uintptr(unsafe.Pointer(out)))
	}
	if got := held(); got != 10 || *out != 123 {
		t.Errorf("got %d, %d", got, *out)
	}
	if n := testing.AllocsPerRun(100, func() { held() }); n > 0 {
		t.Errorf("a call allocates %v times", n)
	}
	if _, err := l.Symbol("first"); err == nil || !strings.Contains(err.Error(), "no function first") {
		t.Errorf("a function that is not there: %v", err)
	}
}

func BenchmarkCall(b *testing.B) {
	l, err := dynlib.Open(dynlib.Spec{Linux: []string{"libc.so.6"}, Darwin: []string{"/usr/lib/libSystem.B.dylib"}})
	if err != nil {
		b.Skip(err)
	}
	abs, err := l.Symbol("abs")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		dynlib.CallHeld(abs, 7)
	}
}

func TestNotFound(t *testing.T) {
	_, err := dynlib.Open(dynlib.Spec{API: "OpenXX", Linux: []string{"libXX.so.1", "libXX.so"}, Darwin: []string{"libXX.so.1", "libXX.so"}, Remedy: "install XX"})
	var missing *dynlib.NotFoundError
	if !errors.As(err, &missing) || len(missing.Reasons) != 2 {
		t.Fatal(err)
	}
	if want := "OpenXX: libXX.so.1, libXX.so not found: install XX"; err.Error() != want {
		t.Errorf("%q, not %q", err, want)
	}
}

// TestBroken has a library that is there and cannot be loaded: what the loader
// says about it counts, not that others are missing.
func TestBroken(t *testing.T) {
	lib := filepath.Join(t.TempDir(), "lib.so")
	if err := os.WriteFile(lib, []byte("no library at all, though it is long enough to have a header of one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"libXX.so.1", lib}
	_, err := dynlib.Open(dynlib.Spec{API: "OpenXX", Linux: names, Darwin: names})
	if err == nil || !strings.Contains(err.Error(), lib) || strings.Contains(err.Error(), "not found") {
		t.Errorf("%v", err)
	}
}

// TestSignals loads a library that takes signals of Go's and one that Go leaves
// alone. Go recovers from a fault afterwards, and moves goroutines, which needs
// another signal.
func TestSignals(t *testing.T) {
	lib := build(t, `
		#include <signal.h>
		#include <unistd.h>
		static void dead(int s) { _exit(77); }
		__attribute__((constructor)) static void take(void) {
			signal(SIGSEGV, dead);
			signal(SIGBUS, dead);
			signal(SIGURG, dead);
		}
		int taken(void) {
			struct sigaction a;
			sigaction(SIGSEGV, 0, &a);
			return a.sa_handler == dead;
		}`)
	l := open(t, lib)
	taken, err := l.Symbol("taken")
	if err != nil {
		t.Fatal(err)
	}
	if dynlib.Call(taken) != 0 {
		t.Fatal("the library keeps the handler")
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGURG); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		var p *int
		*p = 1
	}()
	stop := make(chan bool)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	time.Sleep(20 * time.Millisecond)
	stop <- true
}
