package devicetest

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
)

// broken is the referee with a defect.
type broken struct {
	*interp.Device
	defect func(d *broken, ctx context.Context, b *device.Bound) (device.Event, error)
}

func (d *broken) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	return d.defect(d, ctx, b)
}

// after runs b and then spoils something.
func after(spoil func(b *device.Bound)) func(*broken, context.Context, *device.Bound) (device.Event, error) {
	return func(d *broken, ctx context.Context, b *device.Bound) (device.Event, error) {
		e, err := d.Device.Submit(ctx, b)
		if err == nil && e.Wait(ctx) == nil {
			spoil(b)
		}
		return e, err
	}
}

// output changes the bytes of the last output, if it has any.
func output(change func(data []byte)) func(b *device.Bound) {
	return func(b *device.Bound) {
		if data := b.Outputs[len(b.Outputs)-1].Bytes(); len(data) > 0 {
			change(data)
		}
	}
}

// TestSuiteCatches plants defects in a device that passes.
func TestSuiteCatches(t *testing.T) {
	runs := 0
	for _, c := range []struct {
		defect string
		caught string // by this case or promise
		submit func(*broken, context.Context, *device.Bound) (device.Event, error)
	}{
		{"a wrong last element", "add i32", after(output(func(p []byte) { p[len(p)-4]++ }))},
		{"a float off by a few ulp", "add f32", after(output(func(p []byte) { p[len(p)-4] ^= 8 }))},
		{"the sign of a zero", "mul f32", after(output(func(p []byte) {
			for i := 0; i < len(p); i += 4 {
				if binary.LittleEndian.Uint32(p[i:]) == 1<<31 {
					p[i+3] = 0
				}
			}
		}))},
		{"the bits of a NaN that is moved", "permute f32", after(output(func(p []byte) {
			for i := 0; i < len(p); i += 4 {
				if v := binary.LittleEndian.Uint32(p[i:]); v&(1<<31-1) > 0x7f800000 {
					p[i] ^= 1
				}
			}
		}))},
		{"a leaf is written", "neg f32", after(func(b *device.Bound) {
			if data := b.Leaves[0].Bytes(); len(data) > 0 {
				data[0]++
			}
		})},
		{"a write behind an output", "neg f32", after(output(func(p []byte) {
			*(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(p)), len(p))) = 0
		}))},
		{"another result each time", "rand", after(output(func(p []byte) { runs++; p[0] ^= byte(runs) }))},
		{"index errors are not reported", "gather outside at 6 i32", func(d *broken, ctx context.Context, b *device.Bound) (device.Event, error) {
			_, err := d.Device.Submit(ctx, b)
			return succeeded{}, err
		}},
		{"the index of an error is wrong", "gather outside at 6 i32", func(d *broken, ctx context.Context, b *device.Bound) (device.Event, error) {
			return nil, &device.IndexError{Op: "gather", Index: 5, Size: 6, At: 3}
		}},
		{"cancellation is ignored", "a run can be cancelled", func(d *broken, ctx context.Context, b *device.Bound) (device.Event, error) {
			return d.Device.Submit(context.Background(), b)
		}},
		{"wrong sizes are taken", "buffers that do not fit are refused", func(d *broken, ctx context.Context, b *device.Bound) (device.Event, error) {
			e, _ := d.Device.Submit(ctx, b)
			if e == nil {
				e = succeeded{}
			}
			return e, nil
		}},
	} {
		open := func(int) (device.Device, error) { return &broken{interp.New(), c.submit}, nil }
		s, err := newSubject(open, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.named(c.caught); err == nil {
			t.Errorf("%s: not caught by %q", c.defect, c.caught)
		}
	}
}

// named runs one case or promise.
func (s *subject) named(name string) error {
	for _, p := range promises {
		if p.name == name {
			return p.check(s)
		}
	}
	c, err := caseNamed(name)
	if err != nil {
		panic(err)
	}
	return c.Run(context.Background(), s.two, s.compile)
}

type succeeded struct{}

func (succeeded) Wait(context.Context) error { return nil }

func TestKnownFailures(t *testing.T) {
	failed := errors.New("failed")
	if verdict(failed, "", false) != failed || verdict(failed, "known", true) != nil || verdict(nil, "known", true) == nil || verdict(nil, "", false) != nil {
		t.Error("a known failure must fail, any other case pass")
	}
}

// Names are looked for in both suites and among the promises, whichever run.
func TestStrangers(t *testing.T) {
	known := map[string]string{"add f32": "", "pointwise f32": "", promises[0].name: "", "pointwise f23": "", "ad f32": ""}
	if got := strangers(known); !slices.Equal(got, []string{"ad f32", "pointwise f23"}) {
		t.Errorf("%q", got)
	}
}
