//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakBytes is the most memory that a process had at once.
func peakBytes(s *os.ProcessState) int64 {
	peak := int64(s.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS == "darwin" {
		return peak
	}
	return peak << 10
}
