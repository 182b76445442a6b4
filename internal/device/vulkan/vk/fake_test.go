package vk_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
)

// fake opens the device of a driver that fails as told, and says at the end what
// was not given back.
func fake(t testing.TB, f *vktest.Fake) *vk.Device {
	t.Helper()
	return opened(t, f, f.API())
}

// opened is fake with functions of the driver that a test has changed.
func opened(t testing.TB, f *vktest.Fake, a *vk.API) *vk.Device {
	t.Helper()
	i, err := a.NewInstance(vk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := i.Physicals()
	if err != nil || len(all) != 1 {
		t.Fatalf("%d devices, %v", len(all), err)
	}
	d, err := all[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Close() // a lost device cannot be waited for
		i.Close()
		if live := f.Live(); len(live) > 0 {
			t.Errorf("not given back: %v", live)
		}
	})
	return d
}

func TestNoDevices(t *testing.T) {
	i, err := (&vktest.Fake{NoDevices: true}).API().NewInstance(vk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := i.Physicals(); len(all) != 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
}

func TestOldLoader(t *testing.T) {
	for version, want := range map[uint32]string{1<<22 | 1<<12: "1.1.0", 0: "1.0.0"} {
		a := (&vktest.Fake{Version: version}).API()
		if version == 0 {
			a.EnumerateInstanceVersion = nil
		}
		if _, err := a.NewInstance(vk.Options{}); err == nil || !strings.Contains(err.Error(), want+", which is below 1.2") {
			t.Error(err)
		}
	}
}

func TestNoLayer(t *testing.T) {
	f := &vktest.Fake{}
	if _, err := f.API().NewInstance(vk.Options{Messages: func(string) {}}); !errors.Is(err, vk.ErrNoLayer) || len(f.Live()) > 0 {
		t.Error(err)
	}
}

// TestManyDevices has a driver that tells nonsense: nothing is allocated for it.
func TestManyDevices(t *testing.T) {
	a := (&vktest.Fake{}).API()
	plain := a.Instance
	a.Instance = func(id vk.InstanceID) (*vk.InstanceAPI, error) {
		i, err := plain(id)
		i.EnumeratePhysicalDevices = func(_ vk.InstanceID, count *uint32, _ *vk.PhysicalID) vk.Code {
			*count = 1 << 31
			return vk.Success
		}
		return i, err
	}
	i, err := a.NewInstance(vk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Physicals(); err == nil || !strings.Contains(err.Error(), "the driver tells of 2147483648") {
		t.Error(err)
	}
}

func TestRefusedMemory(t *testing.T) {
	d := fake(t, &vktest.Fake{Refuse: func(n int) bool { return n > 8<<20 }})
	m, err := d.Alloc(8<<20, vk.Local)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{8<<20 + 1, 1 << 40} {
		_, err := d.Alloc(n, vk.Local)
		var size *vk.SizeError
		if !errors.As(err, &size) || size.Size < n || !size.OutOfMemory() || !strings.Contains(err.Error(), "Fake GPU") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestRefusedProgram(t *testing.T) {
	d := fake(t, &vktest.Fake{BuildFails: vk.InvalidShader})
	// A head with one entry point, k0_sum, and no more.
	code := []uint32{0x07230203, 0x10300, 0, 9, 0, 5<<16 | 15, 5, 1, 0x735f306b, 0x00006d75}
	_, err := d.Build([][]uint32{code}, 8)
	if !errors.Is(err, vk.InvalidShader) || !strings.Contains(err.Error(), "the compiler for Fake GPU refuses a program, at k0_sum") {
		t.Error(err)
	}
}

// TestLost loses the device in the middle of a run: what is waited for fails,
// all that follows too, and everything can still be closed.
func TestLost(t *testing.T) {
	d := fake(t, &vktest.Fake{LoseAfter: 2})
	m, err := d.Alloc(16, vk.Local)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Record()
	if err != nil {
		t.Fatal(err)
	}
	c.Zero(m, m.Size)
	if err := errors.Join(c.End(), c.Run()); err != nil {
		t.Fatal(err)
	}
	if err := c.Submit(); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"wait": c.Wait(), "read": d.Read(make([]byte, 16), m, 0), "write": d.Write(m, 0, make([]byte, 16)), "run": c.Run()} {
		if !errors.Is(err, vk.DeviceLost) || !strings.Contains(err.Error(), "the device failed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(c.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}

// TestPool shares blocks at random: no two have a byte in common, and all of a
// block is one piece again in the end.
func TestPool(t *testing.T) {
	d := fake(t, &vktest.Fake{Shared: true})
	r := rand.New(rand.NewPCG(1, 2))
	var held []*vk.Memory
	for range 4000 {
		if len(held) > 0 && r.IntN(5) < 2 {
			i := r.IntN(len(held))
			if err := held[i].Close(); err != nil {
				t.Fatal(err)
			}
			held = slices.Delete(held, i, i+1)
			continue
		}
		m, err := d.Alloc(1+r.IntN(1<<r.IntN(20)), vk.Local)
		if err != nil {
			t.Fatal(err)
		}
		if m.Address%256 != 0 || len(m.Host) != m.Size {
			t.Fatalf("%d bytes at %#x, %d on the host", m.Size, m.Address, len(m.Host))
		}
		held = append(held, m)
	}
	slices.SortFunc(held, func(a, b *vk.Memory) int { return int(int64(a.Address) - int64(b.Address)) })
	for i, m := range held[1:] {
		if before := held[i]; before.Address+uint64(before.Size) > m.Address {
			t.Errorf("%d bytes at %#x reach into %#x", before.Size, before.Address, m.Address)
		}
	}
	for _, m := range held {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	whole, err := d.Alloc(512<<10, vk.Local)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Address&(1<<40-1) != 0 {
		t.Errorf("a block in pieces: the first free byte is at %#x", whole.Address)
	}
	if err := whole.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkRun is what running a list costs on the host, with a driver that does
// nothing.
func BenchmarkRun(b *testing.B) {
	d := fake(b, &vktest.Fake{Quick: true, Queues: 8})
	c, err := d.Record()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.End(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
}
