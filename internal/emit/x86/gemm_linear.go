package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// Linear tells whether tile kernels of a format can do more with results than store them,
// see GemmArgs.
func (f GemmFormat) Linear() bool { return f == GemmF32 || f == GemmBF16 || f == GemmWide }

// linear does to finished sums what the arguments ask for while they are in registers: to
// hand them over takes three instructions more for each vector, and two dozen for a row.
func (t *tileGen) linear() {
	t.ifSet(gemmBias, t.addBias)
	t.ifSet(gemmRowBias, t.addRowBias)
	t.ifSet(gemmAdd, t.addBeside)
	t.ifSet(gemmReLU, func() {
		t.zero(t.b(0))
		t.each(func(r, v int) { t.Op(asm.VMAXPS, t.acc(r, v), t.b(0), t.acc(r, v)) }) // of NaN, and of two zeros, the latter
	})
}

// ifSet emits what is done where the argument at an offset is not 0.
func (t *tileGen) ifSet(argument int, emit func()) {
	none := t.NewLabel()
	t.Op(asm.CMP, asm.Ptr(gArgs, argument), asm.Imm(0))
	t.J(asm.EQ, none)
	emit()
	t.Bind(none)
}

// each calls f for every accumulator.
func (t *tileGen) each(f func(r, v int)) {
	for r := range t.tile.Rows {
		for v := range t.tile.Vectors {
			f(r, v)
		}
	}
}

func (t *tileGen) addBias() {
	t.Op(asm.MOV, gRow, asm.Ptr(gArgs, gemmNextBias))
	for v := range t.tile.Vectors {
		t.load(t.b(v), t.cell(v), v)
	}
	t.each(func(r, v int) { t.Op(t.add, t.acc(r, v), t.acc(r, v), t.b(v)) })
	t.Op(asm.ADD, asm.Ptr(gArgs, gemmNextBias), asm.Imm(t.width()))
}

func (t *tileGen) addRowBias() {
	t.walk(gemmDownBias, gemmLDBias, func(r int) {
		t.Op(asm.VBROADCASTSS, t.b(0), asm.Ptr(gRow, 0))
		for v := range t.tile.Vectors {
			t.Op(t.add, t.acc(r, v), t.acc(r, v), t.b(0))
		}
	})
}

func (t *tileGen) addBeside() {
	scale := t.product() // behind B, where sums need nothing any more
	t.Op(asm.VBROADCASTSS, scale, asm.Ptr(gArgs, gemmScale))
	t.walk(gemmNextBeside, gemmLDBeside, func(r int) {
		for v := range t.tile.Vectors {
			at := asm.Ptr(gRow, v*t.bytes-t.width()) // fetching has gone on to the next tile
			if t.masked(v) {
				t.load(t.b(v), at, v)
				t.Op(asm.VFMADD213PS, t.acc(r, v), scale, t.b(v))
				continue
			}
			t.Op(asm.VFMADD213PS, t.acc(r, v), scale, at)
		}
	})
}
