package cpu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// What an epilogue of a product only chooses keeps its bits, those of signalling
// NaNs too, though it is of a type that is widened to be computed with.
func TestEpilogueMovesBits(t *testing.T) {
	for _, c := range []struct {
		dtype ir.DType
		bits  []uint16
	}{
		{ir.F16, []uint16{0x7c01, 0xfd55, 0x7e00, 0x8000, 0x0001, 0x3c00}},
		{ir.BF16, []uint16{0x7f81, 0xffa5, 0x7fc0, 0x8000, 0x0001, 0x3f80}},
	} {
		for _, m := range []int{1, 3, 70} {
			const k, n = 32, 33
			g, err := ir.Parse(fmt.Sprintf(`graph
leaf 0 input "x" f32[%[1]d %[2]d]
leaf 1 input "y" f32[%[2]d %[3]d]
leaf 2 input "a" %[4]v[%[1]d %[3]d]
leaf 3 input "b" %[4]v[%[1]d %[3]d]
%%x = input : f32[%[1]d %[2]d]
%%y = input leaf=1 : f32[%[2]d %[3]d]
%%a = input leaf=2 : %[4]v[%[1]d %[3]d]
%%b = input leaf=3 : %[4]v[%[1]d %[3]d]
%%p = matmul %%x %%y : f32[%[1]d %[3]d]
%%z = const value=0x0 : f32[]
%%r = reshape %%z : f32[1 1]
%%e = expand %%r : f32[%[1]d %[3]d]
%%l = less %%p %%e : bool[%[1]d %[3]d]
%%w = where %%l %%a %%b : %[4]v[%[1]d %[3]d]
return %%w
`, m, k, n, c.dtype))
			if err != nil {
				t.Fatal(err)
			}
			var x, y, a, b, want []byte
			for i := range m * k {
				x = binary.LittleEndian.AppendUint32(x, []uint32{0x3f800000, 0xbf800000}[i/k%2]) // a row of 1, one of -1
			}
			for range k * n {
				y = binary.LittleEndian.AppendUint32(y, 0x3f800000)
			}
			for i := range m * n {
				a = binary.LittleEndian.AppendUint16(a, c.bits[i%len(c.bits)])
				b = binary.LittleEndian.AppendUint16(b, c.bits[(i/7+3)%len(c.bits)])
				from := b
				if i/n%2 == 1 {
					from = a
				}
				want = append(want, from[2*i:2*i+2]...)
			}
			for _, d := range machines(t) {
				got, err := evaluate(d, g, nil, [][]byte{x, y, a, b}, device.Options{Check: true})
				if err != nil {
					t.Fatal(err)
				}
				for i := range m * n {
					if g, w := got[0][2*i:2*i+2], want[2*i:2*i+2]; !bytes.Equal(g, w) {
						t.Errorf("%v, %v, %d rows: element %d is %x, not %x", d.ISA(), c.dtype, m, i, g, w)
						break
					}
				}
			}
		}
	}
}
