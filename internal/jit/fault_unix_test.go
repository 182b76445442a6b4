//go:build unix

package jit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shrinking is a mapped file that is empty by now: every access faults.
func shrinking(t testing.TB, size int) (mem []byte, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if mem, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	return mem, path
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

// isFault tells whether err is of a fault at an address. An emulator, as arm64
// is tested in, may hide the address or tell another; then it is any error of
// the runtime.
func isFault(err error, address uintptr) bool {
	var fault *FaultError
	if errors.As(err, &fault) && runtime.GOARCH == "amd64" {
		return fault.Addr == address
	}
	var invalid runtime.Error
	return errors.As(err, &invalid)
}

// A file that another process truncates while a kernel reads it, which has
// changed all registers that it may, those of Go's among them.
func TestTruncatedMapping(t *testing.T) {
	mem, path := shrinking(t, 1<<16)
	last := addressOf(mem[1<<16-8:])
	for _, name := range []string{"load", "spoil"} {
		c := load(t, name)
		for range 100 {
			if err := Protect(func() error { return rawLoad(c, last) }); !isFault(err, last) {
				t.Fatalf("%s: %v", name, err)
			}
			runtime.Gosched() // needs the goroutine's registers
		}
	}
	if err := os.Truncate(path, 1<<16); err != nil {
		t.Fatal(err)
	}
	if err := Protect(func() error { return rawLoad(load(t, "load"), last) }); err != nil {
		t.Errorf("with the file restored: %v", err)
	}
}

// Faults in tasks, on the caller and on helpers, while the garbage collector
// walks their stacks: each run ends with its error and the pool goes on as if
// nothing had been, no helper and no worker number lost.
func TestFaultsInAPool(t *testing.T) {
	c := load(t, "spoil")
	mem, _ := shrinking(t, 1<<16)
	gone := addressOf(mem)
	withProcs(t, 4)
	const callers, rounds = 3, 1500
	var p Pool
	defer p.Close()
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		for ctx.Err() == nil {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
	var runs sync.WaitGroup
	for caller := range callers {
		runs.Go(func() {
			for round := range rounds {
				bad := round % 7 * (caller + 1) // a task, or none
				var done atomic.Int32
				steps := []Step{
					funcStep{8, func(worker, task int) error { done.Add(1); return nil }},
					funcStep{16, func(worker, task int) error {
						if task == bad {
							return rawLoad(c, gone)
						}
						done.Add(1)
						return nil
					}},
				}
				err := p.RunSteps(ctx, steps, 4)
				if fails := bad < 16; fails != (err != nil) || fails && !isFault(err, gone) {
					t.Errorf("task %d of 16 faults: %v", bad, err)
				}
				if bad >= 16 && done.Load() != 24 {
					t.Errorf("%d tasks done, want 24", done.Load())
				}
			}
		})
	}
	runs.Wait()
	stop()
	wait.Wait()
	checkWhole(t, &p)
}

// Every task of every worker faults.
func TestFaultsOfAllWorkers(t *testing.T) {
	c := load(t, "load")
	mem, _ := shrinking(t, 1<<16)
	withProcs(t, 4)
	var p Pool
	defer p.Close()
	for range 500 {
		if err := p.Run(t.Context(), 64, 4, func(_, task int) error { return rawLoad(c, addressOf(mem[task:])) }); err == nil {
			t.Fatal("no error")
		}
	}
	checkWhole(t, &p)
}

// checkWhole requires that helpers come back to the pool, and that each is of
// use.
func checkWhole(t *testing.T, p *Pool) {
	t.Helper()
	for begin := time.Now(); p.idleCount.Load() != p.live.Load(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("%d of %d helpers are idle", p.idleCount.Load(), p.live.Load())
		}
	}
	p.mu.Lock()
	if len(p.short) > 0 {
		t.Errorf("%d runs that have ended are still listed", len(p.short))
	}
	p.mu.Unlock()
	// Tasks that wait for each other need all four workers.
	var together sync.WaitGroup
	together.Add(4)
	err := p.Run(t.Context(), 4, 4, func(_, _ int) error {
		together.Done()
		together.Wait()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
