package x86

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/jit"
)

func TestThirdsArgs(t *testing.T) {
	var a ThirdsRowsArgs
	var b ThirdsPanelsArgs
	for name, at := range map[string][2]uintptr{
		"From": {unsafe.Offsetof(a.From), thirdsFrom}, "To": {unsafe.Offsetof(a.To), thirdsTo}, "LDFrom": {unsafe.Offsetof(a.LDFrom), thirdsLDFrom}, "LDTo": {unsafe.Offsetof(a.LDTo), thirdsLDTo},
		"Rows": {unsafe.Offsetof(a.Rows), thirdsCount}, "Chunks": {unsafe.Offsetof(a.Chunks), thirdsChunks}, "Rest": {unsafe.Offsetof(a.Rest), thirdsRest}, "Odd": {unsafe.Offsetof(a.Odd), thirdsOddA},
		"panels' From": {unsafe.Offsetof(b.From), thirdsFrom}, "panels' To": {unsafe.Offsetof(b.To), thirdsTo}, "panels' LDFrom": {unsafe.Offsetof(b.LDFrom), thirdsLDFrom}, "panels' LDTo": {unsafe.Offsetof(b.LDTo), thirdsLDTo},
		"Panels": {unsafe.Offsetof(b.Panels), thirdsCount}, "panels' Chunks": {unsafe.Offsetof(b.Chunks), thirdsChunks}, "panels' Odd": {unsafe.Offsetof(b.Odd), thirdsOddB},
	} {
		if at[0] != at[1] {
			t.Errorf("%s is at %d, the code looks at %d", name, at[0], at[1])
		}
	}
}

// thirdsNumber draws a number that is not odd: of the whole range, in which those
// near 1 are most.
func thirdsNumber(rng *rand.Rand) float32 {
	switch rng.IntN(8) {
	case 0:
		return 0
	case 1:
		return float32(math.Copysign(0, -1))
	case 2:
		x := math.Float32frombits(rng.Uint32N(math.Float32bits(ThirdsMost)-math.Float32bits(ThirdsLeast)+1) + math.Float32bits(ThirdsLeast))
		return x * float32(1-2*rng.IntN(2))
	case 3:
		return []float32{ThirdsLeast, -ThirdsMost, 1, -1 - 0x1p-23, 2 - 0x1p-23}[rng.IntN(5)]
	}
	return float32(rng.NormFloat64())
}

// oddNumbers are those that thirds do not hold.
func oddNumbers() []float32 {
	return []float32{
		float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.Nextafter32(ThirdsLeast, 0), math.Nextafter32(-ThirdsMost, float32(math.Inf(-1))),
		math.SmallestNonzeroFloat32, -0x1p-126, math.MaxFloat32, -math.MaxFloat32,
	}
}

// thirdsOf is the thirds of x as bits of bf16, found by rounding to the nearest.
func thirdsOf(t *testing.T, x float64) (all [3]uint16) {
	t.Helper()
	for i := range all {
		b := math.Float64bits(x)
		const dropped = 52 - 7
		third := math.Float64frombits((b + 1<<(dropped-1) - 1 + b>>dropped&1) >> dropped << dropped)
		if x == 0 {
			third = 0
		}
		all[i] = uint16(math.Float32bits(float32(third)) >> 16)
		x -= third
	}
	if x != 0 {
		t.Fatalf("thirds leave %g", x)
	}
	return all
}

// sameThird compares bits, but for the sign of a 0.
func sameThird(a, b uint16) bool { return a == b || (a|b)&0x7FFF == 0 }

// mapThirds maps the kernels that split, where they run.
func mapThirds(t *testing.T) (*ThirdsKernels, *jit.Code) {
	t.Helper()
	host := cpuid.Host()
	if !HasGemm(AVX512, GemmAMXF32, &host.Features) {
		t.Skip("no AMX")
	}
	k, err := EmitThirds()
	if err != nil {
		t.Fatal(err)
	}
	code, err := jit.Map(k.Code)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = code.Close() })
	return k, code
}

