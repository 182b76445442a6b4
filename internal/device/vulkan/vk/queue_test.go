package vk_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
)

// wrapped has a driver's functions changed when a device is opened.
func wrapped(a *vk.API, instance func(*vk.InstanceAPI), device func(*vk.DeviceAPI)) *vk.API {
	changed := *a
	changed.Instance = func(id vk.InstanceID) (*vk.InstanceAPI, error) {
		i, err := a.Instance(id)
		if err != nil {
			return nil, err
		}
		if instance != nil {
			instance(i)
		}
		open := i.Device
		i.Device = func(id vk.DeviceID) (*vk.DeviceAPI, error) {
			d, err := open(id)
			if err == nil && device != nil {
				device(d)
			}
			return d, err
		}
		return i, nil
	}
	return &changed
}

// copying is a list that copies a megabyte, from and to memory of its own.
func copying(t *testing.T, d *vk.Device) *vk.Commands {
	t.Helper()
	a, b := alloc(t, d, 1<<20, vk.Local), alloc(t, d, 1<<20, vk.Local)
	c, err := d.Record()
	if err != nil {
		t.Fatal(err)
	}
	closing(t, c)
	if err := errors.Join(c.Copy(a, 0, b, 0, a.Size), c.End()); err != nil {
		t.Fatal(err)
	}
	return c
}

