package ptx

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/entry"
)

// Target is a generation of GPUs, by its compute capability: 75, 80, 86, 89,
// 90. A driver translates a program for an older one than the GPU is; but one for
// 90 is for GPUs of 9.0 alone.
type Target struct {
	SM int
	// NoMaps says that the driver makes no tensor maps: nothing is copied by them.
	NoMaps bool
	// NoMixed says that the driver takes no version of the language that has products
	// by groups of warps of bytes with and bytes without a sign.
	NoMixed bool
}

// oldest is the first generation that kernels are written for.
const oldest = 75

// groupsDriver is the CUDA whose drivers take version 8.0 of the language, and
// mixedDriver that of 8.4.
const (
	groupsDriver = 12000
	mixedDriver  = 12040
)

// TargetFor is what to write for a GPU of a compute capability, with a driver of
// that CUDA, 12040 for 12.4: the oldest target that has what kernels use, as older
// drivers take it too.
func TargetFor(major, minor, driver int) (Target, error) {
	switch sm := 10*major + minor; {
	case sm < oldest:
		return Target{}, fmt.Errorf("ptx: compute capability %d.%d is older than 7.5, the oldest that kernels are written for", major, minor)
	case sm < 80:
		return Target{SM: 75}, nil
	case sm == 90 && driver >= groupsDriver:
		return Target{SM: 90, NoMixed: driver < mixedDriver}, nil
	}
	return Target{SM: 80}, nil
}

// String is the target's name in a program.
func (t Target) String() string {
	if t.SM == 90 {
		return "sm_90a" // wgmma is of this generation alone
	}
	return fmt.Sprint("sm_", t.SM)
}

// Version is that of the language which first had what kernels for t use: 6.5
// has ldmatrix and products of f16 (CUDA 10.2), 7.0 bf16 and asynchronous copies
// (CUDA 11.0), 8.0 products by groups of warps (CUDA 12.0), but for those of bytes
// with and bytes without a sign, which 8.4 has (CUDA 12.4).
func (t Target) Version() string {
	switch {
	case t.SM < 80:
		return "6.5"
	case t.SM < 86:
		return "7.0"
	case t.SM < 89:
		return "7.1"
	case t.SM < 90:
		return "7.8"
	}
	if t.NoMixed {
		return "8.0"
	}
	return "8.4"
}

const (
	// groupItems is how many threads share a group's work at most: more would
	// leave each too few registers, fewer too little to do while others wait.
	groupItems = 256
	// nearBytes of the 48 KB that a block may always have are for scratch memory,
	// so that an SM holds several blocks.
	nearBytes = 24 << 10
	// sharedBytes is what a block may always have.
	sharedBytes = 48 << 10
	// ownWords is what a thread may keep of its 255 registers, leaving as many
	// for what it computes.
	ownWords = 100
	// aheadBytes are on their way to a thread in a product of few rows, which takes some
	// 70 registers then: seven blocks an SM, and 170 KB on their way.
	aheadBytes = 192
	// flatItems is the threads of a block whose iterations have nothing in common.
	flatItems = 128
	// mostItems is the threads of a block that such a kernel may be launched with;
	// they share the registers of an SM.
	mostItems   = 512
	smRegisters = 64 << 10
)

// Shape is what kernels for t look like.
func (t Target) Shape() entry.Shape {
	return entry.Shape{Items: groupItems, Near: nearBytes, Shared: sharedBytes, Own: ownWords, Flat: flatItems, Pack: entry.WideBytes, Ahead: aheadBytes, Product: t.product, Usual: t.usualProduct, Half: true, Attend: t.attends, UsualAttend: t.usualAttends, Tiles: entry.GroupTiles(groupItems, sharedBytes/8)}
}

// blocks is how many blocks an SM has to have room for at least. To have more
// than one the assembler would rather spill registers; products that need no
// totals beside their sums leave enough for two, of which one multiplies while
// the other finishes, and so does attention with short heads, whose blocks wait for
// memory most of the time. Before 8.0 an SM has shared memory for one.
func (t Target) blocks(k *entry.Kernel) int {
	if a := k.Attended; a != nil && t.SM >= 80 && max(a.Width, a.VWidth) <= attendShort {
		return 2 * groupItems / k.Items
	}
	if k.Gemm == nil || t.SM < 80 || t.Dynamic(k) > 0 {
		return 1
	}
	m, units := t.matrices(k.Gemm)
	if units && (m.sums == words || !blocked(k.Gemm)) || isSingle(k) && !blocked(k.Gemm) {
		return 2
	}
	return 1
}
