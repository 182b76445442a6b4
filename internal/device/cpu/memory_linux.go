package cpu

import (
	"os"
	"strconv"
	"strings"
)

// memory is the bytes of the machine and those a program could get without
// others losing theirs; 0 where unknown. See proc_meminfo(5).
func memory() (total, free uint64) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	return parseMeminfo(string(data))
}

func parseMeminfo(text string) (total, free uint64) {
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		number, unit, _ := strings.Cut(strings.TrimSpace(rest), " ")
		kib, err := strconv.ParseUint(number, 10, 54)
		if err != nil || unit != "kB" {
			continue
		}
		switch name {
		case "MemTotal":
			total = kib << 10
		case "MemAvailable":
			free = kib << 10
		}
	}
	return total, free
}
