package launch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
)

// gpuShape is that of a device with small groups.
var gpuShape = entry.Shape{Items: 16, Near: 4 << 10, Flat: 4, Product: flat.Product, Units: 4}

// stepOf compiles a graph whose first leaf is a variable, and binds it: over the
// old values where that may be.
func stepOf(t *testing.T, d *Device, graph string, inPlace bool) (*device.Bound, []*buffer) {
	t.Helper()
	g, err := ir.Parse("graph" + graph)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.CompileGraph(context.Background(), g, device.Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []*buffer
	t.Cleanup(func() {
		for _, b := range all {
			_ = b.Close()
		}
		_ = m.Close()
	})
	b := &device.Bound{Module: m}
	for _, l := range g.Leaves {
		n, _ := l.Type.Shape.Numel().Const()
		buf, err := d.newBuffer(n * l.Type.DType.Size())
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, buf.size)
		if l.Type.DType == ir.F32 {
			for i := range n {
				binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(i*7919%n)/8-3))
			}
		}
		if err := d.backend.Write(buf.mem, 0, data); err != nil {
			t.Fatal(err)
		}
		b.Leaves, all = append(b.Leaves, buf), append(all, buf)
	}
	for i, o := range g.Outputs {
		n, _ := o.Shape.Numel().Const()
		if inPlace && m.Info().InPlace[i] {
			b.Outputs = append(b.Outputs, b.Leaves[o.Attr.Leaf])
			continue
		}
		buf, err := d.newBuffer(n * o.DType.Size())
		if err != nil {
			t.Fatal(err)
		}
		b.Outputs, all = append(b.Outputs, buf), append(all, buf)
	}
	return b, all
}

func submit(d *Device, b *device.Bound) error {
	e, err := d.Submit(context.Background(), b)
	if err == nil {
		err = e.Wait(context.Background())
	}
	return err
}

func contents(t *testing.T, b device.Buffer) []byte {
	t.Helper()
	data, err := b.(*buffer).read()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The simulated device refuses kernels in which memory that nobody was to write
// to is written, or a work-item reads what another writes.
func TestInPlace(t *testing.T) {
	for _, shape := range []entry.Shape{gpuShape, {Items: 1, Flat: 1, Product: nil}} {
		for _, c := range suite.InPlace {
			if strings.Contains(c.Name, "long product") {
				continue // which takes this device a minute
			}
			d, err := New(&simulated{}, Options{Kind: "simulated", Shape: shape})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			apart, _ := stepOf(t, d, c.Graph, false)
			over, _ := stepOf(t, d, c.Graph, true)
			if in := over.Module.Info().InPlace; !slices.Equal(in, c.Want) {
				t.Errorf("%s: in place: %v, want %v", c.Name, in, c.Want)
			}
			if err := errors.Join(submit(d, apart), submit(d, over)); err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			for i := range apart.Outputs {
				if !bytes.Equal(contents(t, apart.Outputs[i]), contents(t, over.Outputs[i])) {
					t.Errorf("%s: output %d differs in place", c.Name, i)
				}
			}
		}
	}
}

// A plan that is tuned runs its kernels many times, and the variable changes once.
func TestTuningInPlace(t *testing.T) {
	s := &simulated{}
	d := tunable(t, s, t.TempDir())
	graph := suite.InPlace[0].Graph
	apart, _ := stepOf(t, d, graph, false)
	over, _ := stepOf(t, d, graph, true)
	over.Tune = &device.Tuning{}
	if err := errors.Join(submit(d, apart), submit(d, over)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(contents(t, apart.Outputs[0]), contents(t, over.Leaves[0])) {
		t.Error("the variable is another after a run that was tuned")
	}
}

// failing is a device whose runs fail from some on.
type failing struct {
	simulated
	after int
	err   error
}

var errFailed = errors.New("the device failed")

// lackingError is a driver without memory.
type lackingError struct{}

func (lackingError) Error() string     { return "no memory" }
func (lackingError) OutOfMemory() bool { return true }

func (f *failing) Build(c *Code) (Program, error) {
	p, err := f.simulated.Build(c)
	return failingProgram{p, f}, err
}

type failingProgram struct {
	Program
	of *failing
}

func (p failingProgram) Record(l []Launch) (Recording, error) {
	r, err := p.Program.Record(l)
	return failingRecording{r, p.of}, err
}

type failingRecording struct {
	Recording
	of *failing
}

func (r failingRecording) Run() error {
	if r.of.after--; r.of.after < 0 {
		return r.of.err
	}
	return r.Recording.Run()
}

// A device that fails before variables are written leaves them as they were, and
// one that fails meanwhile says that they are lost. Memory that is lacking where
// nothing has begun takes nothing away.
func TestFailsInPlace(t *testing.T) {
	graph := ""
	for _, c := range suite.InPlace {
		if strings.Contains(c.Name, "after an index that may be wrong") {
			graph = c.Graph
		}
	}
	for _, c := range []struct {
		after      int
		err        error
		lost, full bool
	}{
		{0, errFailed, false, false}, {1, errFailed, true, false},
		{0, lackingError{}, false, true}, {1, lackingError{}, false, true},
		{0, Begun(lackingError{}), false, true}, {1, Begun(lackingError{}), true, false},
	} {
		f := &failing{after: c.after, err: c.err}
		d, err := New(f, Options{Kind: "simulated", Shape: gpuShape})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		b, _ := stepOf(t, d, graph, true)
		before := contents(t, b.Leaves[0])
		err = submit(d, b)
		if !errors.Is(err, c.err) || strings.Contains(err.Error(), "whose values are lost") != c.lost {
			t.Errorf("after %d runs: %v", c.after, err)
		}
		if _, full := errors.AsType[*device.OutOfMemoryError](err); full != c.full {
			t.Errorf("after %d runs: %v is one of memory: %v", c.after, err, full)
		}
		if !bytes.Equal(before, contents(t, b.Leaves[0])) {
			t.Error("the variable has changed")
		}
	}
}
