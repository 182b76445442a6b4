package sinter_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
)

// gpuOfTests is in the place of NVIDIA's: devices that are the processor, but for
// what they are told to do.
type gpuOfTests struct {
	untimed bool // the product by which devices are timed finds no room
	opened  int
}

// driver lists the one GPU.
func (g *gpuOfTests) driver() device.Driver {
	return device.Driver{
		Name: "cuda", External: true,
		List: func() ([]device.Properties, error) {
			return []device.Properties{{Description: "GPU of tests"}}, nil
		},
		Open: func(int) (device.Device, error) {
			c, err := cpu.New(cpu.Options{})
			g.opened++
			return &opened{c, g}, err
		},
	}
}

// opened is the GPU of tests as it was opened once.
type opened struct {
	*cpu.Device
	of *gpuOfTests
}

// Submit takes no time for the product by which devices are timed.
func (d *opened) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	const timedBytes = 4 << 20
	switch timed := b.Outputs[0].Size() == timedBytes; {
	case timed && d.of.untimed:
		return nil, errors.New("no room for what a run needs")
	case timed:
		return ended{}, nil
	}
	return d.Device.Submit(ctx, b)
}

type ended struct{}

func (ended) Wait(context.Context) error { return nil }

// byItself runs the rest of a test in a process of its own, whose devices are no
// other test's.
func byItself(t *testing.T) (here bool) {
	t.Helper()
	const variable = "SINTER_TEST_APART"
	if os.Getenv(variable) == t.Name() {
		return true
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe, "-test.run=^"+t.Name()+"$", "-test.count=1")
	c.Env = append(os.Environ(), variable+"="+t.Name())
	for _, home := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		c.Env = append(c.Env, home+"="+t.TempDir())
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// A GPU that cannot be timed, as its memory is full, is not taken by auto, and is
// by its name; once it can be it is taken.
func TestAutoPassesOverUntimed(t *testing.T) {
	if !byItself(t) {
		return
	}
	g := &gpuOfTests{untimed: true}
	device.Register(g.driver())
	for _, c := range []struct {
		untimed    bool
		name, want string
	}{{true, "auto", "cpu"}, {true, "cuda", "cuda"}, {false, "auto", "cuda:0"}} {
		g.untimed = c.untimed
		before := g.opened
		d, err := sinter.Open(c.name)
		if err != nil || d.Name() != c.want || g.opened != before+1 {
			t.Fatalf("%+v: %v, %v, opened %d times", c, d, err, g.opened)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
