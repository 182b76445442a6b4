package launch

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// TestTogether has goroutines run programs, move memory, close what others use and
// give back what is held, at once: the simulated device, which has a stream for
// each, finds no two uses of memory in no order.
func TestTogether(t *testing.T) {
	s := &simulated{}
	d, err := New(s, Options{Kind: "simulated", Shape: gpuShape})
	if err != nil {
		t.Fatal(err)
	}
	g, err := ir.Parse(`graph
symbol n 1 16
leaf 0 input "x" f32[n 8]
leaf 1 weight "w" f32[8 8]
leaf 2 variable "v" f32[8]
leaf 3 input "i" i32[3]
%0 = input : f32[n 8]
%1 = weight leaf=1 : f32[8 8]
%2 = variable leaf=2 : f32[8]
%3 = input leaf=3 : i32[3]
%4 = matmul %0 %1 : f32[n 8]
%5 = matmul %4 %1 : f32[n 8]
%6 = gather %2 %3 axes=[0] : f32[3]
%7 = sum %6 axes=[0] : f32[1]
%8 = expand %7 : f32[8]
%9 = add %2 %8 : f32[8]
%10 = assign %2 %9 leaf=2 : f32[8]
return %5 %10`)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.CompileGraph(context.Background(), g, device.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	if !m.Info().InPlace[1] {
		t.Error("the variable is not written in place")
	}
	weight, err := d.newBuffer(4 * 64)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			for range 30 {
				if err := runBeside(d, m, weight, 1+rng.IntN(16)); err != nil {
					t.Error(err)
				}
				if rng.IntN(10) == 0 {
					if err := d.TrimMemory(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wait.Wait()
	if err := errors.Join(m.Close(), weight.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	for _, fault := range s.faults {
		t.Error(fault)
	}
	if s.open != 0 {
		t.Errorf("%d things are not given back", s.open)
	}
}

// runBeside runs the program on memory of its own but for the weight, some of
// which is closed while it runs.
func runBeside(d *Device, m device.Module, weight *buffer, n int) (err error) {
	b := &device.Bound{Module: m, Env: ir.Env{"n": n}}
	var all []*buffer
	for _, size := range []int{32 * n, 32, 12, 32 * n} {
		buf, err := d.newBuffer(size)
		if err != nil {
			return err
		}
		if err := d.backend.Write(buf.mem, 0, make([]byte, size)); err != nil {
			return err
		}
		all = append(all, buf)
	}
	b.Leaves = []device.Buffer{all[0], weight, all[1], all[2]}
	b.Outputs = []device.Buffer{all[3], all[1]}
	closed := make(chan error)
	go func() {
		time.Sleep(time.Duration(n) * 10 * time.Microsecond)
		closed <- errors.Join(all[0].Close(), all[3].Close())
	}()
	err = submit(d, b)
	if errors.Is(err, device.ErrClosed) {
		err = nil // before it began
	}
	copied, failed := d.newBuffer(32)
	if failed == nil {
		failed = errors.Join(d.Copy(context.Background(), copied, all[1]), copied.Close())
	}
	return errors.Join(err, failed, <-closed, all[1].Close(), all[2].Close())
}

// counter makes streams that say how many there are.
type counter struct{ open *atomic.Int32 }

func (c counter) Close() error { c.open.Add(-1); return nil }

// Runs beyond the bound wait, and all streams are closed at the end: those that are
// out when these are given back.
func TestStreamsAreBounded(t *testing.T) {
	var open, most atomic.Int32
	p := NewStreams(func() (counter, error) {
		if n := open.Add(1); n > most.Load() {
			most.Store(n)
		}
		return counter{&open}, nil
	})
	var wait sync.WaitGroup
	for range 10 * maxStreams {
		wait.Go(func() {
			s, err := p.Take()
			if err != nil {
				t.Error(err)
			}
			time.Sleep(time.Millisecond)
			p.Give(s)
		})
	}
	wait.Wait()
	if n := most.Load(); n > maxStreams || n < 2 {
		t.Errorf("there were %d streams", n)
	}
	out, err := p.Take()
	if err == nil {
		err = p.Close()
	}
	if err != nil || open.Load() != 1 {
		t.Errorf("%d streams are open, %v", open.Load(), err)
	}
	p.Give(out)
	if open.Load() != 0 {
		t.Errorf("%d streams are open", open.Load())
	}
	refused := errors.New("none")
	none := NewStreams(func() (counter, error) { return counter{}, refused })
	for range 2 * maxStreams {
		if _, err := none.Take(); !errors.Is(err, refused) {
			t.Fatal(err)
		}
	}
}
