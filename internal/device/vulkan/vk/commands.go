package vk

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Commands is a list of what the device does, recorded once and submitted any
// number of times, one at a time.
type Commands struct {
	device *Device
	id     CommandsID
	work   work
	queue  *queue // while it is submitted
	submit *submission
	push   []byte // where the driver reads push constants from
	ended  bool
	stamps stamps
	closed atomic.Bool
}

// submission is what submitting and waiting tell the driver, in one piece that
// stays where it is, so that a run allocates nothing.
type submission struct {
	info      SubmitInfo
	timeline  TimelineSemaphoreSubmitInfo
	wait      SemaphoreWaitInfo
	commands  CommandsID
	semaphore SemaphoreID
	value     uint64
}

// Stages of the device's work and kinds of access, of those that commands have
// here.
const (
	stageCompute  = 0x800
	stageTransfer = 0x1000
	stageHost     = 0x4000
	stagesDevice  = stageCompute | stageTransfer

	accessShader   = 0x20 | 0x40
	accessTransfer = 0x800 | 0x1000
	accessHost     = 0x2000 | 0x4000
	accessDevice   = accessShader | accessTransfer
)

// Record begins a list. What it holds comes after all that was waited for before
// it is submitted, and sees what that wrote, or the host.
func (d *Device) Record() (*Commands, error) { return d.record(runs) }

func (d *Device) record(w work) (*Commands, error) {
	if !d.retain() {
		return nil, ErrClosed
	}
	c := &Commands{device: d, work: w}
	if err := c.begin(); err != nil {
		return nil, errors.Join(err, d.release())
	}
	return c, nil
}

func (c *Commands) begin() error {
	d := c.device
	d.recording.Lock()
	defer d.recording.Unlock()
	id := new(CommandsID)
	info := &CommandBufferAllocateInfo{Header: Header{Type: typeCommandBufferAllocateInfo}, Pool: d.pool, Count: 1}
	if err := d.check(d.api.AllocateCommands(d.id, info, id), "vkAllocateCommandBuffers"); err != nil {
		return err
	}
	c.id = *id
	if err := d.check(d.api.BeginCommands(c.id, &CommandBufferBeginInfo{Header: Header{Type: typeCommandBufferBeginInfo}}), "vkBeginCommandBuffer"); err != nil {
		d.api.FreeCommands(d.id, d.pool, 1, id)
		return err
	}
	c.barrier(stagesDevice|stageHost, stagesDevice, accessDevice|accessHost, accessDevice)
	c.prepare()
	return nil
}

// prepare fills in the submission, whose pointers lead to itself.
func (c *Commands) prepare() {
	s := &submission{commands: c.id}
	s.timeline = TimelineSemaphoreSubmitInfo{Header: Header{Type: typeTimelineSemaphoreSubmitInfo}, SignalCount: 1, Signals: &s.value}
	s.info = SubmitInfo{
		Header: Header{Type: typeSubmitInfo, Next: unsafe.Pointer(&s.timeline)}, CommandCount: 1, Commands: &s.commands,
		SignalCount: 1, Signals: &s.semaphore,
	}
	s.wait = SemaphoreWaitInfo{Header: Header{Type: typeSemaphoreWaitInfo}, Count: 1, Semaphores: &s.semaphore, Values: &s.value}
	c.submit = s
}

func (c *Commands) barrier(from, to, fromAccess, toAccess uint32) {
	c.device.api.CmdBarrier(c.id, from, to, 0, 1, &MemoryBarrier{Header: Header{Type: typeMemoryBarrier}, From: fromAccess, To: toAccess})
}

// Barrier has what follows wait for what came before, and see what it wrote.
func (c *Commands) Barrier() {
	c.device.recording.Lock()
	defer c.device.recording.Unlock()
	c.barrier(stagesDevice, stagesDevice, accessDevice, accessDevice)
}

// Dispatch runs an entry point of a program by so many groups. Without a
// barrier it may run beside those before it.
func (c *Commands) Dispatch(p *Program, entry string, push []byte, groups int) error {
	pipeline, ok := p.pipelines[entry]
	limit := c.device.Physical.Groups[0]
	switch {
	case !ok:
		return fmt.Errorf("vulkan: the program has no entry point %s", entry)
	case groups < 1 || groups > limit:
		return fmt.Errorf("%s: %d groups, the limit of %s is %d", entry, groups, c.device.Physical.Name, limit)
	}
	const bindCompute = 1
	c.device.recording.Lock()
	defer c.device.recording.Unlock()
	c.device.api.CmdBindPipeline(c.id, bindCompute, pipeline)
	if len(push) > 0 {
		c.push = append(c.push[:0], push...)
		c.device.api.CmdPushConstants(c.id, p.layout, computeStage, 0, uint32(len(push)), unsafe.Pointer(&c.push[0]))
	}
	c.device.api.CmdDispatch(c.id, uint32(groups), 1, 1)
	return nil
}

var errRange = errors.New("outside the buffer")

func (m *Memory) within(offset, n int, call string) error {
	if offset < 0 || n < 0 || offset > m.Size-n {
		return fmt.Errorf("%s: %d bytes at %d of %d: %w", call, n, offset, m.Size, errRange)
	}
	return nil
}

// Copy copies n bytes, which do not overlap.
func (c *Commands) Copy(to *Memory, toOffset int, from *Memory, fromOffset, n int) error {
	const call = "vkCmdCopyBuffer"
	if err := errors.Join(to.within(toOffset, n, call), from.within(fromOffset, n, call)); err != nil || n == 0 {
		return err
	}
	c.device.recording.Lock()
	defer c.device.recording.Unlock()
	region := &BufferCopy{From: uint64(from.offset + fromOffset), To: uint64(to.offset + toOffset), Size: uint64(n)}
	c.device.api.CmdCopyBuffer(c.id, from.block.buffer, to.block.buffer, 1, region)
	return nil
}

// Zero fills the first n bytes with zeros, in whole words.
func (c *Commands) Zero(m *Memory, n int) {
	c.device.recording.Lock()
	defer c.device.recording.Unlock()
	c.device.api.CmdFillBuffer(c.id, m.block.buffer, uint64(m.offset), uint64(n+3)&^3, 0)
}

// End closes the list: the host sees what it wrote once it was waited for.
func (c *Commands) End() error {
	c.device.recording.Lock()
	defer c.device.recording.Unlock()
	c.barrier(stagesDevice, stageHost, accessDevice, accessHost)
	c.ended = true
	return c.device.check(c.device.api.EndCommands(c.id), "vkEndCommandBuffer")
}

// Close gives the list back; the device does not run it any more.
func (c *Commands) Close() error {
	if c.closed.Swap(true) {
		return ErrClosed
	}
	d, id := c.device, c.id
	c.leave()
	d.give(func() {
		d.recording.Lock()
		d.api.FreeCommands(d.id, d.pool, 1, &id)
		d.recording.Unlock()
		if c.stamps.pool != 0 {
			d.api.DestroyQueryPool(d.id, c.stamps.pool)
		}
	})
	return d.release()
}
