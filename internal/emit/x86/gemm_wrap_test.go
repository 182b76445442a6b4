package x86

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/jit"
)

// Sums of bytes wrap, wherever in a call they leave s32: the instruction that
// stops at the ends is one letter away.
func TestByteSumsWrap(t *testing.T) {
	const steps = (1<<31/(4*255*127)/GemmChunk + 1) * GemmChunk
	host := cpuid.Host()
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, format := range []GemmFormat{GemmBytes, GemmWords, GemmAMXBytes} {
			if !HasGemm(isa, format, &host.Features) {
				t.Logf("without %v of %v", format, isa)
				continue
			}
			g, err := EmitGemm(isa, format, GemmTile{1, 1}, GemmPanels)
			if err != nil {
				t.Fatal(err)
			}
			code, err := jit.Map(g.Code)
			if err != nil {
				t.Fatal(err)
			}
			lanes := GemmLanes(isa)
			a, b, c := make([]byte, steps*format.StepA()), make([]byte, 4*lanes*steps), make([]byte, 4*lanes)
			for i := range a {
				if a[i] = 255; format == GemmWords { // widened
					a[i] = byte(255 * (1 - i%2))
				}
			}
			for i := range b {
				if b[i] = 127; i/4%lanes == 1 { // the second lane falls
					b[i] = 0x80
				}
			}
			args := GemmArgs{A: unsafe.Pointer(&a[0]), B: unsafe.Pointer(&b[0]), C: unsafe.Pointer(&c[0]), Ahead: uintptr(unsafe.Pointer(&c[0])),
				LDB: uintptr(4 * lanes), Panels: 1, RowPanels: 1, LDC: uintptr(4 * lanes)}
			args.SetK(steps)
			jit.Call(code.Entry(g.Full[1]), unsafe.Pointer(&args))
			for lane := range lanes {
				want := int64(steps * 4 * 255 * 127)
				if lane == 1 {
					want = -steps * 4 * 255 * 128
				}
				if got := int32(binary.LittleEndian.Uint32(c[4*lane:])); got != int32(want) {
					t.Fatalf("%v, lane %d: %d, want %d wrapped to %d", format, lane, got, want, int32(want))
				}
			}
			_ = code.Close()
		}
	})
}
