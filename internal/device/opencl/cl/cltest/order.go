package cltest

import (
	"strings"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/launch/order"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
)

// kernel knows of its arguments which are memory, by its text, and which it is to
// read or to write.
type kernel struct {
	params        []string
	read, written map[int]cl.MemID // by argument
}

// kernelOf finds a kernel in a program's text; of one that was compiled earlier
// there is none, and nothing is known.
func kernelOf(text, name string) *kernel {
	k := &kernel{read: map[int]cl.MemID{}, written: map[int]cl.MemID{}}
	if _, list, found := strings.Cut(text, " "+name+"("); found && name != "" {
		list, _, _ = strings.Cut(list, ")")
		k.params = strings.Split(list, ",")
	}
	return k
}

func (k *kernel) set(i int, value unsafe.Pointer) {
	if i >= len(k.params) || !strings.Contains(k.params[i], "*") {
		return
	}
	m := k.written
	if strings.Contains(k.params[i], "const ") {
		m = k.read
	}
	if m[i] = *(*cl.MemID)(value); m[i] == 0 {
		delete(m, i)
	}
}

// uses starts something on a queue. The caller holds mu.
func (f *Fake) uses(q cl.QueueID, call string, read, written map[int]cl.MemID) {
	if f.Quick {
		return
	}
	w := f.order.Start(order.Stream(q), call)
	for _, m := range read {
		f.check(w.Reads(order.Memory(m)))
	}
	for _, m := range written {
		f.check(w.Writes(order.Memory(m)))
	}
}

func (f *Fake) check(err error) {
	if err != nil {
		f.faults = append(f.faults, err.Error())
	}
}

// transfer is one of a buffer, which is waited for if it blocks.
func (f *Fake) transfer(q cl.QueueID, call string, read, written cl.MemID, size int, blocking uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.take(q, time.Duration(size)*f.Megabyte>>20)
	w := f.order.Start(order.Stream(q), call)
	if read != 0 {
		f.check(w.Reads(order.Memory(read)))
	}
	if written != 0 {
		f.check(w.Writes(order.Memory(written)))
	}
	if blocking != 0 {
		f.order.Wait(order.Stream(q))
		until := f.busy[q]
		f.mu.Unlock()
		time.Sleep(time.Until(until))
		f.mu.Lock()
	}
}
