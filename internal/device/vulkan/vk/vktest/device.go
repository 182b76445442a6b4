package vktest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/vulkan/vk"
)

func (f *Fake) device() *vk.DeviceAPI {
	a := &vk.DeviceAPI{
		DestroyDevice: func(d vk.DeviceID) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.drop(uint64(d))
		},
	}
	f.buffers(a)
	f.programs(a)
	f.commands(a)
	f.queries(a)
	f.submitting(a)
	return a
}

func (f *Fake) buffers(a *vk.DeviceAPI) {
	a.CreateBuffer = func(_ vk.DeviceID, info *vk.BufferCreateInfo, out *vk.BufferID) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		*out = vk.BufferID(f.give("vkCreateBuffer"))
		f.sizes[*out] = info.Size
		return vk.Success
	}
	a.DestroyBuffer = func(_ vk.DeviceID, b vk.BufferID) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.forget(b)
		f.drop(uint64(b))
	}
	a.GetBufferRequirements = func(_ vk.DeviceID, b vk.BufferID, out *vk.MemoryRequirements) {
		f.mu.Lock()
		defer f.mu.Unlock()
		*out = vk.MemoryRequirements{Size: f.sizes[b], Alignment: 16, Types: 3}
	}
	a.GetBufferAddress = func(_ vk.DeviceID, info *vk.BufferDeviceAddressInfo) uint64 { return uint64(info.Buffer) << 40 }
	a.AllocateMemory = func(_ vk.DeviceID, info *vk.MemoryAllocateInfo, out *vk.MemoryID) vk.Code {
		if f.Refuse != nil && f.Refuse(int(info.Size)) {
			return vk.OutOfDeviceMemory
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		*out = vk.MemoryID(f.give("vkAllocateMemory"))
		f.memory[*out] = make([]byte, info.Size)
		return vk.Success
	}
	a.FreeMemory = func(_ vk.DeviceID, m vk.MemoryID) {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.memory, m)
		f.drop(uint64(m))
	}
	a.BindBufferMemory = func(_ vk.DeviceID, b vk.BufferID, m vk.MemoryID, offset uint64) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.bound[b] = backing{m, offset}
		return vk.Success
	}
	a.MapMemory = func(_ vk.DeviceID, m vk.MemoryID, offset, _ uint64, _ uint32, out *unsafe.Pointer) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		*out = unsafe.Pointer(&f.memory[m][offset])
		return vk.Success
	}
}

func (f *Fake) programs(a *vk.DeviceAPI) {
	a.CreateShader = func(_ vk.DeviceID, info *vk.ShaderModuleCreateInfo, out *vk.ShaderID) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		*out = vk.ShaderID(f.give("vkCreateShaderModule"))
		sum := sha256.Sum256(unsafe.Slice((*byte)(unsafe.Pointer(info.Code)), info.Size))
		f.code[*out] = shader{string(sum[:]), arguments(unsafe.Slice(info.Code, info.Size/4))}
		return vk.Success
	}
	a.DestroyShader = destroy[vk.DeviceID, vk.ShaderID](f)
	a.CreateLayout = create[vk.DeviceID, vk.PipelineLayoutCreateInfo, vk.LayoutID](f, "vkCreatePipelineLayout")
	a.DestroyLayout = destroy[vk.DeviceID, vk.LayoutID](f)
	f.keeping(a)
	a.CreateComputePipes = func(_ vk.DeviceID, c vk.CacheID, _ uint32, info *vk.ComputePipelineCreateInfo, out *vk.PipelineID) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.built++; f.BuildFails != 0 && f.built > f.BuildsBefore {
			return f.BuildFails
		}
		code := f.code[info.Stage.Module]
		if !bytes.Contains(f.caches[c], []byte(code.hash)) {
			f.compiled++
			f.caches[c] = append(f.caches[c], code.hash...)
		}
		*out = vk.PipelineID(f.give("vkCreateComputePipelines"))
		f.pipelines[*out] = code.arguments
		return vk.Success
	}
	a.DestroyPipeline = destroy[vk.DeviceID, vk.PipelineID](f)
}

