package suite

import (
	"context"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/device/interp"
	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
)

// The processor keeps every rule and has every format; so do Go's loops.
func TestMeasures(t *testing.T) {
	for _, isa := range []cpu.ISA{cpu.Best, cpu.Generic} {
		d, err := cpu.New(cpu.Options{ISA: isa})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range Rules() {
			if err := r.Run(t.Context(), d, device.Options{}); err != nil {
				t.Errorf("%v: %s: %v", isa, r.Name, err)
			}
		}
		for _, f := range Formats() {
			if err := f.Try(t.Context(), d); err != nil {
				t.Errorf("%v: %v", isa, err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// flushing is a device that makes subnormals 0.
type flushing struct{ *interp.Device }

func (d flushing) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	e, err := d.Device.Submit(ctx, b)
	if err == nil && e.Wait(ctx) == nil {
		for out := b.Outputs[0].Bytes(); len(out) >= 4; out = out[4:] {
			if out[3]&0x7f == 0 && out[2]&0x80 == 0 {
				out[0], out[1], out[2] = 0, 0, 0
			}
		}
	}
	return e, err
}

func TestRulesAreNoticed(t *testing.T) {
	for _, r := range Rules() {
		err := r.Run(t.Context(), flushing{interp.New()}, device.Options{})
		if broken := r.Name == "subnormals are kept"; broken != (err != nil) {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}
