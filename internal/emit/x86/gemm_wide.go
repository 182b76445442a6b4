package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// upper is GemmWide's mask of the second number of each lane.
func (t *tileGen) upper() asm.V { return t.product() }

// stepWide is the step of GemmWide: the second number of each lane, then the
// first, as VDPBF16PS has them.
func (t *tileGen) stepWide(k int) {
	for _, half := range []int{1, 0} {
		for v := range t.tile.Vectors {
			switch avx512 := t.ISA == asm.AVX512; {
			case half == 1 && avx512:
				t.Op(asm.VPANDD, t.b(v), t.upper(), t.vectorB(v))
			case half == 1:
				t.Op(asm.VPAND, t.b(v), t.upper(), t.vectorB(v))
			case avx512:
				t.Op(asm.VPSLLD, t.b(v), t.vectorB(v), asm.Imm(16))
			default:
				t.Op(asm.VMOVUPS, t.b(v), t.vectorB(v))
				t.Op(asm.VPSLLD, t.b(v), t.b(v), asm.Imm(16))
			}
		}
		if half == 0 {
			t.Op(asm.ADD, gB, gLDB)
			t.fetchNext()
		}
		for r := range t.tile.Rows {
			x := t.x(half*t.tile.Rows + r)
			t.Op(t.broadcast, x, t.element(r, 2*k+half))
			for v := range t.tile.Vectors {
				t.Op(t.multiply, t.acc(r, v), x, t.b(v))
			}
		}
	}
}