// Three lists and a transfer in each direction go on beside each other as far as
// there are queues.
func TestQueues(t *testing.T) {
	for _, c := range []struct{ has, opened, busy int }{{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}, {16, 8, 5}} {
		f := &vktest.Fake{Queues: uint32(c.has), Megabyte: 20 * time.Millisecond}
		d := fake(t, f)
		lists := []*vk.Commands{copying(t, d), copying(t, d), copying(t, d)}
		m, data, got := alloc(t, d, 1<<20, vk.Local), make([]byte, 1<<20), make([]byte, 1<<20)
		from := alloc(t, d, 1<<20, vk.Local)
		busy := 0
		for range 20 { // the machine may start one late
			f.Rest()
			var wait sync.WaitGroup
			for _, l := range lists {
				wait.Go(func() {
					if err := l.Run(); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Go(func() {
				if err := d.Write(m, 0, data); err != nil {
					t.Error(err)
				}
			})
			wait.Go(func() {
				if err := d.Read(got, from, 0); err != nil {
					t.Error(err)
				}
			})
			wait.Wait()
			if busy = max(busy, f.MostBusy()); busy >= c.busy {
				break
			}
		}
		if busy != c.busy || f.Opened() != c.opened {
			t.Errorf("of %d queues %d were opened, and %d used at once; not %d and %d", c.has, f.Opened(), busy, c.opened, c.busy)
		}
	}
}

// A list takes a queue whose lists have all been waited for, if there is one, also
// behind one that the driver refused.
func TestFreeQueueIsTaken(t *testing.T) {
	f := &vktest.Fake{Queues: 4} // two of them for runs
	var taken []vk.QueueID
	var refuse bool
	d := opened(t, f, wrapped(f.API(), nil, func(a *vk.DeviceAPI) {
		submit := a.QueueSubmit
		a.QueueSubmit = func(q vk.QueueID, n uint32, info *vk.SubmitInfo) vk.Code {
			taken = append(taken, q)
			if refuse {
				return vk.OutOfHostMemory
			}
			return submit(q, n, info)
		}
	}))
	one, two, three := copying(t, d), copying(t, d), copying(t, d)
	err := errors.Join(one.Submit(), two.Submit(), two.Wait(), three.Submit(), one.Wait())
	refuse = true
	if refused := one.Submit(); !errors.Is(refused, vk.OutOfHostMemory) {
		t.Error(refused)
	}
	refuse = false
	err = errors.Join(err, one.Submit(), two.Submit(), one.Wait(), two.Wait(), three.Wait())
	if want := []vk.QueueID{1, 2, 2, 1, 1, 1}; err != nil || !slices.Equal(taken, want) {
		t.Errorf("lists took queues %v, not %v; %v", taken, want, err)
	}
}

// Queues take one call at a time, which the driver of tests looks at, and the
// values of their semaphores grow.
func TestQueuesAreShared(t *testing.T) {
	d := fake(t, &vktest.Fake{Queues: 3})
	var wait sync.WaitGroup
	for range 8 {
		c, m := copying(t, d), alloc(t, d, 1000, vk.Local)
		wait.Go(func() {
			for i := range 50 {
				data, got := bytes.Repeat([]byte{byte(i)}, 1000), make([]byte, 1000)
				if err := errors.Join(c.Run(), d.Write(m, 0, data), d.Read(got, m, 0)); err != nil || !bytes.Equal(got, data) {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}

// What begins while a device is closed is an error, or ends before.
func TestCloseBeside(t *testing.T) {
	for range 10 {
		d := fake(t, &vktest.Fake{Queues: 3, Megabyte: time.Millisecond})
		var wait sync.WaitGroup
		var closed []func() error
		for range 4 {
			a, err := d.Alloc(9<<20, vk.Local)
			if err != nil {
				t.Fatal(err)
			}
			c, err := d.Record()
			if err != nil {
				t.Fatal(err)
			}
			c.Zero(a, 1<<20)
			if err := c.End(); err != nil {
				t.Fatal(err)
			}
			closed = append(closed, c.Close, a.Close)
			data := make([]byte, a.Size)
			wait.Go(func() {
				for {
					if err := errors.Join(c.Run(), d.Write(a, 0, data), d.Read(data, a, 0)); err != nil {
						for _, line := range strings.Split(err.Error(), "\n") {
							if line != vk.ErrClosed.Error() {
								t.Error(err)
							}
						}
						return
					}
				}
			})
		}
		time.Sleep(time.Millisecond)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		wait.Wait()
		for _, c := range closed {
			if err := c(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A device that is lost on one queue is lost on all, whatever the driver says of
// them.
func TestLostOnOneQueue(t *testing.T) {
	f := &vktest.Fake{Queues: 4}
	d := opened(t, f, wrapped(f.API(), nil, func(a *vk.DeviceAPI) {
		var first vk.SemaphoreID
		wait := a.WaitSemaphores
		a.WaitSemaphores = func(d vk.DeviceID, info *vk.SemaphoreWaitInfo, n uint64) vk.Code {
			if first == 0 {
				first = *info.Semaphores
			}
			code := wait(d, info, n)
			if *info.Semaphores == first {
				return vk.DeviceLost
			}
			return code
		}
	}))
	one, two, m := copying(t, d), copying(t, d), alloc(t, d, 16, vk.Local)
	if err := errors.Join(one.Submit(), two.Submit()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"the list", one.Wait}, {"beside it", two.Wait}, {"later", two.Run}, {"again", one.Run},
		{"write", func() error { return d.Write(m, 0, make([]byte, 16)) }}, {"read", func() error { return d.Read(make([]byte, 16), m, 0) }},
	} {
		if err := c.call(); !errors.Is(err, vk.DeviceLost) || !strings.Contains(err.Error(), "the device failed") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A driver that cannot wait for a list has not ended it: what it uses is not given
// back before.
func TestWaitIsRefused(t *testing.T) {
	f := &vktest.Fake{Queues: 2}
	d := opened(t, f, wrapped(f.API(), nil, func(a *vk.DeviceAPI) {
		a.WaitSemaphores = func(vk.DeviceID, *vk.SemaphoreWaitInfo, uint64) vk.Code { return vk.OutOfHostMemory }
	}))
	m := alloc(t, d, 16, vk.Local)
	if err := d.Write(m, 0, make([]byte, 16)); !errors.Is(err, vk.OutOfHostMemory) {
		t.Error(err)
	}
	if err := copying(t, d).Run(); !errors.Is(err, vk.OutOfHostMemory) {
		t.Error(err)
	}
}

// A driver that can wait neither for a list nor for the device is not used any more,
// and what the list uses stays: until the device is given back, if it has ended by
// then.
func TestWaitsAreRefused(t *testing.T) {
	for _, ends := range []bool{true, false} {
		f, fails := &vktest.Fake{Queues: 2, Shared: true}, false
		i, err := wrapped(f.API(), nil, func(a *vk.DeviceAPI) {
			wait, idle := a.WaitSemaphores, a.WaitIdle
			a.WaitSemaphores = func(d vk.DeviceID, info *vk.SemaphoreWaitInfo, n uint64) vk.Code {
				if fails {
					return vk.OutOfHostMemory
				}
				return wait(d, info, n)
			}
			a.WaitIdle = func(d vk.DeviceID) vk.Code {
				if fails {
					return vk.OutOfHostMemory
				}
				return idle(d)
			}
		}).NewInstance(vk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := i.Physicals()
		if err != nil {
			t.Fatal(err)
		}
		d, err := all[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Alloc(1<<10, vk.Local)
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.Record()
		if err != nil {
			t.Fatal(err)
		}
		c.Zero(m, m.Size)
		if err := c.End(); err != nil {
			t.Fatal(err)
		}
		fails = true
		if err := c.Run(); !errors.Is(err, vk.OutOfHostMemory) || !errors.Is(err, vk.DeviceLost) || !strings.Contains(err.Error(), "the device failed") {
			t.Errorf("waiting: %v", err)
		}
		if err := c.Run(); !errors.Is(err, vk.DeviceLost) {
			t.Errorf("again: %v", err)
		}
		address := m.Address
		if err := errors.Join(c.Close(), m.Close()); err != nil {
			t.Error(err)
		}
		if m, err = d.Alloc(1<<10, vk.Local); err != nil || m.Address == address {
			t.Errorf("memory that may be written is given to another: %v", err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		fails = !ends
		if err := d.Close(); (err == nil) != ends {
			t.Error(err)
		}
		if ends {
			i.Close()
		}
		if left := f.Live(); (len(left) == 0) != ends {
			t.Errorf("afterwards there are %v", left)
		}
	}
}

// refusing is a driver that refuses one semaphore, 0: all.
func refusing(which int) func(*vk.DeviceAPI) {
	made := 0
	return func(a *vk.DeviceAPI) {
		plain := a.CreateSemaphore
		a.CreateSemaphore = func(d vk.DeviceID, info *vk.SemaphoreCreateInfo, out *vk.SemaphoreID) vk.Code {
			if made++; made == which || which == 0 {
				return vk.OutOfDeviceMemory
			}
			return plain(d, info, out)
		}
	}
}

// oneQueue is a driver that has no room for more, though it tells of them.
func oneQueue(i *vk.InstanceAPI) {
	plain := i.CreateDevice
	i.CreateDevice = func(p vk.PhysicalID, info *vk.DeviceCreateInfo, out *vk.DeviceID) vk.Code {
		if info.Queues.Count > 1 {
			return vk.InitializationFailed
		}
		return plain(p, info, out)
	}
}

// noQueue is a driver with a family of none.
func noQueue(i *vk.InstanceAPI) {
	plain := i.GetQueueFamilies
	i.GetQueueFamilies = func(p vk.PhysicalID, count *uint32, out *vk.QueueFamily) {
		if plain(p, count, out); out != nil {
			out.Count = 0
		}
	}
}

// A device without room for many queues is opened with one; what fails then too is
// an error, and nothing of it stays.
func TestOpening(t *testing.T) {
	for _, c := range []struct {
		name     string
		instance func(*vk.InstanceAPI)
		device   func(*vk.DeviceAPI)
		queues   int
		wants    string
	}{
		{"all", nil, nil, 4, ""},
		{"few", oneQueue, nil, 1, ""},
		{"a semaphore refused", nil, refusing(3), 1, ""},
		{"all semaphores refused", nil, refusing(0), 0, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
		{"none", noQueue, nil, 0, "has no queue that computes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &vktest.Fake{Queues: 4}
			i, err := wrapped(f.API(), c.instance, c.device).NewInstance(vk.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				i.Close()
				if live := f.Live(); len(live) > 0 {
					t.Errorf("not given back: %v", live)
				}
			})
			all, err := i.Physicals()
			var d *vk.Device
			if err == nil {
				d, err = all[0].Open()
			}
			switch {
			case c.wants != "":
				if err == nil || !strings.Contains(err.Error(), c.wants) {
					t.Error(err)
				}
			case err != nil || f.Opened() != c.queues:
				t.Errorf("%d queues, %v", f.Opened(), err)
			default:
				if err := errors.Join(d.Zero(alloc(t, d, 1000, vk.Local), 1000), d.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Large transfers go through two stages in turn, small ones by memory of their own:
// sizes around those of both come back as they went.
func TestStages(t *testing.T) {
	d := fake(t, &vktest.Fake{Queues: 4})
	r := rand.New(rand.NewPCG(4, 5))
	const stage, small = 8 << 20, 512 << 10
	for _, n := range []int{1, small, small + 1, stage - 1, stage, stage + 1, 3*stage + 5} {
		m := alloc(t, d, n+3, vk.Local)
		data, got := make([]byte, n), make([]byte, n)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if err := errors.Join(d.Write(m, 3, data), d.Read(got, m, 3)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A transfer that fails in its middle has waited for what it began.
func TestTransferFails(t *testing.T) {
	var refused atomic.Bool
	f := &vktest.Fake{Queues: 4}
	d := opened(t, f, wrapped(f.API(), nil, func(a *vk.DeviceAPI) {
		submit, n := a.QueueSubmit, 0
		a.QueueSubmit = func(q vk.QueueID, count uint32, info *vk.SubmitInfo) vk.Code {
			if n++; n == 2 {
				refused.Store(true)
				return vk.OutOfHostMemory
			}
			return submit(q, count, info)
		}
	}))
	m := alloc(t, d, 9<<20, vk.Local)
	if err := d.Write(m, 0, make([]byte, m.Size)); !errors.Is(err, vk.OutOfHostMemory) || !refused.Load() {
		t.Error(err)
	}
	if err := d.Write(m, 0, make([]byte, m.Size)); err != nil {
		t.Error(err)
	}
}

// A small transfer waits for what the device does of a large one, not for all of it.
func TestSmallBesideLarge(t *testing.T) {
	f := &vktest.Fake{Queues: 2, Megabyte: 5 * time.Millisecond}
	d := fake(t, f)
	large, small := alloc(t, d, 96<<20, vk.Local), alloc(t, d, 1000, vk.Local)
	var ended atomic.Bool
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := d.Write(large, 0, make([]byte, large.Size)); err != nil {
			t.Error(err)
		}
		ended.Store(true)
	})
	for f.Submitted() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := errors.Join(d.Write(small, 0, make([]byte, 1000)), d.Read(make([]byte, 1000), small, 0)); err != nil || ended.Load() {
		t.Errorf("the large one has ended: %v; %v", ended.Load(), err)
	}
	wait.Wait()
}
