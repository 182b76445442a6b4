package launch

import (
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/launch/order"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/loop"
)

// simulated is a device in Go, whose kernels go wrong as told.
type simulated struct {
	mu      sync.Mutex
	tried   []entry.Strategy // of kernels that were built alone
	open    int              // memories, programs and recordings
	emitted map[*Code]map[string]*flattest.Program
	alone   map[*Code]entry.Strategy // of code with one kernel
	order   order.Checker
	streams order.Stream
	faults  []string // uses of memory in no order

	slow   func(*entry.Kernel) time.Duration // how long a kernel takes at least
	starts time.Duration                     // how long it takes to start a recording, and to hear of its end
	refuse func(*entry.Kernel) bool          // it cannot be built
	twist  func(*entry.Kernel, [][]byte)     // changes the buffers afterwards
	lazy   func(*entry.Kernel) bool          // it does nothing
}

type simulatedMemory struct {
	of *simulated
	b  []byte
}

func (m *simulatedMemory) Close() error {
	m.of.count(-1)
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.of.check(m.of.order.Free(m.handle()))
	m.b = nil
	return nil
}

func (m *simulatedMemory) handle() order.Memory { return order.Memory(unsafe.Pointer(m)) }

func (s *simulated) check(err error) {
	if err != nil {
		s.faults = append(s.faults, err.Error())
	}
}

// on does something on a stream of its own, which the host waits for.
func (s *simulated) on(what string, reads, writes []*simulatedMemory, do func() error) error {
	s.mu.Lock()
	s.streams++
	stream := s.streams
	w := s.order.Start(stream, what)
	for _, m := range reads {
		s.check(w.Reads(m.handle()))
	}
	for _, m := range writes {
		s.check(w.Writes(m.handle()))
	}
	s.mu.Unlock()
	runtime.Gosched() // others begin meanwhile
	err := do()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order.Wait(stream)
	return err
}

func (s *simulated) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
}

func (s *simulated) Alloc(n int) (Memory, error) {
	s.count(1)
	return &simulatedMemory{s, make([]byte, n)}, nil
}

func (s *simulated) Import([]byte) (Memory, error) { return nil, nil }

func (s *simulated) Write(to Memory, offset int, p []byte) error {
	m := to.(*simulatedMemory)
	return s.on("Write", nil, []*simulatedMemory{m}, func() error { copy(m.b[offset:], p); return nil })
}

func (s *simulated) Read(p []byte, from Memory, offset int) error {
	m := from.(*simulatedMemory)
	return s.on("Read", []*simulatedMemory{m}, nil, func() error { copy(p, m.b[offset:]); return nil })
}

func (s *simulated) Copy(to, from Memory, n int) error {
	a, b := to.(*simulatedMemory), from.(*simulatedMemory)
	return s.on("Copy", []*simulatedMemory{b}, []*simulatedMemory{a}, func() error { copy(a.b[:n], b.b); return nil })
}

func (s *simulated) Zero(m Memory, n int) error {
	a := m.(*simulatedMemory)
	return s.on("Zero", nil, []*simulatedMemory{a}, func() error { clear(a.b[:n]); return nil })
}

func (s *simulated) Close() error { return nil }

type simulatedProgram struct {
	of      *simulated
	kernels map[string]*flattest.Program
}

func (s *simulated) Emit(kernels []*entry.Kernel) (*Code, error) {
	c, programs := &Code{}, map[string]*flattest.Program{}
	for _, k := range kernels {
		p, err := flattest.Record(k)
		if err != nil {
			return nil, err
		}
		if s.refuse != nil && s.refuse(k) {
			return nil, fmt.Errorf("no room for %s", k.Entry)
		}
		c.Text += fmt.Sprintln(k.Entry, k.Work, k.Tile, k.Items, k.Near)
		c.Args = append(c.Args, flat.Args(k))
		programs[k.Entry] = p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emitted == nil {
		s.emitted = map[*Code]map[string]*flattest.Program{}
	}
	s.emitted[c] = programs
	if len(kernels) == 1 {
		if s.alone == nil {
			s.alone = map[*Code]entry.Strategy{}
		}
		s.alone[c] = kernels[0].Strategy
	}
	return c, nil
}

func (s *simulated) Build(c *Code) (Program, error) {
	s.count(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if strategy, ok := s.alone[c]; ok {
		s.tried = append(s.tried, strategy)
	}
	return &simulatedProgram{s, s.emitted[c]}, nil
}

func (p *simulatedProgram) Close() error { p.of.count(-1); return nil }

func (p *simulatedProgram) Record(launches []Launch) (Recording, error) {
	p.of.count(1)
	r := &simulatedRecording{program: p, launches: launches}
	for _, l := range launches {
		r.args = append(r.args, make([]simulatedArg, len(l.Args)))
	}
	return r, nil
}

type simulatedArg struct {
	mem *simulatedMemory
	n   int64
}

type simulatedRecording struct {
	program  *simulatedProgram
	launches []Launch
	args     [][]simulatedArg
}

func (r *simulatedRecording) SetMemory(launch, arg int, m Memory) error {
	mem, _ := m.(*simulatedMemory)
	r.args[launch][arg].mem = mem
	return nil
}

func (r *simulatedRecording) SetInt(launch, arg int, n int64) error {
	r.args[launch][arg].n = n
	return nil
}

func (r *simulatedRecording) Run() error {
	var reads, writes []*simulatedMemory
	for i, l := range r.launches {
		for j, a := range l.Args {
			mem := r.args[i][j].mem
			switch {
			case a.Kind != entry.ArgBuffer || mem == nil:
			case a.Param >= 0 && l.Kernel.Work.Params[a.Param].Use == loop.Read:
				reads = append(reads, mem)
			default:
				writes = append(writes, mem)
			}
		}
	}
	return r.program.of.on("Run", reads, writes, func() error {
		time.Sleep(r.program.of.starts)
		for i, l := range r.launches {
			if err := r.run(l, r.args[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *simulatedRecording) run(l Launch, args []simulatedArg) error {
	s, k := r.program.of, l.Kernel
	if s.slow != nil {
		start := time.Now()
		defer func() { time.Sleep(s.slow(k) - time.Since(start)) }()
	}
	if s.lazy != nil && s.lazy(k) {
		return nil
	}
	run := &flattest.Launch{Groups: l.Groups, Items: l.Items}
	at := map[*simulatedMemory]int{}
	for i, a := range args {
		arg := flattest.Arg{Buffer: -1, N: a.n}
		if l.Args[i].Kind == entry.ArgBuffer {
			n, seen := at[a.mem]
			if !seen {
				n = len(run.Buffers)
				at[a.mem] = n
				run.Buffers = append(run.Buffers, a.mem.b)
			}
			arg.Buffer = n
		}
		run.Args = append(run.Args, arg)
	}
	if err := r.program.kernels[k.Entry].Run(run); err != nil {
		return err
	}
	if s.twist != nil {
		s.twist(k, run.Buffers)
	}
	return nil
}

func (r *simulatedRecording) Close() error { r.program.of.count(-1); return nil }
