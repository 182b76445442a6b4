package jit

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCPUList(t *testing.T) {
	for list, want := range map[string][]int{"0": {0}, "0-1\n": {0, 1}, "1,3-5,64": {1, 3, 4, 5, 64}, "": nil, "x": nil, "0-": nil} {
		var set unix.CPUSet
		for _, cpu := range want {
			set.Set(cpu)
		}
		if got := cpuList(list); got != set {
			t.Errorf("%q is %v, want %v", list, got, set)
		}
	}
}

// What a thread may not use is not asked for; where it may use all, all that may come is.
func TestWishFor(t *testing.T) {
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	if got := wishFor(one); all.Count() > 1 && got != one {
		t.Errorf("asks for %v, having %v of %v", got, one, all)
	}
	var every unix.CPUSet
	every.Fill()
	online, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil || cpuList(string(online)) != all {
		t.Skipf("this process may use %v of %q, %v", all, online, err)
	}
	if got := wishFor(all); got != every {
		t.Errorf("asks for %v, having all that are online, %v", got, all)
	}
}

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
