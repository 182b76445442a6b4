package vk_test

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/effort"
)

// instance opens the drivers under the validation layer; whatever that finds
// wrong fails the test.
func instance(t testing.TB) *vk.Instance {
	t.Helper()
	return instanceOf(t, func(a *vk.API) *vk.API { return a })
}

func instanceOf(t testing.TB, change func(*vk.API) *vk.API) *vk.Instance {
	t.Helper()
	api, err := vk.Load()
	if err != nil {
		effort.Missing(t, err)
	}
	api = change(api)
	i, err := api.NewInstance(vk.Options{Messages: func(text string) { t.Error(text) }})
	if errors.Is(err, vk.ErrNoLayer) || errors.Is(err, vk.IncompatibleDriver) { // which a loader without drivers says
		effort.Missing(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

// device opens the first device that has what the tests need.
func device(t testing.TB) *vk.Device {
	t.Helper()
	return deviceOf(t, instance(t))
}

// everyDevice runs a test on a device as it is, and as one of eight queues, which
// all are its first: software has no more.
func everyDevice(t *testing.T, test func(t *testing.T, d *vk.Device)) {
	t.Run("as it is", func(t *testing.T) { test(t, device(t)) })
	t.Run("eight queues", func(t *testing.T) { test(t, deviceOf(t, instanceOf(t, eightQueues))) })
}

// eightQueues has a driver tell of eight queues in each family. It is asked for one,
// and called by one at a time.
func eightQueues(a *vk.API) *vk.API {
	var one sync.Mutex
	return wrapped(a, func(i *vk.InstanceAPI) {
		families, create := i.GetQueueFamilies, i.CreateDevice
		i.GetQueueFamilies = func(p vk.PhysicalID, count *uint32, out *vk.QueueFamily) {
			if families(p, count, out); out == nil {
				return
			}
			for j := range *count {
				unsafe.Slice(out, *count)[j].Count = 8
			}
		}
		i.CreateDevice = func(p vk.PhysicalID, info *vk.DeviceCreateInfo, out *vk.DeviceID) vk.Code {
			info.Queues.Count = 1
			return create(p, info, out)
		}
	}, func(d *vk.DeviceAPI) {
		get, submit, idle := d.GetQueue, d.QueueSubmit, d.WaitIdle
		d.GetQueue = func(d vk.DeviceID, family, _ uint32, out *vk.QueueID) { get(d, family, 0, out) }
		d.QueueSubmit = func(q vk.QueueID, n uint32, info *vk.SubmitInfo) vk.Code {
			one.Lock()
			defer one.Unlock()
			return submit(q, n, info)
		}
		d.WaitIdle = func(d vk.DeviceID) vk.Code {
			one.Lock()
			defer one.Unlock()
			return idle(d)
		}
	})
}

func deviceOf(t testing.TB, i *vk.Instance) *vk.Device {
	t.Helper()
	all, err := i.Physicals()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if !p.Address || !p.Timeline || !p.Int64 {
			continue
		}
		d, err := p.Open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		return d
	}
	effort.Missing(t, errors.New("Vulkan's drivers find no device"))
	return nil
}

// closing closes at the end of the test, and says what cannot be.
func closing(t testing.TB, c interface{ Close() error }) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("%T: %v", c, err)
		}
	})
}

// assemble gives the words of a module that is kept as text.
func assemble(t testing.TB, file string) []uint32 {
	t.Helper()
	if _, err := exec.LookPath("spirv-as"); err != nil {
		effort.Missing(t, err)
	}
	out := filepath.Join(t.TempDir(), "module.spv")
	if text, err := exec.Command("spirv-as", "--target-env", "vulkan1.2", file, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint32, len(b)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return words
}

func alloc(t testing.TB, d *vk.Device, n int, k vk.MemoryKind) *vk.Memory {
	t.Helper()
	m, err := d.Alloc(n, k)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, m)
	return m
}

