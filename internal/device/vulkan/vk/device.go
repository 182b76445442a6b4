package vk

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Device is a device that was opened. It may be used from many goroutines, and does
// what they submit beside each other as far as it has queues.
type Device struct {
	Physical *Physical

	api    *DeviceAPI
	id     DeviceID
	closed atomic.Bool
	lost   atomic.Bool
	left   left
	refs   atomic.Int64 // one for the owner, one for each thing that was made with it

	kinds  [memoryKinds]uint32 // types of memory
	memory [memoryKinds]pool

	recording sync.Mutex // the pool of command buffers
	pool      PoolID

	queues   queues
	up, down stages
}

// ErrClosed is returned by what was closed before it was used.
var ErrClosed = errors.New("vulkan: closed")

// Open opens a device with all that programs may use switched on.
func (p *Physical) Open() (*Device, error) {
	defer dynlib.KeepSignals()()
	var pin runtime.Pinner
	defer pin.Unpin()
	f := hold(&pin, p.features)
	f.core.Next, f.v11.Next = unsafe.Pointer(&f.v11), unsafe.Pointer(&f.v12)
	if p.API >= Version13 {
		f.v12.Next = unsafe.Pointer(&f.v13)
	}
	create := func(queues uint32) (*Device, error) { return p.create(&pin, unsafe.Pointer(&f.core), queues) }
	d, err := create(p.queues)
	if err != nil && p.queues > 1 { // the others may be in use
		d, err = create(1)
	}
	return d, err
}

// create opens the device with so many queues.
func (p *Physical) create(pin *runtime.Pinner, features unsafe.Pointer, queues uint32) (*Device, error) {
	var extensions []string
	if p.Has(portabilitySubset) {
		extensions = append(extensions, portabilitySubset) // must be, where it is there
	}
	priorities := slices.Repeat([]float32{1}, int(queues))
	pin.Pin(&priorities[0])
	info := hold(pin, DeviceCreateInfo{
		Header: Header{Type: typeDeviceCreateInfo, Next: features}, QueueCount: 1,
		Queues: hold(pin, DeviceQueueCreateInfo{
			Header: Header{Type: typeDeviceQueueCreateInfo}, Family: p.family, Count: queues, Priorities: &priorities[0],
		}),
		ExtensionCount: uint32(len(extensions)), Extensions: texts(pin, extensions),
	})
	id := new(DeviceID)
	if err := check(p.instance.api.CreateDevice(p.ID, info, id), "vkCreateDevice on "+p.Name); err != nil {
		return nil, err
	}
	api, err := p.instance.api.Device(*id)
	if err != nil {
		return nil, err
	}
	d := &Device{Physical: p, api: api, id: *id}
	d.refs.Store(1)
	if err := d.prepare(queues); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// prepare makes what a device has from the beginning.
func (d *Device) prepare(queues uint32) error {
	if err := d.openQueues(queues); err != nil {
		return err
	}
	const resetOne = 2
	pool := new(PoolID)
	if err := check(d.api.CreatePool(d.id, &CommandPoolCreateInfo{Header: Header{Type: typeCommandPoolCreateInfo}, Flags: resetOne, Family: d.Physical.family}, pool), "vkCreateCommandPool"); err != nil {
		return err
	}
	d.pool = *pool
	return d.findMemory()
}

// retain keeps the device until release; it is false where that is closed.
func (d *Device) retain() bool {
	for {
		n := d.refs.Load()
		if n == 0 || d.closed.Load() {
			return false
		}
		if d.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release ends the device with the last that uses it, but not what may go on there.
func (d *Device) release() error {
	if d.refs.Add(-1) > 0 {
		return nil
	}
	if err := d.settle(); err != nil {
		return err
	}
	for i := range d.memory {
		d.memory[i].close()
	}
	for _, q := range d.queues.all {
		d.api.DestroySemaphore(d.id, q.semaphore)
	}
	if d.pool != 0 {
		d.api.DestroyPool(d.id, d.pool)
	}
	d.api.DestroyDevice(d.id)
	return nil
}

// Close waits for what runs, and ends the device once all that was made with it
// is closed too.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return ErrClosed
	}
	err := d.idle()
	return errors.Join(err, d.up.close(), d.down.close(), d.release())
}
