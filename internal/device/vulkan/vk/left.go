package vk

import "sync"

// left is what is to be given back of a device that does not say whether what it
// runs has ended: it may still use that.
type left struct {
	mu       sync.Mutex
	unwaited bool
	all      []func()
}

// unwaited notes that nobody knows when what was submitted has ended, and is the
// error that says so: the device is not used any more. One that is lost has ended
// it.
func (d *Device) unwaited() error {
	if d.lost.Load() {
		return nil
	}
	d.left.mu.Lock()
	defer d.left.mu.Unlock()
	d.left.unwaited = true
	return d.check(DeviceLost, "what was submitted may go on")
}

// give gives something back, or has settle do it.
func (d *Device) give(free func()) {
	d.left.mu.Lock()
	if d.left.unwaited {
		d.left.all = append(d.left.all, free)
		d.left.mu.Unlock()
		return
	}
	d.left.mu.Unlock()
	free()
}

// settle waits once more for what may go on, and gives back what was left. Where it
// cannot, all stays until the program ends.
func (d *Device) settle() error {
	d.left.mu.Lock()
	defer d.left.mu.Unlock()
	if !d.left.unwaited {
		return nil
	}
	if code := d.api.WaitIdle(d.id); code != Success && code != DeviceLost {
		return check(code, "vkDeviceWaitIdle")
	}
	d.left.unwaited = false
	for _, free := range d.left.all {
		free()
	}
	d.left.all = nil
	return nil
}
