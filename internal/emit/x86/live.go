package x86

import ()

// ranges are the live ranges by register, as positions in the code.
type ranges struct {
	start, end []int32
	weight     []float32 // uses, those in loops counting more
	dying      [][]reg   // by position; made from end
}

// loopWeight is how often more an instruction in a loop counts than one before
// it.
const loopWeight = 8

func liveRanges(code []*inst, n int) *ranges {
	l := &ranges{start: make([]int32, n), end: make([]int32, n), weight: make([]float32, n)}
	for i := range l.start {
		l.start[i], l.end[i] = never, never
	}
	ends := loopEnds(code)
	var open []int32 // starts of the loops around
	weight := float32(1)
	for i, in := range code {
		at := int32(i)
		switch in.kind {
		case loopStart:
			open = append(open, at)
			weight *= loopWeight
			continue
		case loopEnd:
			open = open[:len(open)-1]
			weight /= loopWeight
			continue
		}
		touch := func(x reg) {
			if l.start[x] == never {
				l.start[x] = at
			}
			l.end[x] = max(l.end[x], at)
			l.weight[x] += weight
			for _, s := range open {
				if s > l.start[x] {
					l.end[x] = max(l.end[x], ends[s])
					break
				}
			}
		}
		in.uses(touch)
		if in.dst != 0 {
			touch(in.dst)
		}
	}
	l.dying = make([][]reg, len(code))
	counts := make([]int32, len(code))
	for _, end := range l.end {
		if end != never {
			counts[end]++
		}
	}
	slab := make([]reg, 0, n)
	for i, c := range counts {
		l.dying[i] = slab[len(slab) : len(slab) : len(slab)+int(c)]
		slab = slab[:len(slab)+int(c)]
	}
	for x, end := range l.end {
		if end != never {
			l.dying[end] = append(l.dying[end], reg(x))
		}
	}
	return l
}

// loopEnds maps the start of each loop to its end.
func loopEnds(code []*inst) map[int32]int32 {
	ends := map[int32]int32{}
	var open []int32
	for i, in := range code {
		switch in.kind {
		case loopStart:
			open = append(open, int32(i))
		case loopEnd:
			ends[open[len(open)-1]] = int32(i)
			open = open[:len(open)-1]
		}
	}
	return ends
}
