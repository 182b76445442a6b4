package vk

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Program is modules of SPIR-V with the pipelines of their entry points, all with
// the same push constants and no descriptors.
type Program struct {
	device    *Device
	layout    LayoutID
	cache     CacheID // of these pipelines alone
	pipelines map[string]PipelineID
	closed    atomic.Bool
}

// BuildError is a program that the driver refused.
type BuildError struct {
	Device, Entry string
	Err           error
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("the compiler for %s refuses a program, at %s: %v", e.Device, e.Entry, e.Err)
}

func (e *BuildError) Unwrap() error { return e.Err }

const computeStage = 0x20

// Build compiles the entry points of modules, which take so many bytes of push
// constants and have different names.
func (d *Device) Build(modules [][]uint32, push int) (*Program, error) {
	return d.build(modules, push, nil)
}

// Restore is Build with what Program.Compiled gave for the same modules, by which
// the driver need not compile. What is not of this device and its driver is
// refused here, as not every driver looks.
func (d *Device) Restore(modules [][]uint32, push int, compiled []byte) (*Program, error) {
	if !d.Physical.caches.owns(compiled) {
		return nil, fmt.Errorf("vulkan: programs compiled for another device or driver than %s", d.Physical.Name)
	}
	return d.build(modules, push, compiled)
}

func (d *Device) build(modules [][]uint32, push int, compiled []byte) (*Program, error) {
	defer dynlib.KeepSignals()()
	if push > d.Physical.Push {
		return nil, fmt.Errorf("%s has %d bytes of push constants, not %d", d.Physical.Name, d.Physical.Push, push)
	}
	if !d.retain() {
		return nil, ErrClosed
	}
	p := &Program{device: d, pipelines: map[string]PipelineID{}}
	if err := p.build(modules, push, compiled); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Program) build(modules [][]uint32, push int, compiled []byte) error {
	d := p.device
	var pin runtime.Pinner
	defer pin.Unpin()
	layout, info := new(LayoutID), &PipelineLayoutCreateInfo{Header: Header{Type: typePipelineLayoutCreateInfo}}
	if push > 0 {
		info.RangeCount = 1
		info.Ranges = hold(&pin, PushConstantRange{Stages: computeStage, Size: uint32(push)})
	}
	if err := check(d.api.CreateLayout(d.id, info, layout), "vkCreatePipelineLayout"); err != nil {
		return err
	}
	p.layout = *layout
	if err := p.newCache(compiled); err != nil {
		return err
	}
	for _, code := range modules {
		if err := p.add(code); err != nil {
			return err
		}
	}
	return nil
}

// add compiles the entry points of a module.
func (p *Program) add(code []uint32) error {
	d := p.device
	m, err := readModule(code)
	if err == nil {
		err = d.Physical.lacks(m)
	}
	if err != nil {
		return err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&code[0])
	shader, info := new(ShaderID), &ShaderModuleCreateInfo{Header: Header{Type: typeShaderModuleCreateInfo}, Size: uintptr(4 * len(code)), Code: &code[0]}
	if err := check(d.api.CreateShader(d.id, info, shader), "vkCreateShaderModule"); err != nil {
		return &BuildError{Device: d.Physical.Name, Entry: m.entries[0], Err: err}
	}
	defer d.api.DestroyShader(d.id, *shader)
	for _, name := range m.entries {
		stage := ShaderStageCreateInfo{Header: Header{Type: typeShaderStageCreateInfo}, Stage: computeStage, Module: *shader, Entry: text(&pin, name)}
		info := &ComputePipelineCreateInfo{Header: Header{Type: typeComputePipelineCreateInfo}, Stage: stage, Layout: p.layout, BaseIndex: -1}
		pipeline := new(PipelineID)
		if err := check(d.api.CreateComputePipes(d.id, p.cache, 1, info, pipeline), "vkCreateComputePipelines"); err != nil {
			return &BuildError{Device: d.Physical.Name, Entry: name, Err: err}
		}
		p.pipelines[name] = *pipeline
	}
	return nil
}

// Close gives the program back once nothing that was submitted uses it.
func (p *Program) Close() error {
	if p.closed.Swap(true) {
		return ErrClosed
	}
	d := p.device
	d.give(func() {
		for _, pipeline := range p.pipelines {
			d.api.DestroyPipeline(d.id, pipeline)
		}
		if p.cache != 0 {
			d.api.DestroyCache(d.id, p.cache)
		}
		if p.layout != 0 {
			d.api.DestroyLayout(d.id, p.layout)
		}
	})
	return d.release()
}
