package cpu

import (
	"slices"
	"testing"
	"time"
	"unsafe"
)

// turns times two ways to the same result in turns, each alone and with a loop behind it
// that reads the result.
type turns struct {
	*testing.B
	again   bool            // the way's own run is the last one before, else another's
	others  []uint64        // what fills the caches
	seconds [2][2][]float64 // by way, alone and read
}

func newTurns(b *testing.B, again bool) *turns {
	t := &turns{B: b, again: again, others: make([]uint64, 8<<20)}
	for i := range t.others {
		t.others[i] = uint64(i) // so that it has memory of its own
	}
	return t
}

func (t *turns) time(way int, run func(), result []byte) {
	for i := range t.seconds[way] {
		if wordSum += sumWords(t.others); t.again {
			run()
		}
		start := time.Now()
		run()
		if i == 1 {
			wordSum += sumWords(unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(result))), len(result)/8))
		}
		t.seconds[way][i] = append(t.seconds[way][i], time.Since(start).Seconds())
	}
}

// report reports medians of the ratios of the second way to the first.
func (t *turns) report(unit string) {
	for i, unit := range []string{unit, "read-" + unit} {
		ratios := slices.Clone(t.seconds[1][i])
		for j := range ratios {
			ratios[j] /= t.seconds[0][i][j]
		}
		slices.Sort(ratios)
		t.ReportMetric(ratios[len(ratios)/2], unit)
	}
	t.ReportMetric(0, "ns/op")
}

var wordSum uint64

// sumWords reads words at about the rate at which memory delivers them.
func sumWords(words []uint64) (sum uint64) {
	var a, b, c, d uint64
	for ; len(words) >= 8; words = words[8:] {
		a += words[0] + words[4]
		b += words[1] + words[5]
		c += words[2] + words[6]
		d += words[3] + words[7]
	}
	return a + b + c + d
}
