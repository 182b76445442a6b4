package sinter_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
)

// gpuOfTests is in the place of NVIDIA's: devices that are the processor, but for
// what they are told to do.
type gpuOfTests struct {
	untimed bool // the product by which devices are timed finds no room
	gone    bool // there is none any more
	opened  int
	last    *opened
}

// driver lists the one GPU.
func (g *gpuOfTests) driver() device.Driver {
	return device.Driver{
		Name: "cuda", External: true,
		List: func() ([]device.Properties, error) {
			if g.gone {
				return nil, nil
			}
			return []device.Properties{{Description: "GPU of tests"}}, nil
		},
		Open: func(int) (device.Device, error) {
			c, err := cpu.New(cpu.Options{})
			g.opened++
			g.last = &opened{Device: c, of: g}
			return g.last, err
		},
	}
}

// opened is the GPU of tests as it was opened once.
type opened struct {
	*cpu.Device
	of    *gpuOfTests
	lost  atomic.Bool
	fails atomic.Int32 // so many runs
}

var errLost = errors.New("the device failed")

// Submit takes no time for the product by which devices are timed.
func (d *opened) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	const timedBytes = 4 << 20
	switch timed := b.Outputs[0].Size() == timedBytes; {
	case timed && d.of.untimed:
		return nil, errors.New("no room for what a run needs")
	case d.lost.Load() || d.fails.Add(-1) >= 0:
		return nil, errLost
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

// The device that runs what names none is opened anew where it was lost: the run
// that failed stays an error, and so does what was compiled for it. Where it only
// failed, or an index was wrong, it stays.
func TestDefaultDeviceIsLost(t *testing.T) {
	if !byItself(t) {
		return
	}
	g := &gpuOfTests{}
	device.Register(g.driver())
	ascending := func(x sinter.Tensor) sinter.Tensor { // of which nobody knows how long it takes: it is not for the processor
		values, _ := x.Sort(0, false)
		return values
	}
	sorted := func() error {
		got, err := sinter.Values[int32](t.Context(), ascending(sinter.Of([]int32{3, 1, 2}, 3)))
		if err == nil && !slices.Equal(got, []int32{1, 2, 3}) {
			err = fmt.Errorf("sorted: %v", got)
		}
		return err
	}
	check := func(what string, err error, want error, opened int) {
		t.Helper()
		if !errors.Is(err, want) || g.opened != opened {
			t.Errorf("%s: %v, opened %d times and not %d", what, err, g.opened, opened)
		}
	}
	x := sinter.Input("x", sinter.I32, sinter.N(3))
	p, err := sinter.Compile(sinter.Capture(ascending(x)), sinter.Options{})
	if err != nil || p.Info().Device != "cuda:0" {
		t.Fatalf("%v: %v", p.Info(), err)
	}
	run := func() error {
		_, err := p.Run(t.Context(), map[string]sinter.Tensor{"x": sinter.Of([]int32{3, 1, 2}, 3)})
		return err
	}
	check("a program", run(), nil, 1)
	check("a value", sorted(), nil, 1)
	g.last.fails.Store(1)
	check("it fails once", sorted(), errLost, 1)
	check("after that", sorted(), nil, 1)
	_, err = sinter.Values[int32](t.Context(), ascending(sinter.Of([]int32{1, 2}, 2)).Take(sinter.Of([]int32{7}, 1), 0))
	if _, wrong := errors.AsType[*sinter.IndexError](err); !wrong {
		t.Errorf("an index that is wrong: %v", err)
	}
	g.last.lost.Store(true)
	check("it is lost", sorted(), errLost, 1)
	check("the next", sorted(), nil, 2)
	check("what was compiled for the lost one", run(), errLost, 2)
	check("then", sorted(), nil, 2)

	g.last.lost.Store(true)
	check("it is lost once more", sorted(), errLost, 2)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if err := sorted(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	check("many at once", nil, nil, 3)
	g.gone = true
	g.last.lost.Store(true)
	check("it is lost for good", sorted(), errLost, 3)
	check("on the processor", sorted(), nil, 3)
}