func floats(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func TestPhysicals(t *testing.T) {
	all, err := instance(t).Physicals()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		effort.Missing(t, errors.New("Vulkan's drivers find no device"))
	}
	for _, p := range all {
		t.Logf("%s, %s, driver %s, UUID %s, PCI %q, %d MiB, %+v", p.Name, p.Vendor, p.Driver, p.UUID, p.PCI, p.Memory>>20, p.F32)
		if p.Name == "" || p.Vendor == "" || p.Driver == "" || p.Memory == 0 || p.Shared < 16<<10 || p.MaxGroup < 128 || p.Groups[0] < 65535 || p.Push < 128 {
			t.Errorf("a device does not say what it is: %+v", p)
		}
		if p.UUID == "" || p.MaxAlloc == 0 || p.Subgroup == 0 {
			t.Errorf("structures of versions after 1.0 are not filled in: %+v", p)
		}
		if strings.Contains(p.Name, "llvmpipe") && !(p.Software() && p.Unified && p.Address && p.Int64 && p.F64.Supported) {
			t.Errorf("llvmpipe is not as it is known: %+v", p)
		}
	}
}

// TestRun records two steps of which the second needs the first, and runs them
// again with other arguments.
func TestRun(t *testing.T) { everyDevice(t, testRun) }

func testRun(t *testing.T, d *vk.Device) {
	const n = 1000
	x, y, args := alloc(t, d, 4*n, vk.Local), alloc(t, d, 4*n, vk.Local), alloc(t, d, 24, vk.Arguments)
	in := make([]float32, n)
	for i := range in {
		in[i] = float32(i)
	}
	if err := errors.Join(d.Write(x, 0, floats(in...)), d.Zero(y, y.Size)); err != nil {
		t.Fatal(err)
	}
	p, err := d.Build([][]uint32{assemble(t, "testdata/axpy.spvasm")}, 8)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, p)
	c, err := d.Record()
	if err != nil {
		t.Fatal(err)
	}
	closing(t, c)
	push := binary.LittleEndian.AppendUint64(nil, args.Address)
	err = c.Dispatch(p, "axpy", push, (n+63)/64)
	c.Barrier()
	if err = errors.Join(err, c.Dispatch(p, "axpy", push, (n+63)/64), c.End()); err != nil {
		t.Fatal(err)
	}
	want := make([]float32, n)
	for _, a := range []float32{3, 0.5} {
		binary.LittleEndian.PutUint64(args.Host, x.Address)
		binary.LittleEndian.PutUint64(args.Host[8:], y.Address)
		copy(args.Host[16:], floats(a))
		binary.LittleEndian.PutUint32(args.Host[20:], n)
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 4*n)
		if err := d.Read(got, y, 0); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i] += 2 * a * in[i]
		}
		if string(got) != string(floats(want...)) {
			t.Fatalf("a = %v: %v", a, got[:64])
		}
	}
	if err := c.Dispatch(p, "none", nil, 1); err == nil || !strings.Contains(err.Error(), "no entry point none") {
		t.Errorf("%v", err)
	}
	if err := c.Dispatch(p, "axpy", nil, 0); err == nil {
		t.Error("no groups were taken")
	}
}

// TestTransfers copies through the stage too, which memory that the host
// reaches does not need.
func TestTransfers(t *testing.T) { everyDevice(t, testTransfers) }

func testTransfers(t *testing.T, d *vk.Device) {
	for _, staged := range []bool{false, true} {
		const n = 40 << 20 // five parts, by two stages in turn
		big, part := alloc(t, d, n, vk.Local), alloc(t, d, 4096, vk.Local)
		if staged {
			big.Host, part.Host = nil, nil
		}
		src := make([]byte, n-3)
		for i := range src {
			src[i] = byte(i * 7)
		}
		err := errors.Join(d.Zero(big, big.Size), d.Zero(part, part.Size), d.Write(big, 1, src), d.Write(part, 5, []byte("sinter")), d.Copy(big, n/2, part, 5, 6))
		if err != nil {
			t.Fatal(err)
		}
		copy(src[n/2-1:], "sinter")
		got := make([]byte, n)
		if err := d.Read(got, big, 0); err != nil || string(got[1:n-2]) != string(src) || got[0] != 0 || got[n-1] != 0 {
			t.Errorf("staged %v: %v", staged, err)
		}
		for _, err := range []error{d.Read(got, part, 4096-12), d.Write(part, -1, got), d.Copy(big, 0, part, 4090, 7), d.Copy(big, math.MaxInt, part, 0, 7)} {
			if err == nil || !strings.Contains(err.Error(), "outside the buffer") {
				t.Errorf("outside a buffer: %v", err)
			}
		}
	}
}

