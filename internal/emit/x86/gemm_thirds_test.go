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

func TestSplitArgs(t *testing.T) {
	var a SplitRowsArgs
	var b SplitPanelsArgs
	var c SplitTurnedArgs
	for name, at := range map[string][2]uintptr{
		"From": {unsafe.Offsetof(a.From), splitFrom}, "To": {unsafe.Offsetof(a.To), splitTo}, "LDFrom": {unsafe.Offsetof(a.LDFrom), splitLDFrom}, "LDTo": {unsafe.Offsetof(a.LDTo), splitLDTo},
		"Rows": {unsafe.Offsetof(a.Rows), splitCount}, "Chunks": {unsafe.Offsetof(a.Chunks), splitChunks}, "Rest": {unsafe.Offsetof(a.Rest), splitRest}, "Found": {unsafe.Offsetof(a.Found), splitFoundA},
		"panels' From": {unsafe.Offsetof(b.From), splitFrom}, "panels' To": {unsafe.Offsetof(b.To), splitTo}, "panels' LDFrom": {unsafe.Offsetof(b.LDFrom), splitLDFrom}, "panels' LDTo": {unsafe.Offsetof(b.LDTo), splitLDTo},
		"squares' From": {unsafe.Offsetof(c.From), splitFrom}, "squares' To": {unsafe.Offsetof(c.To), splitTo}, "squares' LDFrom": {unsafe.Offsetof(c.LDFrom), splitLDFrom}, "squares' LDTo": {unsafe.Offsetof(c.LDTo), splitLDTo},
		"Squares": {unsafe.Offsetof(c.Squares), splitCount}, "squares' Chunks": {unsafe.Offsetof(c.Chunks), splitChunks}, "squares' Found": {unsafe.Offsetof(c.Found), splitFoundB}, "Scratch": {unsafe.Offsetof(c.Scratch), splitScratch},
		"Panels": {unsafe.Offsetof(b.Panels), splitCount}, "panels' Chunks": {unsafe.Offsetof(b.Chunks), splitChunks}, "panels' Found": {unsafe.Offsetof(b.Found), splitFoundB}, "Values": {unsafe.Offsetof(b.Values), splitValues}, "LastColumns": {unsafe.Offsetof(b.LastColumns), splitLast},
		"Pitch": {unsafe.Offsetof(b.Pitch), splitPitch}, "panels' Scratch": {unsafe.Offsetof(b.Scratch), splitIn}, "Ahead": {unsafe.Offsetof(b.Ahead), splitAhead},
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

// mapSplit maps the kernels that split, where they run.
func mapSplit(t testing.TB, f GemmFormat) (*SplitKernels, *jit.Code) {
	t.Helper()
	host := cpuid.Host()
	host.AMXFP16 = host.AMXFP16 || cpuid.HidesAMXFP16()
	if !HasGemm(AVX512, f, &host.Features) {
		t.Skipf("no %v", f)
	}
	k, err := EmitSplit(f)
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
	k, code := mapSplit(t, GemmAMXThirds)
	rng := rand.New(rand.NewPCG(1, 2))
	for try := range 60 {
		rows, width := 1+rng.IntN(5), 1+rng.IntN(100)
		chunks := (width + SplitValues - 1) / SplitValues
		from, err := jit.AllocGuarded(4*rows*width, 1)
		if err != nil {
			t.Fatal(err)
		}
		to, err := jit.AllocGuarded(64*thirds*chunks*rows, 1)
		if err != nil {
			t.Fatal(err)
		}
		x, odd, want := unsafe.Slice((*float32)(from.Pointer()), rows*width), make([]Found, rows), make([]Found, rows)
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
		args := SplitRowsArgs{From: from.Pointer(), To: to.Pointer(), LDFrom: uintptr(4 * width), LDTo: uintptr(64 * thirds * chunks), Rows: uintptr(rows), Found: &odd[0]}
		args.SetWidth(width)
		jit.Call(code.Entry(k.Rows), unsafe.Pointer(&args))
		for r := range rows {
			if odd[r] != want[r] {
				t.Fatalf("row %d of %v: odd %d, want %d", r, x[r*width:][:width], odd[r], want[r])
			}
			for i := 0; i < chunks*SplitValues && want[r] == 0; i++ {
				number := 0.0
				if i < width {
					number = float64(x[r*width+i]) * ThirdsScale
				}
				for n, third := range thirdsOf(t, number) {
					at := 2 * (((r*chunks+i/SplitValues)*thirds+n)*SplitValues + i%SplitValues)
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
	k, code := mapSplit(t, GemmAMXThirds)
	rng := rand.New(rand.NewPCG(3, 4))
	for try := range 60 {
		panels, chunks := 1+rng.IntN(3), 1+rng.IntN(3)
		steps := chunks * SplitValues
		x, to := make([]float32, panels*steps*PackedCols), make([]byte, panels*chunks*thirds*64*GemmChunk)
		odd, want := make([]Found, panels), make([]Found, panels)
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
		args := SplitPanelsArgs{From: unsafe.Pointer(&x[0]), To: unsafe.Pointer(&to[0]), LDFrom: uintptr(4 * steps * PackedCols), LDTo: uintptr(len(to) / panels), Panels: uintptr(panels), Chunks: uintptr(chunks), Found: &odd[0]}
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
				tile := (p*chunks+step/SplitValues)*thirds + n
				at := tile*64*GemmChunk + step%SplitValues/2*64 + 4*col + 2*(step%2)
				if got := binary.LittleEndian.Uint16(to[at:]); !sameThird(got, third) {
					t.Fatalf("%g: third %d is %#x, want %#x", number, n, got, third)
				}
			}
		}
	}
}
