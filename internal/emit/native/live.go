package native

// ranges are the live ranges by register, as positions in the code.
type ranges struct {
	start, end []int32
	weight     []float32 // uses, those in loops counting more
	dying      [][]Reg   // by position; made from end
}

// loopWeight is how often more an instruction in a loop counts than one before
// it.
const loopWeight = 8

// never is the position of what has none.
const never = -1

func liveRanges[I Inst](code []I, n int) *ranges {
	l := &ranges{start: make([]int32, n), end: make([]int32, n), weight: make([]float32, n)}
	for i := range l.start {
		l.start[i], l.end[i] = never, never
	}
	ends := loopEnds(code)
	var open []int32 // starts of the loops around
	weight := float32(1)
	at := int32(0)
	touch := func(x Reg) {
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
	for i, in := range code {
		at = int32(i)
		switch in.Span() {
		case LoopStart:
			open = append(open, at)
			weight *= loopWeight
			continue
		case LoopEnd:
			open = open[:len(open)-1]
			weight /= loopWeight
			continue
		}
		in.Uses(touch)
		if d := in.Result(); d != 0 {
			touch(d)
		}
	}
	l.die(len(code))
	return l
}

// die lists the registers that end at each of n positions.
func (l *ranges) die(n int) {
	l.dying = make([][]Reg, n)
	counts := make([]int32, n)
	for _, end := range l.end {
		if end != never {
			counts[end]++
		}
	}
	slab := make([]Reg, 0, len(l.end))
	for i, c := range counts {
		l.dying[i] = slab[len(slab) : len(slab) : len(slab)+int(c)]
		slab = slab[:len(slab)+int(c)]
	}
	for x, end := range l.end {
		if end != never {
			l.dying[end] = append(l.dying[end], Reg(x))
		}
	}
}

// loopEnds maps the start of each loop to its end.
func loopEnds[I Inst](code []I) map[int32]int32 {
	ends := map[int32]int32{}
	var open []int32
	for i, in := range code {
		switch in.Span() {
		case LoopStart:
			open = append(open, int32(i))
		case LoopEnd:
			ends[open[len(open)-1]] = int32(i)
			open = open[:len(open)-1]
		}
	}
	return ends
}
