package devicetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/ir"
)

// Every operation has cases, and every dtype that its first operand may have
// is among them.
func TestEveryOperationHasCases(t *testing.T) {
	seen := map[ir.Op]map[ir.DType]bool{}
	names := map[string]bool{}
	for _, c := range Cases() {
		if names[c.Name] {
			t.Errorf("two cases are named %q", c.Name)
		}
		names[c.Name] = true
		g, _, err := c.Graph()
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for _, n := range g.Nodes {
			d := n.DType
			if len(n.In) > 0 {
				d = n.In[0].DType
			}
			if n.Op == ir.Where {
				d = n.DType
			}
			if seen[n.Op] == nil {
				seen[n.Op] = map[ir.DType]bool{}
			}
			seen[n.Op][d] = true
		}
	}
	for _, op := range ir.Ops() {
		if len(seen[op]) == 0 {
			t.Errorf("%v has no case", op)
		}
		if !op.Pointwise() && op.Class() != ir.ClassReduce && op.Class() != ir.ClassMovement {
			continue
		}
		for _, d := range ir.DTypes() {
			if takesFirst(op, d) && !seen[op][d] {
				t.Errorf("%v has no case on %v", op, d)
			}
		}
	}
}

// takesFirst tells whether op accepts operands of type d.
func takesFirst(op ir.Op, d ir.DType) bool {
	x := ir.Type{DType: d, Shape: ir.Static(2, 2)}
	attrs := map[ir.Op]ir.Attr{
		ir.Cast: {DType: ir.F32}, ir.Bitcast: {DType: d}, ir.Reshape: {Shape: ir.Static(4)}, ir.Permute: {Axes: []int{1, 0}},
		ir.Expand: {Shape: ir.Static(2, 2)}, ir.Pad: {Before: ir.Static(0, 0), After: ir.Static(0, 0)},
		ir.Slice:  {Starts: ir.Static(0, 0), Steps: []int{1, 1}, Shape: ir.Static(1, 1)},
		ir.Window: {Axes: []int{0}, Size: 1, Stride: 1, Dilation: 1},
	}
	a, ok := attrs[op]
	if !ok {
		a = ir.Attr{Axes: []int{0}}
	}
	in := slices.Repeat([]ir.Type{x}, map[ir.Class]int{ir.ClassBinary: 2, ir.ClassTernary: 3}[op.Class()])
	if len(in) == 0 {
		in = []ir.Type{x}
	}
	if op == ir.Where {
		in[0].DType = ir.Bool
	}
	return fits(op, a, in...)
}

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
				if element(ir.F32, p, i/4) == 1<<31 {
					p[i+3] = 0
				}
			}
		}))},
		{"the bits of a NaN that is moved", "permute f32", after(output(func(p []byte) {
			for i := 0; i < len(p); i += 4 {
				if v := element(ir.F32, p, i/4); v&(1<<31-1) > 0x7f800000 {
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
		s, err := newSubject(open, device.Options{})
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
	return s.check(context.Background(), c)
}

type succeeded struct{}

func (succeeded) Wait(context.Context) error { return nil }

func TestErrorsOfCases(t *testing.T) {
	for name, c := range map[string]*Case{
		"does not fit": {Name: "x", Build: func(b *Builder) []*ir.Node { return []*ir.Node{b.Add(ir.Neg, ir.Attr{}, b.Input(ir.Bool, Ordinary))} }},
		"fails unasked": {Name: "x", Build: func(b *Builder) []*ir.Node {
			return []*ir.Node{b.Add(ir.IDiv, ir.Attr{}, b.Input(ir.I32, Given(1)), b.Input(ir.I32, Given(0)))}
		}},
		"does not fail": {Name: "x", Fails: anyError, Build: func(b *Builder) []*ir.Node { return []*ir.Node{b.Input(ir.I32, Given(1))} }},
	} {
		if c.prepare() == nil {
			t.Errorf("a case that %s is prepared", name)
		}
	}
	if err := wantIndex(device.IndexError{})(errors.New("no index")); err == nil {
		t.Error("any error is an index error")
	}
}

func TestKnownFailures(t *testing.T) {
	failed := errors.New("failed")
	if verdict(failed, "", false) != failed || verdict(failed, "known", true) != nil || verdict(nil, "known", true) == nil || verdict(nil, "", false) != nil {
		t.Error("a known failure must fail, any other case pass")
	}
}
