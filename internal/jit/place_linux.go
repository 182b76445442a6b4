package jit

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mayPlace tells that threads may be moved. Where system calls are filtered a forbidden one
// may end the process, and the lists of service managers often have that by which a thread
// says where it runs; what containers filter has not.
var mayPlace = sync.OnceValue(func() bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil || !bytes.Contains(status, []byte("\nSeccomp:\t2")) {
		return err == nil
	}
	for _, file := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(file); err == nil {
			return true
		}
	}
	return os.Getenv("KUBERNETES_SERVICE_HOST") != ""
})

// thisCPU is the processor that the caller's thread runs on at this moment, or -1.
func thisCPU() int {
	if !mayPlace() {
		return -1
	}
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}

// yieldCPU lets threads run that wait for the caller's processor.
func yieldCPU() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// leaveCPU moves the caller's thread to another processor if it is on this one and may
// run on others.
func leaveCPU(cpu int) {
	if cpu < 0 || thisCPU() != cpu {
		return
	}
	// Threads made by one that is locked do not inherit where it may run.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return
	}
	others := all
	others.Clear(cpu)
	if others.Count() == 0 || unix.SchedSetaffinity(0, &others) != nil {
		return
	}
	wish := wishFor(all)
	if unix.SchedSetaffinity(0, &wish) != nil {
		_ = unix.SchedSetaffinity(0, &all) // nothing else is left to try
	}
}

// wishes are the last set of processors that a thread had, and what it asks for then.
type wishes struct{ has, wish unix.CPUSet }

var lastWish atomic.Pointer[wishes]

// wishFor is what a thread asks for that is to have what it has: all there are, if that is
// all that its control group or the machine gives. The system remembers what was asked for,
// and a thread that had asked for these alone would get no others that come later.
func wishFor(has unix.CPUSet) unix.CPUSet {
	if last := lastWish.Load(); last != nil && last.has == has {
		return last.wish
	}
	w := wishes{has, has}
	for _, file := range []string{"/sys/fs/cgroup/cpuset.cpus.effective", "/sys/devices/system/cpu/online"} {
		if list, err := os.ReadFile(file); err == nil && cpuList(string(list)) == has {
			w.wish.Fill()
			break
		}
	}
	lastWish.Store(&w)
	return w.wish
}

// cpuList reads a list such as 0-3,8; the empty set is none.
func cpuList(list string) (set unix.CPUSet) {
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, ok := strings.Cut(part, "-")
		if !ok {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil {
			return unix.CPUSet{}
		}
		for cpu := from; cpu <= to; cpu++ {
			set.Set(cpu)
		}
	}
	return set
}
