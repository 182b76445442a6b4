package sinter_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/trial"
)

// untrue computes, and then changes a bit.
type untrue struct {
	*interp.Device
	closed *int
}

func (d untrue) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	e, err := d.Device.Submit(ctx, b)
	if err == nil && e.Wait(ctx) == nil {
		b.Outputs[0].Bytes()[3] ^= 0x20
	}
	return e, err
}

func (d untrue) Close() error {
	*d.closed++
	return d.Device.Close()
}

// The referee computes in the formats that it is listed with, and keeps the rules.
func TestAbilitiesOfTheReferee(t *testing.T) {
	got, err := (&trial.Memory{}).Try(t.Context(), "interp", device.Properties{}, interp.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range sinter.Devices() {
		if d.Name == "interp" && (!slices.Equal(d.DTypes, got.Formats) || !slices.Equal(d.Rules, got.Rules)) {
			t.Errorf("%+v; listed are %v and %v", got, d.DTypes, d.Rules)
		}
	}
}

// A driver whose device computes something else than the processor is refused
// when it is opened, and its device closed; who asks for it gets it nonetheless.
func TestWrongDeviceIsRefused(t *testing.T) {
	closed := 0
	device.Register(device.Driver{
		Name: "untrue", External: true,
		List: func() ([]device.Properties, error) {
			return []device.Properties{{Description: "liar", Driver: "Lies 1.0"}}, nil
		},
		Open: func(int) (device.Device, error) { return untrue{interp.New(), &closed}, nil },
	})
	_, err := sinter.Open("untrue:0")
	var wrong *trial.WrongError
	if !errors.As(err, &wrong) || closed != 1 || !strings.Contains(err.Error(), "Lies 1.0") || !strings.Contains(err.Error(), "sinter device check untrue:0") {
		t.Errorf("closed %d times: %v", closed, err)
	}
	d, err := sinter.OpenWith("untrue:0", sinter.DeviceOptions{Unchecked: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
