package vk_test

import (
	"bytes"
	"testing"

	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
)

// TestCompiled has the driver here take up its own cache, be that as empty as
// those of drivers that keep programs on disk themselves.
func TestCompiled(t *testing.T) {
	d := device(t)
	modules := [][]uint32{assemble(t, "testdata/axpy.spvasm")}
	const push = 8
	p, err := d.Build(modules, push)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, p)
	compiled, err := p.Compiled()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", d.Physical.Driver, len(compiled))
	head := d.Physical.CacheHead()
	if len(compiled) > 0 && !bytes.HasPrefix(compiled[4:], head[4:]) {
		t.Errorf("begins with %x, not %x", compiled[:32], head)
	}
	for _, b := range [][]byte{compiled, head} {
		if len(b) == 0 {
			continue
		}
		again, err := d.Restore(modules, push, b)
		if err != nil {
			t.Fatal(err)
		}
		closing(t, again)
	}
}

// TestForeignCache refuses what another driver, or one for another device, has
// compiled.
func TestForeignCache(t *testing.T) {
	d := fake(t, &vktest.Fake{Keeps: true})
	code := []uint32{0x07230203, 0x10300, 0, 9, 0, 5<<16 | 15, 5, 1, 0x735f306b, 0x00006d75}
	build := func(compiled []byte) (*vk.Program, error) { return d.Restore([][]uint32{code}, 8, compiled) }
	head := d.Physical.CacheHead()
	p, err := build(head)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := p.Compiled()
	if err != nil || len(compiled) <= len(head) || !bytes.HasPrefix(compiled, head) {
		t.Errorf("%x, %v", compiled, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Compiled(); err == nil {
		t.Error("a program that was closed gives code")
	}
	foreign := [][]byte{nil, head[:31]}
	for i := range head {
		b := bytes.Clone(head)
		b[i] ^= 0x40
		foreign = append(foreign, b)
	}
	for _, b := range foreign {
		if p, err := build(b); err == nil {
			t.Errorf("%x is taken up", b)
			_ = p.Close()
		}
	}
}
