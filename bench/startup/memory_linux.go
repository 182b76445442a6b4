package main

import (
	"os"
	"syscall"
)

// peakMemory is the most bytes of memory that a process that has ended had
// (getrusage(2) counts in kB).
func peakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
