package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// upper is GemmWide's mask of the second number of each lane.
func (t *tileGen) upper() asm.V { return t.product() }

// stepWide is the step of GemmWide: the second number of each lane, then the
// first, as VDPBF16PS has them.
func (t *tileGen) stepWide(k int) {
	for _, half := range []int{1, 0} {
		for v := range t.tile.Vectors {
			if half == 1 {
				t.Op(asm.VPANDD, t.b(v), t.upper(), t.vectorB(v))
			} else {
				t.Op(asm.VPSLLD, t.b(v), t.vectorB(v), asm.Imm(16))
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
