package jit

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLeaveCPU(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	affinity := func() (set unix.CPUSet) {
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			t.Fatal(err)
		}
		return set
	}
	all := affinity()
	if all.Count() < 2 || thisCPU() < 0 {
		t.Skip("threads of this process have no choice of processors")
	}
	defer unix.SchedSetaffinity(0, &all)
	for range 20 {
		cpu := thisCPU()
		leaveCPU(cpu)
		if got := affinity(); got != all {
			t.Fatalf("may run on %v, before on %v", got, all)
		}
		var one unix.CPUSet
		one.Set(cpu)
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			t.Fatal(err)
		}
		leaveCPU(cpu)
		if got := affinity(); got != one || thisCPU() != cpu {
			t.Fatalf("on processor %d, may run on %v, having no choice but %d", thisCPU(), got, cpu)
		}
		if err := unix.SchedSetaffinity(0, &all); err != nil {
			t.Fatal(err)
		}
	}
	// It may be moved back at any moment, but hardly each time.
	for range 20 {
		cpu := thisCPU()
		leaveCPU(cpu)
		if thisCPU() != cpu {
			return
		}
	}
	t.Error("never on another processor after leaving one")
}
