package launch

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// givenBack notes that the driver is given back.
type givenBack struct {
	simulated
	closed atomic.Bool
}

func (g *givenBack) Close() error { g.closed.Store(true); return g.simulated.Close() }

// A device that is closed while a run is under way lets that come to its end, with
// the driver and all memory there.
func TestCloseDuringRun(t *testing.T) {
	g := &givenBack{}
	begun, open := make(chan bool), make(chan bool)
	g.twist = func(*entry.Kernel, [][]byte) {
		begun <- true
		<-open
	}
	d, err := New(g, Options{Kind: "simulated", Shape: gpuShape})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := stepOf(t, d, suite.InPlace[0].Graph, true)
	ended := make(chan error)
	go func() { ended <- submit(d, b) }()
	<-begun
	if err := d.Close(); err != nil || g.closed.Load() {
		t.Errorf("while a run is under way: given back: %v, %v", g.closed.Load(), err)
	}
	if err := errors.Join(d.Close(), submit(d, b)); !errors.Is(err, device.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	close(open)
	if err := <-ended; err != nil || !g.closed.Load() {
		t.Errorf("after the run: given back: %v, %v", g.closed.Load(), err)
	}
	for _, fault := range g.faults {
		t.Error(fault)
	}
}