// TestTogether submits from many goroutines.
func TestTogether(t *testing.T) { everyDevice(t, testTogether) }

func testTogether(t *testing.T, d *vk.Device) {
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 20 {
				m, err := d.Alloc(1000+g*100_000, vk.Local)
				if err != nil {
					t.Error(err)
					return
				}
				m.Host = nil
				text := strings.Repeat(string(rune('a'+g)), 100+i)
				got := make([]byte, len(text))
				if err := errors.Join(d.Write(m, i, []byte(text)), d.Read(got, m, i), m.Close()); err != nil || string(got) != text {
					t.Errorf("%q: %v", got, err)
				}
			}
		})
	}
	wait.Wait()
}

func TestErrors(t *testing.T) {
	d := device(t)
	for _, code := range [][]uint32{nil, {1}, {0x07230203, 0x10300, 0, 1, 0, 0}, {0x07230203, 0x10300, 0, 1, 0, 9<<16 | 15}} {
		if _, err := d.Build([][]uint32{code}, 8); err == nil || !strings.Contains(err.Error(), "no SPIR-V") {
			t.Errorf("%x was taken: %v", code, err)
		}
	}
	code := assemble(t, "testdata/axpy.spvasm")
	if _, err := d.Build([][]uint32{code}, 1<<20); err == nil || !strings.Contains(err.Error(), "push constants") {
		t.Errorf("%v", err)
	}
	d.Physical.Int64 = false
	if _, err := d.Build([][]uint32{code}, 8); err == nil || !strings.Contains(err.Error(), "has no 64-bit integers, which the program needs") {
		t.Errorf("%v", err)
	}
	var size *vk.SizeError
	if _, err := d.Alloc(math.MaxInt/2, vk.Local); !errors.As(err, &size) || !size.OutOfMemory() || !strings.Contains(err.Error(), "is the limit") {
		t.Errorf("a buffer beyond all memory: %v", err)
	}
	if _, err := d.Alloc(0, vk.Local); err == nil {
		t.Error("an empty buffer")
	}
	m, err := d.Alloc(1, vk.Local)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := m.Close(); !errors.Is(err, vk.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

// TestMessages has the layer find something wrong: the tests above would see it.
func TestMessages(t *testing.T) {
	api, err := vk.Load()
	if err != nil {
		effort.Missing(t, err)
	}
	var messages []string
	i, err := api.NewInstance(vk.Options{Messages: func(text string) { messages = append(messages, text) }})
	if errors.Is(err, vk.ErrNoLayer) || errors.Is(err, vk.IncompatibleDriver) { // which a loader without drivers says
		effort.Missing(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	all, err := i.Physicals()
	if err != nil || len(all) == 0 {
		effort.Missing(t, errors.New("Vulkan's drivers find no device"))
	}
	d, err := all[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	closing(t, d)
	a, b := alloc(t, d, 4096, vk.Local), alloc(t, d, 4096, vk.Local)
	err = func() error {
		c, err := d.Record()
		if err != nil {
			return err
		}
		defer c.Close()
		// Two copies to one place without a barrier.
		return errors.Join(c.Copy(a, 0, b, 0, 64), c.Copy(a, 0, b, 64, 64), c.End(), c.Run())
	}()
	if err != nil {
		t.Fatal(err)
	}
	if len(messages) == 0 || !strings.Contains(messages[0], "SYNC-HAZARD-WRITE-AFTER-WRITE") {
		t.Errorf("the layer found %q", messages)
	}
}
