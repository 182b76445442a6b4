package devicetest_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "auto")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} { // what is kept on disk
		os.Setenv(name, dir)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// gpu is a device of tests, which is the processor but for the product by which
// devices are timed: that takes as long as it says.
type gpu struct {
	*cpu.Device
	takes        time.Duration
	runs, timed  int
	opened, shut int
}

const timedBytes = 4 << 20

func (g *gpu) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	g.runs++
	if b.Outputs[0].Size() != timedBytes {
		return g.Device.Submit(ctx, b)
	}
	g.timed++
	time.Sleep(g.takes)
	return ended{}, nil
}

func (g *gpu) Close() error { g.shut++; return nil }

type ended struct{}

func (ended) Wait(context.Context) error { return nil }

func register(t *testing.T, kind string, p device.Properties, takes time.Duration) *gpu {
	t.Helper()
	c, err := cpu.New(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := &gpu{Device: c, takes: takes}
	device.Register(device.Driver{
		Name: kind, External: true,
		List: func() ([]device.Properties, error) { return []device.Properties{p}, nil },
		Open: func(int) (device.Device, error) { g.opened++; return g, nil },
	})
	return g
}

// TestAuto has a GPU that is slower than any processor, one that is faster, and
// one that is software.
func TestAuto(t *testing.T) {
	slow := register(t, "hip", device.Properties{Description: "old GPU", UUID: "1"}, time.Second)
	fast := register(t, "metal", device.Properties{Description: "new GPU", UUID: "2"}, 0)
	software := register(t, "vulkan", device.Properties{Description: "software", UUID: "3", Software: true}, 0)

	// What ends before a GPU would have started stays here.
	x := sinter.Of(make([]float32, 64*64), 64, 64)
	if _, err := sinter.Eval(t.Context(), x.MatMul(x).Exp()); err != nil || slow.opened+fast.opened > 0 {
		t.Fatalf("%v: a product of 64 opened %d and %d GPUs", err, slow.opened, fast.opened)
	}
	for i := range 2 {
		d, err := sinter.Open("auto")
		if err != nil || d.Name() != "metal:0" {
			t.Fatalf("%v, %v", d, err)
		}
		if slow.timed != 4 || fast.timed != 4 || slow.shut != i+1 {
			t.Errorf("opened %d times: timed %d and %d runs, closed the slow one %d times", i+1, slow.timed, fast.timed, slow.shut)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	before := fast.runs
	big := sinter.Ones(sinter.F32, sinter.Dims(2048, 1024)...)
	if _, err := sinter.Eval(t.Context(), big.MatMul(sinter.Ones(sinter.F32, sinter.Dims(1024, 1024)...)).Sum()); err != nil || fast.runs != before+1 {
		t.Errorf("a large program: %v, %d runs", err, fast.runs-before)
	}
	// The same for a program whose sizes are not known.
	n := sinter.Sym("n", 1, 1<<20)
	p, err := sinter.Compile(sinter.Capture(sinter.Input("x", sinter.F32, n).Exp()), sinter.Options{})
	if err != nil || p.Info().Device != "metal:0" {
		t.Errorf("any size: %v, %v", p.Info().Device, err)
	}
	if software.opened > 0 {
		t.Error("software was opened, and nobody asked for it")
	}
}
