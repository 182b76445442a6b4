package trial

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/diskcache"
)

// spoiled is the referee, whose results are changed.
type spoiled struct {
	*interp.Device
	spoil func(outputs []device.Buffer)
	runs  int
}

func (d *spoiled) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	d.runs++
	e, err := d.Device.Submit(ctx, b)
	if err == nil {
		if err = e.Wait(ctx); err == nil {
			d.spoil(b.Outputs)
		}
	}
	return e, err
}

func TestOnce(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	memory := func() *Memory { return &Memory{Disk: &diskcache.Cache{Dir: dir, Limit: 1 << 20}} }
	d := &spoiled{Device: interp.New(), spoil: func([]device.Buffer) {}}
	p := device.Properties{UUID: "u", Driver: "1"}
	tried := func(m *Memory, kind string, p device.Properties) bool {
		before := d.runs
		if err := m.Once(ctx, "x:0", kind, p, d); err != nil {
			t.Fatal(err)
		}
		return d.runs > before
	}
	m := memory()
	if !tried(m, "x", p) || tried(m, "x", p) {
		t.Error("tried once, and not again")
	}
	if tried(memory(), "x", p) {
		t.Error("another process tries again")
	}
	if !tried(memory(), "x", device.Properties{UUID: "u", Driver: "2"}) || !tried(memory(), "x", device.Properties{UUID: "v", Driver: "1"}) || !tried(memory(), "y", p) {
		t.Error("another driver, device or kind was not tried")
	}
	none := &Memory{}
	if !tried(none, "x", p) || tried(none, "x", p) {
		t.Error("without a disk the process remembers")
	}
	before := d.runs
	if err := m.Again(ctx, "x:0", "x", p, d); err != nil || d.runs == before {
		t.Errorf("again: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	for output, at := range []int{2, 2, 2, 0, 1, 1} { // a byte of the first element

		m := &Memory{}
		d := &spoiled{Device: interp.New(), spoil: func(outs []device.Buffer) { outs[output].Bytes()[at] ^= 0x40 }}
		for range 2 { // a failure is not remembered as a success
			err := m.Once(t.Context(), "opencl:1", "opencl", device.Properties{Driver: "ICD 3.1"}, d)
			var wrong *WrongError
			var elements *suite.Difference
			if !errors.As(err, &wrong) || !errors.As(err, &elements) || elements.Output != output {
				t.Fatalf("output %d: %v", output, err)
			}
			for _, want := range []string{"1 of", "update its driver (ICD 3.1)", "sinter device check opencl:1", "use another device"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
			if strings.Contains(err.Error(), "return %") {
				t.Errorf("the message has the whole graph: %v", err)
			}
		}
	}
	d := &spoiled{Device: interp.New(), spoil: func([]device.Buffer) {}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := new(Memory).Once(ctx, "x", "x", device.Properties{}, d); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
