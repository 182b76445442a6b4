package x86sim

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/jit"
)

var (
	nan  = float32(math.NaN())
	inf  = float32(math.Inf(1))
	zero = float32(math.Copysign(0, -1)) // negative
)

func sameFloat(x, y float32) bool {
	return isNaN(x) && isNaN(y) || math.Float32bits(x) == math.Float32bits(y)
}

// The special cases of the manual's tables, for instructions of AVX-512 alone.
func TestSpecialValues(t *testing.T) {
	for _, c := range []struct {
		name    string
		x, y, r float32
	}{
		{"scaled", 3, 2.9, 12}, {"scaled", 3, -1.1, 0.75}, {"scaled", 1, -149, math.SmallestNonzeroFloat32}, {"scaled", 1, 128, inf}, {"scaled", -1, 1e30, -inf},
		{"scaled", nan, inf, inf}, {"scaled", nan, -inf, 0}, {"scaled", nan, 1, nan}, {"scaled", 1, nan, nan},
		{"scaled", 0, inf, nan}, {"scaled", zero, -inf, zero}, {"scaled", inf, -inf, nan}, {"scaled", -inf, 3, -inf}, {"scaled", -2, inf, -inf}, {"scaled", -2, -inf, zero},
		{"min", 1, 2, 1}, {"min", zero, 0, zero}, {"min", 0, zero, zero}, {"min", nan, 2, 2}, {"min", 2, nan, 2}, {"min", nan, nan, nan},
		{"max", 1, 2, 2}, {"max", zero, 0, 0}, {"max", 0, zero, 0}, {"max", -inf, 3, 3},
		{"most", 1, -2, -2}, {"most", 2, -2, 2}, {"most", -2, 2, 2}, {"least", 2, -2, -2}, {"least", -2, 2, -2},
		{"signed as the first", -1, 2, -2}, {"positive", -3, -2, 2},
		{"fraction", 2.75, 0, -0.25}, {"fraction", -0.5, 0, -0.5}, {"fraction", inf, 0, 0}, {"fraction", 7, 0, 0}, {"fraction", nan, 0, nan},
		{"fraction above", 7, 0, zero}, {"fraction above", inf, 0, 0}, {"fraction above", -0.25, 0, 0.75},
		{"eighths", 2.30, 0, 2.25}, {"eighths", 1e38, 0, 1e38}, {"down", -0.5, 0, -1}, {"to zero", -1.5, 0, -1},
	} {
		got := map[string]func() float32{
			"scaled":              func() float32 { return scaled(c.x, c.y) },
			"min":                 func() float32 { return ranged(c.x, c.y, 4) },
			"max":                 func() float32 { return ranged(c.x, c.y, 5) },
			"least":               func() float32 { return ranged(c.x, c.y, 6) },
			"most":                func() float32 { return ranged(c.x, c.y, 7) },
			"signed as the first": func() float32 { return ranged(c.x, c.y, 1) },
			"positive":            func() float32 { return ranged(c.x, c.y, 9) },
			"fraction":            func() float32 { return reduced(c.x, 0) },
			"fraction above":      func() float32 { return reduced(c.x, 1) },
			"eighths":             func() float32 { return roundTo(c.x, 3<<4) },
			"down":                func() float32 { return roundTo(c.x, 1) },
			"to zero":             func() float32 { return roundTo(c.x, 3) },
		}[c.name]()
		if !sameFloat(got, c.r) {
			t.Errorf("%s of %v and %v: %v, want %v", c.name, c.x, c.y, got, c.r)
		}
	}
	for _, c := range []struct{ d, x, y, imm, want uint32 }{
		{0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA, 0x96, 0x96969696}, {0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA, 0xCA, 0xCACACACA},
	} {
		args := [3]uint32{c.d, c.x, c.y}
		if failure := simulate(t, unsafe.Pointer(&args), func(a *asm.Asm) {
			for i := range 3 {
				a.Op(asm.VPBROADCASTD, asm.V(16+i), asm.Ptr(asm.RDI, 4*i))
			}
			a.Op(asm.VPTERNLOGD, asm.V(16), asm.V(17), asm.V(18), asm.Imm(c.imm))
			a.Op(asm.MOV, asm.RAX.R32(), asm.Imm(1))
			a.Op(asm.KMOVW, asm.K(1), asm.RAX.R32())
			a.Op(asm.VMOVUPS, asm.Ptr(asm.RDI, 0), asm.V(16), asm.Mask(1))
			a.Op(asm.RET)
		}); failure != "" || args[0] != c.want {
			t.Errorf("vpternlogd %#x: %#x, %s", c.imm, args[0], failure)
		}
	}
}