// keeping has caches of pipelines: a head, and the hash of the code of each.
func (f *Fake) keeping(a *vk.DeviceAPI) {
	head := binary.LittleEndian.AppendUint32(nil, 32)
	for _, word := range []uint32{1, nvidia, 0} {
		head = binary.LittleEndian.AppendUint32(head, word)
	}
	head = append(head, make([]byte, 16)...)
	copy(head[16:], cmp.Or(f.Driver, "1.0"))
	a.CreateCache = func(_ vk.DeviceID, info *vk.PipelineCacheCreateInfo, out *vk.CacheID) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		*out = vk.CacheID(f.give("vkCreatePipelineCache"))
		f.caches[*out] = bytes.Clone(head)
		if given := unsafe.Slice(info.Data, info.Size); bytes.HasPrefix(given, head) && !f.Foreign {
			f.caches[*out] = bytes.Clone(given)
		}
		return vk.Success
	}
	a.DestroyCache = destroy[vk.DeviceID, vk.CacheID](f)
	a.GetCacheData = func(_ vk.DeviceID, c vk.CacheID, size *uintptr, to *byte) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		data := f.caches[c]
		if !f.Keeps {
			data = head
		}
		if to == nil {
			*size = uintptr(len(data))
			return vk.Success
		}
		room := *size
		*size = uintptr(copy(unsafe.Slice(to, room), data))
		if room < uintptr(len(data)) {
			return vk.Incomplete
		}
		return vk.Success
	}
}

// record adds a command to a list.
func (f *Fake) record(c vk.CommandsID, name string, more func(l *list)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lists[c]
	l.names = append(l.names, name)
	if more != nil {
		more(l)
	}
}

// bytes are those of a buffer from an offset.
func (f *Fake) bytes(b vk.BufferID, offset uint64) []byte {
	at := f.bound[b]
	return f.memory[at.memory][at.offset+offset:]
}

func (f *Fake) commands(a *vk.DeviceAPI) {
	a.CreatePool = create[vk.DeviceID, vk.CommandPoolCreateInfo, vk.PoolID](f, "vkCreateCommandPool")
	a.DestroyPool = destroy[vk.DeviceID, vk.PoolID](f)
	a.AllocateCommands = func(_ vk.DeviceID, _ *vk.CommandBufferAllocateInfo, out *vk.CommandsID) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		*out = vk.CommandsID(f.give("vkAllocateCommandBuffers"))
		f.lists[*out] = &list{}
		return vk.Success
	}
	a.FreeCommands = func(_ vk.DeviceID, _ vk.PoolID, _ uint32, c *vk.CommandsID) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.lists[*c].pending && !f.lost {
			f.fault("a list is freed that has not ended")
		}
		delete(f.lists, *c)
		f.drop(uint64(*c))
	}
	a.BeginCommands = func(vk.CommandsID, *vk.CommandBufferBeginInfo) vk.Code { return vk.Success }
	a.EndCommands = func(vk.CommandsID) vk.Code { return vk.Success }
	a.CmdBindPipeline = func(c vk.CommandsID, _ uint32, p vk.PipelineID) {
		f.record(c, "pipeline", func(l *list) { l.pipeline = p })
	}
	a.CmdPushConstants = func(c vk.CommandsID, _ vk.LayoutID, _, _, _ uint32, values unsafe.Pointer) {
		f.record(c, "push", func(l *list) { l.push = *(*uint64)(values) })
	}
	a.CmdDispatch = func(c vk.CommandsID, _, _, _ uint32) {
		f.record(c, "dispatch", func(l *list) { l.launches = append(l.launches, launched{l.push, f.pipelines[l.pipeline]}) })
	}
	a.CmdBarrier = func(c vk.CommandsID, _, _, _, _ uint32, _ *vk.MemoryBarrier) { f.record(c, "barrier", nil) }
	a.CmdCopyBuffer = func(c vk.CommandsID, from, to vk.BufferID, _ uint32, r *vk.BufferCopy) {
		part := *r
		f.record(c, "copy", func(l *list) {
			l.work = append(l.work, func() { copy(f.bytes(to, part.To)[:part.Size], f.bytes(from, part.From)) })
			l.uses = append(l.uses, use{from, part.From, false}, use{to, part.To, true})
			l.bytes += int(part.Size)
		})
	}
	a.CmdFillBuffer = func(c vk.CommandsID, b vk.BufferID, offset, size uint64, _ uint32) {
		f.record(c, "fill", func(l *list) {
			l.work = append(l.work, func() { clear(f.bytes(b, offset)[:size]) })
			l.uses = append(l.uses, use{b, offset, true})
		})
	}
}
