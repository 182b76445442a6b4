package trial

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/ir"
)

// speedSize is that of the square matrices whose product is timed: large enough
// for a GPU to be ahead, small enough for any processor.
const speedSize = 1024

// Speed is how long a device takes for a product, the best of a few runs, as
// measured now or at an earlier time with the same driver and program.
func (m *Memory) Speed(ctx context.Context, kind string, p device.Properties, d device.Device) (time.Duration, error) {
	key := append([]string{"speed"}, keyOf(kind, p)...)
	if text, ok := m.Disk.Get(key...); ok {
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && n > 0 {
			return time.Duration(n), nil
		}
	}
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
