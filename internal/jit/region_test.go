package jit

import (
	"bytes"
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// Blocks lie side by side from the start of a huge page on, and one goes back without the
// others, whose bytes stay. Who comes when a region is full finds another.
func TestRegion(t *testing.T) {
	if !adviseHuge {
		t.Skip("no huge pages here")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	size := roundToPage(700_000)
	var r region
	var blocks [][]byte
	for i := range regionBytes / size {
		b, err := r.cut(size)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && address(b)%hugePage != 0 {
			t.Errorf("a region begins at %x", address(b))
		}
		if i > 0 && address(b) != address(blocks[i-1])+uintptr(size) || len(b) != size || cap(b) != size {
			t.Fatalf("block %d: %d bytes at %x", i, len(b), address(b))
		}
		for j := range b {
			b[j] = byte(i + 1)
		}
		blocks = append(blocks, b)
	}
	left := address(r.rest)
	other, err := r.cut(size)
	if err != nil {
		t.Fatal(err)
	}
	if faults := Protect(func() error { blackByte = *(*byte)(pointerTo(left)); return nil }); faults == nil && left != address(other) {
		t.Error("what was left of a region is still there")
	}
	for i := 0; i < len(blocks); i += 2 {
		if err := unmapPages(blocks[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i < len(blocks); i += 2 {
		if !bytes.Equal(blocks[i], bytes.Repeat([]byte{byte(i + 1)}, size)) {
			t.Errorf("block %d is another once its neighbours are gone", i)
		}
		if err := unmapPages(blocks[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(unmapPages(other), unmapPages(r.rest)); err != nil {
		t.Error(err)
	}
}

// Of what is mapped for a region nothing stays but the region.
func TestRegionsTakeNoMore(t *testing.T) {
	if !adviseHuge {
		t.Skip("no huge pages here")
	}
	const (
		regions = 60
		others  = 80 << 20 // that Go may map meanwhile, as an arena of its heap
	)
	var r region
	var all [][]byte
	before := addressSpace(t)
	for range regions {
		if err := r.renew(); err != nil {
			t.Fatal(err)
		}
		all = append(all, r.rest)
		r.rest = nil
	}
	if grown := addressSpace(t) - before; grown > regions*regionBytes+others {
		t.Errorf("%d regions take %d MB", regions, grown>>20)
	}
	for _, rest := range all {
		if err := unmapPages(rest); err != nil {
			t.Error(err)
		}
	}
}

// addressSpace is the bytes of addresses that the process has mapped.
func addressSpace(t *testing.T) int {
	t.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[0])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// An allocator takes blocks below a huge page from a region, but small ones.
func TestBlocksShareHugePages(t *testing.T) {
	if !adviseHuge {
		t.Skip("no huge pages here")
	}
	asked, err := mapPages(2 * hugePage)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unmapPages(asked) }()
	useHugePages(asked)
	if !hugeAt(t, asked) {
		t.Skip("no huge pages here, or the system does not tell, as where it is emulated")
	}
	a := Allocator{CacheBytes: -1}
	for _, c := range []struct {
		bytes int
		huge  bool
	}{{regionLeast / 2, false}, {regionLeast, true}, {600_000, true}, {hugePage - hugePage/32, true}, {hugePage, true}, {3 << 20, true}} {
		m, err := a.Alloc(c.bytes)
		if err != nil {
			t.Fatal(err)
		}
		if got := hugeAt(t, m.Bytes()); got != c.huge {
			t.Errorf("%d bytes: huge pages %v, want %v", c.bytes, got, c.huge)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// hugeAt tells whether huge pages were asked for where a block begins, by the list of mappings.
func hugeAt(t *testing.T, block []byte) bool {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	at, inside := uint64(address(block)), false
	for line := range strings.Lines(string(smaps)) {
		name, rest, _ := strings.Cut(line, " ")
		if from, to, ok := strings.Cut(name, "-"); ok {
			first, err := strconv.ParseUint(from, 16, 64)
			if err != nil {
				continue
			}
			end, err := strconv.ParseUint(to, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			inside = first <= at && at < end
		}
		if inside && name == "VmFlags:" {
			return strings.Contains(" "+rest, " hg")
		}
	}
	t.Fatalf("%x is in no mapping", at)
	return false
}

// BenchmarkRegion reads 38 MB in blocks of 600 kB, which have small pages each or lie in
// regions, a word of each line.
func BenchmarkRegion(b *testing.B) {
	size := roundToPage(600_000)
	var r region
	for _, c := range []struct {
		name  string
		pages func(size int) ([]byte, error)
	}{{"small pages", mapPages}, {"side by side", r.cut}} {
		b.Run(c.name, func(b *testing.B) {
			var blocks [][]byte
			for range 64 {
				block, err := c.pages(size)
				if err != nil {
					b.Fatal(err)
				}
				for i := range block {
					block[i] = byte(i)
				}
				blocks = append(blocks, block)
			}
			b.SetBytes(int64(len(blocks) * size))
			sum := 0
			for b.Loop() {
				for _, block := range blocks {
					for i := 0; i < len(block); i += 64 {
						sum += int(block[i])
					}
				}
			}
			blackByte = byte(sum)
			for _, block := range blocks {
				_ = unmapPages(block)
			}
		})
	}
}