// Masked lanes are neither read nor written: of these five lanes the last stands
// at the end of its page.
func TestMaskedLanes(t *testing.T) {
	mem, err := jit.AllocGuarded(4*5, 1)
	if err != nil {
		t.Skip(err)
	}
	defer mem.Close()
	at := (*[5]float32)(mem.Pointer())
	add := func(mask int) string {
		*at = [5]float32{1, 2, 3, 4, 5}
		return simulate(t, mem.Pointer(), func(a *asm.Asm) {
			a.Op(asm.MOV, asm.RAX.R32(), asm.Imm(mask))
			a.Op(asm.KMOVW, asm.K(2), asm.RAX.R32())
			a.Op(asm.VBROADCASTSS, asm.V(20), a.F32(10))
			a.Op(asm.VADDPS, asm.V(21), asm.V(20), asm.Ptr(asm.RDI, 0), asm.MaskZ(2))
			a.Op(asm.VMOVUPS, asm.Ptr(asm.RDI, 0), asm.V(21), asm.Mask(2))
			a.Op(asm.RET)
		})
	}
	if failure := add(0b11011); failure != "" || *at != [5]float32{11, 12, 3, 14, 15} {
		t.Errorf("%v, %s", *at, failure)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if failure := add(0b111011); !strings.Contains(failure, "invalid memory address") {
		t.Errorf("a lane behind the page: %q", failure)
	}
}

// TestTiles multiplies tiles of drawn numbers, and compares with sums of products.
func TestTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var x, y, d tile
	for _, s := range []*tile{&x, &y, &d} {
		s.rows, s.bytes = 16, 64
	}
	d.rows, x.rows, y.rows, y.bytes, d.bytes, x.bytes = 13, 13, 9, 40, 40, 36
	for i := range 16 {
		for j := range 32 {
			x.data[i].u16()[j], y.data[i].u16()[j] = toBF16(float32(rng.IntN(9)-4)), toBF16(float32(rng.IntN(9)-4))
		}
	}
	tileFloats(fromBF16)(&d, &x, &y)
	for i := range d.rows {
		for n := range d.bytes / 4 {
			want := float32(0)
			for k := range y.rows {
				for j := range 2 {
					want += fromBF16(x.data[i].u16()[2*k+j]) * fromBF16(y.data[k].u16()[2*n+j])
				}
			}
			if got := d.data[i].f32()[n]; got != want {
				t.Fatalf("bf16 %d, %d: %v, want %v", i, n, got, want)
			}
		}
	}
	d = tile{rows: d.rows, bytes: d.bytes}
	d.data[2].u32()[3] = math.MaxInt32
	x.data[2].u8()[0], y.data[0].i8()[12] = 255, 127
	tileBytes(&d, &x, &y)
	for i := range d.rows {
		for n := range d.bytes / 4 {
			want := int32(0)
			if i == 2 && n == 3 {
				want = math.MaxInt32
			}
			for k := range y.rows {
				for j := range 4 {
					want += int32(x.data[i].u8()[4*k+j]) * int32(y.data[k].i8()[4*n+j])
				}
			}
			if got := int32(d.data[i].u32()[n]); got != want {
				t.Fatalf("bytes %d, %d: %v, want %v", i, n, got, want)
			}
		}
	}
}
