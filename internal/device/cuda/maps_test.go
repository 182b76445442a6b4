package cuda

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/ir"
)

// bf16s is memory of a device with so many numbers, all of them n.
func bf16s(t *testing.T, d *launch.Device, count int, n float64) device.Buffer {
	t.Helper()
	bits, _ := ir.Bits(ir.BF16, n)
	data := bytes.Repeat(binary.LittleEndian.AppendUint16(nil, uint16(bits)), count)
	b, err := d.Alloc(len(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Copy(t.Context(), b, compile.HostBytes(data)); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGroupMaps: a tensor map is made when an operand's memory or sizes are other
// ones than in the run before, and only then; runs have the maps of their memory.
func TestGroupMaps(t *testing.T) {
	f := &cutest.Fake{Capability: 90}
	d, g := opened(t, f)
	m, err := d.CompileGraph(t.Context(), g, device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := []device.Buffer{bf16s(t, d, 256*160, 1), bf16s(t, d, 256*160, 2), bf16s(t, d, 70*160, 3)}
	y := []device.Buffer{bf16s(t, d, 160*160, 1), bf16s(t, d, 160*160, 0.5)}
	out := map[int]device.Buffer{70: bf16s(t, d, 70*160, 0), 256: bf16s(t, d, 256*160, 0)}
	for i, run := range []struct {
		rows, x, y int
		made       int
		want       float64
	}{
		{256, 0, 0, 2, 160}, {256, 0, 0, 0, 160}, {256, 1, 0, 1, 320}, {256, 1, 1, 1, 160}, {256, 0, 0, 2, 160},
		{70, 2, 1, 2, 240}, {70, 2, 1, 0, 240}, {256, 0, 0, 0, 160}, {70, 2, 0, 1, 480},
	} {
		before := f.Encoded()
		e, err := d.Submit(t.Context(), &device.Bound{Module: m, Env: ir.Env{"n": run.rows}, Leaves: []device.Buffer{x[run.x], y[run.y]}, Outputs: []device.Buffer{out[run.rows]}})
		if err == nil {
			err = e.Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, run.rows*160*2)
		if err := d.Copy(t.Context(), compile.HostBytes(got), out[run.rows]); err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(got); at += 2 {
			if v := ir.Float(ir.BF16, uint64(binary.LittleEndian.Uint16(got[at:]))); v != run.want {
				t.Fatalf("run %d: element %d is %v, not %v", i, at/2, v, run.want)
			}
		}
		if made := f.Encoded() - before; made != run.made {
			t.Errorf("run %d made %d maps, not %d", i, made, run.made)
		}
	}
	for _, b := range append(append(x, y...), out[70], out[256]) {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
