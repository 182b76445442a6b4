package x86

import (
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/jit"
)

func TestTranspose(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		t.Run("32 bits", func(t *testing.T) { testTranspose[uint32](t, isa) })
		t.Run("64 bits", func(t *testing.T) { testTranspose[uint64](t, isa) })
	})
}

func testTranspose[E uint32 | uint64](t *testing.T, isa ISA) {
	size := int(unsafe.Sizeof(E(0)))
	text, err := EmitTranspose(isa, size)
	if err != nil {
		t.Fatal(err)
	}
	code, err := jit.Map(text)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = code.Close() }()
	n := 4 * GemmLanes(isa) / size
	const squares, down, gap = 3, 2, 5
	ldSrc, ldDst := squares*n+gap, down*n+gap
	src, err := jit.AllocGuarded(size*((down*n-1)*ldSrc+squares*n), 1)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := jit.AllocGuarded(size*((squares*n-1)*ldDst+down*n), 1)
	if err != nil {
		t.Fatal(err)
	}
	from := unsafe.Slice((*E)(src.Pointer()), len(src.Bytes())/size)
	to := unsafe.Slice((*E)(dst.Pointer()), len(dst.Bytes())/size)
	for i := range from {
		from[i] = E(i)
	}
	args := TransposeArgs{Src: src.Pointer(), Dst: dst.Pointer(), LDSrc: uintptr(size * ldSrc), LDDst: uintptr(size * ldDst), Count: squares, Down: down}
	jit.Call(code.Entry(0), unsafe.Pointer(&args))
	for i := range down * n {
		for j := range squares * n {
			if got := to[j*ldDst+i]; got != from[i*ldSrc+j] {
				t.Fatalf("element (%d, %d) is %d, want %d", j, i, got, from[i*ldSrc+j])
			}
		}
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	if err := dst.Close(); err != nil {
		t.Error(err)
	}
}
