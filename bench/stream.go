package bench

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/jit"
)

// Stream moves bytes and does nothing else, over memory of the same extent as
// that of a program: it copies as many as are both read and written, and loads or
// stores the others. A copy depends on where in a page its arrays begin, by 10 %
// on Zen 4: these lie as two tensors that the library makes one after the other.
type Stream struct {
	memory   *jit.Memory
	from, to []byte    // parts of it, either may be empty
	copied   int       // bytes of each
	code     *jit.Code // nil: no machine code here
	entry    [moves]int
}

// piece is the bytes of a call: tens of microseconds.
const piece = 256 << 10

// apart is how far the arrays of a stream lie from one another, beyond whole
// pages: the step from place to place in package jit.
const apart = 448

// streamTime is how long passes over the memory are repeated, as short runs are.
const streamTime = 5 * time.Millisecond

// NewStream makes a stream for a program that reads and writes so many bytes, in whole
// pieces: of less than one beside more there is none.
func NewStream(read, written int) (*Stream, error) {
	whole := func(n, other int) int {
		if n < piece && other > n {
			return 0
		}
		return max(1, (n+piece-1)/piece) * piece
	}
	read, written = whole(read, written), whole(written, read)
	s := &Stream{copied: min(read, written)}
	total := read + apart + written
	var alloc jit.Allocator
	var err error
	if s.memory, err = alloc.Alloc(total); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	clear(s.memory.Bytes()) // real pages, not the one of zeros
	s.from, s.to = s.memory.Bytes()[:read], s.memory.Bytes()[read+apart:]
	if err := s.emit(); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	return s, nil
}

// emit makes the loops in the widest vectors there are.
func (s *Stream) emit() error {
	target, ok := Target(ISAs()[0])
	if !ok {
		return nil
	}
	var text []byte
	for m := range moves {
		loop, err := m.loop(target)
		if err != nil {
			return err
		}
		for len(text)%64 != 0 {
			text = append(text, 0xCC)
		}
		s.entry[m] = len(text)
		text = append(text, loop...)
	}
	var err error
	s.code, err = jit.Map(text)
	return err
}

// Close frees the memory.
func (s *Stream) Close() error {
	if err := s.memory.Close(); err != nil {
		return err
	}
	if s.code == nil {
		return nil
	}
	return s.code.Close()
}

// Rate measures bytes moved a second, reads and writes counted apart, by the
// best way there is of each: equally warm, as a run finds what the one before left.
func (s *Stream) Rate(threads int) float64 {
	reading := s.by(read)
	if reading == nil {
		reading = s.readGo
	}
	seconds := s.least(threads, 0, s.copied, s.copyGo, s.by(copyPast))
	seconds += s.least(threads, s.copied, len(s.from), reading)
	seconds += s.least(threads, s.copied, len(s.to), s.fillGo, s.by(fill), s.by(fillPast))
	return float64(len(s.from)+len(s.to)) / seconds
}

// least is the seconds that the fastest way takes from byte start to end. A nil one is
// none.
func (s *Stream) least(threads, start, end int, ways ...func(at int)) float64 {
	if start >= end {
		return 0
	}
	least := math.Inf(1)
	for _, way := range ways {
		if way == nil {
			continue
		}
		elapsed := s.pass(threads, start, end, way)
		if passes := int(streamTime / max(elapsed, time.Microsecond)); passes > 0 {
			elapsed = 0
			for range passes {
				elapsed += s.pass(threads, start, end, way) / time.Duration(passes)
			}
		}
		least = min(least, elapsed.Seconds())
	}
	return least
}

// pass moves bytes start to end once, each thread a part that lies together.
func (s *Stream) pass(threads, start, end int, way func(at int)) time.Duration {
	parts := make(chan int, threads)
	for t := range threads {
		parts <- t
	}
	pieces := (end - start) / piece
	_, elapsed := together(threads, func(time.Time) int {
		t := <-parts
		for i := t * pieces / threads; i < (t+1)*pieces/threads; i++ {
			way(start + i*piece)
		}
		return 0
	})
	return elapsed
}

func (s *Stream) copyGo(at int) { copy(s.to[at:][:piece], s.from[at:][:piece]) }

func (s *Stream) fillGo(at int) { clear(s.to[at:][:piece]) }

// readGo is the read loop where there is no machine code.
func (s *Stream) readGo(at int) {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&s.from[at])), piece/8)
	var a, b, c, d uint64
	for ; len(words) >= 4; words = words[4:] {
		a, b, c, d = a|words[0], b|words[1], c|words[2], d|words[3]
	}
	readSink.Store(a | b | c | d)
}

// readSink keeps the loop from being dropped as useless.
var readSink atomic.Uint64

// moveArgs are the arguments of the machine code.
type moveArgs struct {
	to, from unsafe.Pointer
	bytes    int64
}

// by is a way in machine code, nil where there is none.
func (s *Stream) by(m move) func(at int) {
	if s.code == nil {
		return nil
	}
	return func(at int) {
		args := moveArgs{bytes: piece}
		if m.writes() {
			args.to = unsafe.Pointer(&s.to[at])
		}
		if m.reads() {
			args.from = unsafe.Pointer(&s.from[at])
		}
		jit.Call(s.code.Entry(s.entry[m]), unsafe.Pointer(&args))
		runtime.KeepAlive(s)
	}
}