// The thirds of rows are those of every number times the scale, where they belong,
// and the rows with an odd number are found; nothing behind a row is read.
func TestThirdsRows(t *testing.T) {
	k, code := mapThirds(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for try := range 60 {
		rows, width := 1+rng.IntN(5), 1+rng.IntN(100)
		chunks := (width + ThirdsValues - 1) / ThirdsValues
		from, err := jit.AllocGuarded(4*rows*width, 1)
		if err != nil {
			t.Fatal(err)
		}
		to, err := jit.AllocGuarded(64*thirds*chunks*rows, 1)
		if err != nil {
			t.Fatal(err)
		}
		x, odd, want := unsafe.Slice((*float32)(from.Pointer()), rows*width), make([]uint32, rows), make([]uint32, rows)
		for i := range x {
			x[i] = thirdsNumber(rng)
		}
		for r := range rows {
			if rng.IntN(3) == 0 {
				all := oddNumbers()
				x[r*width+rng.IntN(width)] = all[try%len(all)]
				want[r] = 1
			}
		}
		args := ThirdsRowsArgs{From: from.Pointer(), To: to.Pointer(), LDFrom: uintptr(4 * width), LDTo: uintptr(64 * thirds * chunks), Rows: uintptr(rows), Odd: &odd[0]}
		args.SetWidth(width)
		jit.Call(code.Entry(k.Rows), unsafe.Pointer(&args))
		for r := range rows {
			if odd[r] != want[r] {
				t.Fatalf("row %d of %v: odd %d, want %d", r, x[r*width:][:width], odd[r], want[r])
			}
			for i := 0; i < chunks*ThirdsValues && want[r] == 0; i++ {
				number := 0.0
				if i < width {
					number = float64(x[r*width+i]) * ThirdsScale
				}
				for n, third := range thirdsOf(t, number) {
					at := 2 * (((r*chunks+i/ThirdsValues)*thirds+n)*ThirdsValues + i%ThirdsValues)
					if got := binary.LittleEndian.Uint16(to.Bytes()[at:]); !sameThird(got, third) {
						t.Fatalf("%g: third %d is %#x, want %#x", number, n, got, third)
					}
				}
			}
		}
		for _, m := range []*jit.Guarded{from, to} {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The same of panels.
func TestThirdsPanels(t *testing.T) {
	k, code := mapThirds(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for try := range 60 {
		panels, chunks := 1+rng.IntN(3), 1+rng.IntN(3)
		steps := chunks * ThirdsValues
		x, to := make([]float32, panels*steps*PackedCols), make([]byte, panels*chunks*thirds*64*GemmChunk)
		odd, want := make([]uint32, panels), make([]uint32, panels)
		for i := range x {
			x[i] = thirdsNumber(rng)
		}
		for p := range panels {
			if rng.IntN(3) == 0 {
				all := oddNumbers()
				x[p*steps*PackedCols+rng.IntN(steps*PackedCols)] = all[try%len(all)]
				want[p] = 1
			}
		}
		args := ThirdsPanelsArgs{From: unsafe.Pointer(&x[0]), To: unsafe.Pointer(&to[0]), LDFrom: uintptr(4 * steps * PackedCols), LDTo: uintptr(len(to) / panels), Panels: uintptr(panels), Chunks: uintptr(chunks), Odd: &odd[0]}
		jit.Call(code.Entry(k.Panels), unsafe.Pointer(&args))
		if fmt.Sprint(odd) != fmt.Sprint(want) {
			t.Fatalf("odd panels are %v, want %v", odd, want)
		}
		for i, number := range x {
			p, step, col := i/(steps*PackedCols), i/PackedCols%steps, i%PackedCols
			if want[p] > 0 {
				continue
			}
			for n, third := range thirdsOf(t, float64(number)) {
				tile := (p*chunks+step/ThirdsValues)*thirds + n
				at := tile*64*GemmChunk + step%ThirdsValues/2*64 + 4*col + 2*(step%2)
				if got := binary.LittleEndian.Uint16(to[at:]); !sameThird(got, third) {
					t.Fatalf("%g: third %d is %#x, want %#x", number, n, got, third)
				}
			}
		}
	}
}
