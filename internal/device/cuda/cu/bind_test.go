//go:build (linux || darwin) && (amd64 || arm64)

package cu_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
)

// TestBind calls every function of a library in C, which checks what it is
// given.
func TestBind(t *testing.T) {
	api, err := cu.BindFile(filepath.Join(cutest.Library(t, "WORKS"), "libcuda.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := api.Devices()
	if err != nil || len(all) != 1 {
		t.Fatalf("%d devices: %v", len(all), err)
	}
	d := all[0]
	if d.Name != "Library GPU 0" || d.Capability() != 89 || d.UUID != "01000000-0000-0000-0000-000000000000" || d.Memory != 1<<33 || d.SharedMost != 99<<10 {
		t.Errorf("%+v", *d)
	}
	for _, pools := range []bool{true, false} {
		d.Pools = pools
		c, err := api.NewContext(d)
		must(t, c, err)
		callAll(t, c, pools)
	}
}

func callAll(t *testing.T, c *cu.Context, pools bool) {
	s, m := stream(t, c), memory(t, c, 4000)
	program, err := c.Load("fine")
	must(t, program, err)
	k, err := program.Function("fill")
	if err != nil {
		t.Fatal(err)
	}
	if k.Registers != 40 || k.Local != 30 || k.Shared != 10 || k.MaxGroup != 256 {
		t.Errorf("%+v", k)
	}
	bindMap(t, c, k)
	const dynamic = 60 << 10
	launch := func(n, value uint64, shared int) *cu.Launch {
		l, err := cu.NewLaunch(k, 4, 256, shared, 3)
		if err != nil {
			t.Fatal(err)
		}
		l.Set(0, uint64(m.Pointer))
		l.Set(1, n)
		l.Set(2, value)
		return l
	}
	words := func(at int) uint32 {
		b := make([]byte, 4)
		if err := s.Read(b, m, 4*at); err != nil {
			t.Fatal(err)
		}
		return binary.LittleEndian.Uint32(b)
	}
	if err := errors.Join(s.Start(launch(1000, 7, 0)), s.Wait()); err != nil {
		t.Fatal(err)
	}
	if words(0) != 7 || words(999) != 7 {
		t.Errorf("filled with %d and %d", words(0), words(999))
	}
	launches := []*cu.Launch{launch(1000, 1, 0), launch(500, 2, dynamic)}
	g, err := c.NewGraph(launches)
	must(t, g, err)
	if err := g.Run(s, nil); err != nil {
		t.Fatal(err)
	}
	if words(499) != 2+dynamic || words(500) != 1 {
		t.Errorf("the graph filled with %d and %d", words(499), words(500))
	}
	launches[0].Set(2, 11)
	if err := errors.Join(g.Update(0), g.Run(s, nil)); err != nil {
		t.Fatal(err)
	}
	if words(499) != 2+dynamic || words(500) != 11 {
		t.Errorf("the updated graph filled with %d and %d", words(499), words(500))
	}
	took := make([]time.Duration, 2)
	launches[0].Set(2, 13)
	if begun, err := s.RunTimed(launches, took); !begun || err != nil || took[0].Microseconds() != 2500 || took[1] != took[0] {
		t.Errorf("begun: %v, %v, %v", begun, took, err)
	}
	if words(499) != 2+dynamic || words(500) != 13 {
		t.Errorf("the timed graph filled with %d and %d", words(499), words(500))
	}
	bindTransfers(t, c, s)
	if free, err := c.Free(); free != 1 || err != nil {
		t.Error(free, err)
	}
	if want := map[bool]int64{true: 700}[pools]; c.Cached() != want || c.Trim() != nil {
		t.Errorf("cached: %d", c.Cached())
	}
	if err := errors.Join(c.SetLimit(1<<20), c.SetLimit(0)); err != nil {
		t.Error(err)
	}
	code, err := c.Compile("fine")
	if string(code) != "\x7fELFfine\x00" || err != nil {
		t.Errorf("%q, %v", code, err)
	}
	restored, err := c.LoadCode(code)
	must(t, restored, err)
	if _, err := c.Compile("nonsense"); !errors.Is(err, cu.InvalidPTX) {
		t.Error(err)
	}
	if _, err := c.LoadCode([]byte("fine")); err == nil {
		t.Error("a text is code")
	}
	if _, err := c.Load("nonsense"); err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_INVALID_PTX\nline 1: nonsense") {
		t.Error(err)
	}
}

func bindTransfers(t *testing.T, c *cu.Context, s *cu.Stream) {
	data, got := bytes.Repeat([]byte("sinter"), 1<<20), make([]byte, 6<<20)
	a, b := memory(t, c, len(data)), memory(t, c, len(data))
	if err := errors.Join(s.Write(a, 0, data), s.Copy(b, 0, a, 0, len(data)), s.Zero(b, 0, 3), s.Read(got, b, 0)); err != nil {
		t.Fatal(err)
	}
	clear(data[:3])
	if !bytes.Equal(got, data) {
		t.Error("not what was written")
	}
	start, err := c.NewEvent(true)
	must(t, start, err)
	end, err := c.NewEvent(false)
	must(t, end, err)
	if err := errors.Join(s.Record(start), s.Record(end), s.WaitFor(end), end.Wait()); err != nil {
		t.Fatal(err)
	}
	if took, err := end.Since(start); took.Microseconds() != 2500 || err != nil {
		t.Error(took, err)
	}
	if done, err := end.Done(); done || err != nil {
		t.Error(done, err)
	}
}

// bindMap has a map made and given to a kernel, of which it is the second argument.
func bindMap(t *testing.T, c *cu.Context, k *cu.Function) {
	m, err := c.NewTensorMap(0x7000, 2, []int{100, 101, 102}, []int{208, 208 * 101}, []int{10, 11, 12})
	if err != nil || m[0] != 0x0707070707070707 || m[15] != m[0] {
		t.Errorf("%x, %v", m, err)
	}
	if _, err := c.NewTensorMap(0x7001, 2, []int{100, 101, 102}, []int{208, 208 * 101}, []int{10, 11, 12}); !errors.Is(err, cu.InvalidValue) {
		t.Error(err)
	}
	l, err := cu.NewLaunch(k, 1, 1, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	if l.SetMap(1, &cu.TensorMap{}) || !l.SetMap(1, m) || l.SetMap(1, m) {
		t.Error("what is another map?")
	}
}

// TestNoMaps has one without a function that is not needed.
func TestNoMaps(t *testing.T) {
	api, err := cu.BindFile(filepath.Join(cutest.Library(t, "NO_MAPS"), "libcuda.so.1"))
	if err != nil || api.TensorMapEncodeTiled != nil || api.GraphAddEventRecordNode != nil {
		t.Error(api, err)
	}
}

// TestOld has a driver without one of the functions.
func TestOld(t *testing.T) {
	_, err := cu.BindFile(filepath.Join(cutest.Library(t, "OLD"), "libcuda.so.1"))
	if err == nil || !strings.Contains(err.Error(), "no function cuGraphInstantiateWithFlags") {
		t.Error(err)
	}
}
