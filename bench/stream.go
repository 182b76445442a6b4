package bench

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/jit"
)

// Stream moves bytes and does nothing else, over memory of the same extent as
// that of a program. A copy depends on where in a page its arrays begin, by 10 %
// on Zen 4: these lie as two tensors that the library makes one after the other.
type Stream struct {
	memory   *jit.Memory
	from, to []byte    // parts of it; to is nil where a program only reads
	code     *jit.Code // nil: no machine code here
	copyAt   int       // offset of the code
	pieces   int
}

// piece is the bytes of a call: tens of microseconds.
const piece = 256 << 10

// apart is how far the arrays of a stream lie from one another, beyond whole
// pages: the step from place to place in package jit.
const apart = 448

// NewStream makes a stream for a program that reads and writes so many bytes.
func NewStream(read, written int) (*Stream, error) {
	// Reads and writes are balanced, as copies have them: a program that reads
	// two arrays and writes one moves as much as one and a half copies.
	size := read
	if written > 0 {
		size = (read + written) / 2
	}
	s := &Stream{pieces: max(1, (size+piece-1)/piece)}
	size = s.pieces * piece
	total := size
	if written > 0 {
		total += apart + size
	}
	var alloc jit.Allocator
	var err error
	if s.memory, err = alloc.Alloc(total); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	clear(s.memory.Bytes()) // real pages, not the one of zeros
	s.from = s.memory.Bytes()[:size]
	if written > 0 {
		s.to = s.memory.Bytes()[size+apart:]
	}
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
	read, err := readLoop(target)
	if err != nil {
		return err
	}
	copies, err := copyLoop(target)
	if err != nil {
		return err
	}
	for len(read)%64 != 0 {
		read = append(read, 0xCC)
	}
	s.copyAt = len(read)
	s.code, err = jit.Map(append(read, copies...))
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
// best way there is.
func (s *Stream) Rate(threads int) float64 {
	ways := []func(i int){s.goRead}
	switch {
	case s.to != nil && s.code != nil:
		ways = []func(int){s.memmove, s.copy}
	case s.to != nil:
		ways = []func(int){s.memmove}
	case s.code != nil:
		ways = []func(int){s.read}
	}
	bytes := s.pieces * piece
	if s.to != nil {
		bytes *= 2
	}
	best := 0.0
	for _, way := range ways {
		best = max(best, float64(bytes)/s.pass(threads, way).Seconds())
	}
	return best
}

// pass moves everything once, each thread a part that lies together.
func (s *Stream) pass(threads int, way func(i int)) time.Duration {
	parts := make(chan int, threads)
	for t := range threads {
		parts <- t
	}
	_, elapsed := together(threads, func(time.Time) int {
		t := <-parts
		for i := t * s.pieces / threads; i < (t+1)*s.pieces/threads; i++ {
			way(i)
		}
		return 0
	})
	return elapsed
}

func (s *Stream) memmove(i int) {
	copy(s.to[i*piece:][:piece], s.from[i*piece:][:piece])
}

// goRead is the read loop where there is no machine code.
func (s *Stream) goRead(i int) {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&s.from[i*piece])), piece/8)
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

func (s *Stream) copy(i int) {
	args := moveArgs{unsafe.Pointer(&s.to[i*piece]), unsafe.Pointer(&s.from[i*piece]), piece}
	jit.Call(s.code.Entry(s.copyAt), unsafe.Pointer(&args))
	runtime.KeepAlive(s)
}

func (s *Stream) read(i int) {
	args := moveArgs{nil, unsafe.Pointer(&s.from[i*piece]), piece}
	jit.Call(s.code.Entry(0), unsafe.Pointer(&args))
	runtime.KeepAlive(s)
}
