package bench

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
)

// Peak is a loop of nothing but independent multiplications and additions: no
// program does more of them a second.
type Peak struct {
	code  *jit.Code
	flops int // operations of a call of burst
}

// burstRounds keeps a call near 50 microseconds, as machine code must not keep
// the garbage collector waiting.
const burstRounds = 1000

// NewPeak makes the loop for an instruction set and what products multiply
// there: bf16 and int8 stand for the instructions for pairs of bf16, where a
// processor has them and they pay, and for bytes; all else for f32.
func NewPeak(isa, dtype string) (*Peak, error) {
	target, ok := Target(isa)
	if !ok {
		if isa != Generic {
			return nil, fmt.Errorf("bench: no peak is known for the instruction set %q", isa)
		}
		return &Peak{flops: scalarRounds * scalarFlops}, nil
	}
	text, flops, err := x86.PeakLoop(target, Format(isa, dtype))
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	code, err := jit.Map(text)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	return &Peak{code, burstRounds * flops}, nil
}

// Format is what a product of a dtype with a weight is multiplied as, by code
// for an instruction set.
func Format(isa, dtype string) x86.GemmFormat {
	target, ok := Target(isa)
	host := cpuid.Host()
	host.AMXTile = host.AMXTile && (isa == AMX || isa == AMXFP16)
	host.AMXFP16 = isa == AMXFP16
	has := func(f x86.GemmFormat) bool { return ok && x86.HasGemm(target, f, &host.Features) }
	switch {
	case dtype == "f32" && has(x86.GemmAMXHalves):
		return x86.GemmAMXHalves
	case dtype == "f32" && has(x86.GemmAMXThirds):
		return x86.GemmAMXThirds
	case (dtype == "bf16" || dtype == "int4") && has(x86.GemmAMXBF16): // weights are unpacked to it
		return x86.GemmAMXBF16
	case dtype == "int8" && has(x86.GemmAMXBytes):
		return x86.GemmAMXBytes
	case (dtype == "bf16" || dtype == "int4") && has(x86.GemmBF16) && !host.SlowBF16():
		return x86.GemmBF16
	case (dtype == "bf16" || dtype == "int4") && has(x86.GemmWide):
		return x86.GemmWide
	case dtype == "int8" && has(x86.GemmBytes):
		return x86.GemmBytes
	case dtype == "int8" && has(x86.GemmPairs):
		return x86.GemmPairs
	case dtype == "int8":
		return x86.GemmWords
	}
	return x86.GemmF32
}

// Close frees the loop.
func (p *Peak) Close() error {
	if p.code == nil {
		return nil
	}
	return p.code.Close()
}

func (p *Peak) burst() {
	if p.code == nil {
		scalarSink.Store(scalarLoop())
		return
	}
	rounds := int64(burstRounds)
	jit.Call(p.code.Entry(0), unsafe.Pointer(&rounds))
	runtime.KeepAlive(p)
}

// Rate measures operations a second on a number of threads for about d.
func (p *Peak) Rate(threads int, d time.Duration) float64 {
	bursts, elapsed := together(threads, func(begin time.Time) int {
		n := 0
		for time.Since(begin) < d {
			p.burst()
			n++
		}
		return n
	})
	return float64(bursts) * float64(p.flops) / elapsed.Seconds()
}

// together runs f on several threads that begin at one moment, adds up what
// they return, and gives the time until the last has ended.
func together(threads int, f func(begin time.Time) int) (sum int, elapsed time.Duration) {
	var total, ready atomic.Int64
	var wait sync.WaitGroup
	var begin time.Time
	start := make(chan struct{})
	for range threads - 1 {
		wait.Go(func() {
			ready.Add(1)
			<-start
			total.Add(int64(f(begin)))
		})
	}
	for int(ready.Load()) < threads-1 {
		runtime.Gosched()
	}
	begin = time.Now()
	close(start)
	total.Add(int64(f(begin)))
	wait.Wait()
	return int(total.Load()), time.Since(begin)
}
