package vulkan

import (
	"errors"
	"sync"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/devicetest"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// messages collects what the validation layer finds wrong.
type messages struct {
	mu   sync.Mutex
	text []string
}

func (m *messages) add(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = append(m.text, text)
}

// physical finds the best device of the system's drivers, under the validation
// layer, every message of which fails the test. Where everything has to be
// tested there must be one.
func physical(t testing.TB) *vk.Physical {
	t.Helper()
	api, err := vk.Load()
	if err != nil {
		effort.Missing(t, err)
	}
	m := &messages{}
	i, err := api.NewInstance(vk.Options{Messages: m.add})
	if errors.Is(err, vk.ErrNoLayer) || errors.Is(err, vk.IncompatibleDriver) { // which a loader without drivers says
		effort.Missing(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		i.Close()
		for _, text := range m.text {
			t.Error(text)
		}
	})
	all, err := usable(i)
	if len(all) == 0 {
		effort.Missing(t, err)
	}
	return all[0]
}

// openBackend opens the best device.
func openBackend(t testing.TB) *backend {
	t.Helper()
	p := physical(t)
	b, err := newBackend(p, shapeOf(p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestRandomKernels compares single kernels with the interpreter of loops.
func TestRandomKernels(t *testing.T) {
	b := openBackend(t)
	launchtest.RandomKernels(t, b, b.shape, nil)
}

func TestProducts(t *testing.T) {
	b := openBackend(t)
	launchtest.Products(t, b, b.shape)
}

func TestFewRows(t *testing.T) {
	b := openBackend(t)
	launchtest.FewRows(t, b, b.shape, func(ir.DType) bool { return true })
}

// TestConformance runs the suite, of which the driver's compiler takes minutes for
// the whole: that is run where everything has to be tested, and of software nothing
// elsewhere.
func TestConformance(t *testing.T) {
	p := physical(t)
	if p.Software() && effort.Now() < effort.CI {
		t.Skip("the compiler of software takes a minute for the short suite alone: set SINTER_CI")
	}
	open := func(int) (device.Device, error) { return New(p, nil) }
	devicetest.InProcesses(t, 3, func(part devicetest.Part) {
		devicetest.Run(t, open, devicetest.Options{Compile: device.Options{Check: true}, Slow: effort.Now() < effort.CI, Grouped: true, Part: part})
	})
}
