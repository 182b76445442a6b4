package trial

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/ir"
)

// speedSize is that of the square matrices whose product is timed: large enough
// for a GPU to be ahead, small enough for any processor.
const speedSize = 1024

// SpeedWork is how many multiply-adds that product has.
const SpeedWork = speedSize * speedSize * speedSize

// Speed is how long a device takes for a product, the best of a few runs, as
// measured now or at an earlier time with the same driver and program.
func (m *Memory) Speed(ctx context.Context, kind string, p device.Properties, d device.Device) (time.Duration, error) {
	key := speedKey(kind, p)
	if took, ok := m.took(key); ok {
		return took, nil
	}
	return m.measureAs(ctx, key, d)
}

// SpeedAgain measures whatever is remembered.
func (m *Memory) SpeedAgain(ctx context.Context, kind string, p device.Properties, d device.Device) (time.Duration, error) {
	return m.measureAs(ctx, speedKey(kind, p), d)
}

// Processor is the Speed of this processor, with all threads that the program
// may use.
func (m *Memory) Processor(ctx context.Context) (_ time.Duration, err error) {
	key := append(speedKey("cpu", cpu.Describe()), strconv.Itoa(runtime.GOMAXPROCS(0)))
	if took, ok := m.took(key); ok {
		return took, nil
	}
	c, err := cpu.New(cpu.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return m.measureAs(ctx, key, c)
}

// KeepsUp tells whether a device that takes so long for that product is no slower
// than the processor, which is timed too. Of one that could not be timed, which
// is 0, nobody knows: it may be broken, or its memory full.
func (m *Memory) KeepsUp(ctx context.Context, product time.Duration) (fast bool, processor time.Duration, err error) {
	if product <= 0 {
		return false, 0, nil
	}
	processor, err = m.Processor(ctx)
	return err == nil && product <= processor, processor, err
}

func speedKey(kind string, p device.Properties) []string {
	return append([]string{"speed"}, keyOf(kind, p)...)
}

// took is what was measured earlier.
func (m *Memory) took(key []string) (time.Duration, bool) {
	text, ok := m.Disk.Get(key...)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return time.Duration(n), err == nil && n > 0
}

func (m *Memory) measureAs(ctx context.Context, key []string, d device.Device) (time.Duration, error) {
	r, ok := d.(suite.Runner)
	if !ok {
		return 0, fmt.Errorf("%T cannot compile", d)
	}
	best, err := measure(ctx, r)
	if err == nil {
		m.Disk.Put(strconv.AppendInt(nil, int64(best), 10), key...)
	}
	return best, err
}

func measure(ctx context.Context, d suite.Runner) (best time.Duration, err error) {
	b := ir.NewBuilder(nil)
	x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(speedSize, speedSize)}})
	if err != nil {
		return 0, err
	}
	y, err := b.Add(ir.MatMul, ir.Attr{}, x, x)
	if err != nil {
		return 0, err
	}
	m, err := d.CompileGraph(ctx, b.Finish(y), device.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	const bytes = 4 * speedSize * speedSize
	in, err := d.Import(make([]byte, bytes))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := d.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	bound := &device.Bound{Module: m, Leaves: []device.Buffer{in}, Outputs: []device.Buffer{out}}
	for run := range 4 { // the first brings everything to its place
		begun := time.Now()
		if err := suite.Submit(ctx, d, bound); err != nil {
			return 0, err
		}
		if took := max(time.Since(begun), 1); run > 0 && (best == 0 || took < best) {
			best = took
		}
	}
	return best, nil
}
