package trial

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/diskcache"
	"github.com/sinterml/sinter/internal/ir"
)

// lacking is the referee, which refuses one format and computes another wrong.
type lacking struct {
	spoiled
	last ir.DType
}

func (d *lacking) CompileGraph(ctx context.Context, g *ir.Graph, o device.Options) (device.Module, error) {
	if o.Precision == ir.F16 {
		return nil, errors.New("no f16")
	}
	d.last = o.Precision
	return d.spoiled.CompileGraph(ctx, g, o)
}

func TestFormats(t *testing.T) {
	d := &lacking{}
	d.Device = interp.New()
	d.spoil = func(outputs []device.Buffer) {
		if d.last == ir.I8 {
			outputs[0].Bytes()[2] ^= 0x40
		}
	}
	dir := t.TempDir()
	memory := func() *Memory { return &Memory{Disk: &diskcache.Cache{Dir: dir, Limit: 1 << 20}} }
	p := device.Properties{UUID: "u", Driver: "1"}
	if known := memory().Formats("x", p); known != nil {
		t.Errorf("%v before it was asked", known)
	}
	want := []string{"f32", "bf16", "int4"}
	if got, err := memory().TryFormats(t.Context(), "x", p, d); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if known := memory().Formats("x", p); !slices.Equal(known, want) {
		t.Errorf("%v is remembered", known)
	}
	if known := memory().Formats("x", device.Properties{UUID: "u", Driver: "2"}); known != nil {
		t.Errorf("%v of another driver", known)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.UUID = "v"
	if got, err := memory().TryFormats(ctx, "x", p, d); !errors.Is(err, context.Canceled) || memory().Formats("x", p) != nil {
		t.Errorf("broken off: %v, %v", got, err)
	}
}
