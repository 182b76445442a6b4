package x86

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// halvesRow draws the numbers of a row or column: around some power of two, and unless
// it is even some of them far smaller, some rows all 0; and whether it is odd, by one of
// its numbers.
func halvesRow(rng *rand.Rand, n int, even bool) (x []float32, odd bool) {
	x = make([]float32, n)
	least, most := math.Log2(HalvesLeast)+5, math.Log2(HalvesMost)-5 // numbers are drawn within 2^5 of it
	size := math.Exp2(math.Round(least + (most-least)*rng.Float64()))
	for i := range x {
		v := max(-31, min(31, rng.NormFloat64())) * size
		switch rng.IntN(8) {
		case 0:
			v *= math.Exp2(-60 * rng.Float64())
		case 1:
			v = math.Copysign(0, v)
		case 2:
			v = math.Copysign(size, v) // the digit that counts
		}
		if even {
			v = size * (1 + 30*rng.Float64()) * float64(1-2*rng.IntN(2))
		}
		x[i] = float32(v)
	}
	if even {
		return x, false
	}
	switch rng.IntN(8) {
	case 0:
		clear(x)
	case 5:
		x[rng.IntN(n)] = float32(math.NaN()) // is no magnitude
	case 4:
		clear(x)
		x[rng.IntN(n)] = float32((2 - 0x1p-20) * size) // the greatest of its exponent
	case 1:
		all := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.Nextafter32(HalvesMost, math.MaxFloat32)}
		x[rng.IntN(n)], odd = all[rng.IntN(len(all))], true
	case 2:
		clear(x)
		all := []float32{math.SmallestNonzeroFloat32, -0x1p-126, math.Nextafter32(HalvesLeast, 0)}
		x[rng.IntN(n)], odd = all[rng.IntN(len(all))], true
	case 3:
		clear(x)
		x[rng.IntN(n)] = []float32{HalvesLeast, -HalvesLeast, HalvesMost}[rng.IntN(3)]
	}
	return x, odd
}

// greatestOf is the greatest magnitude beside those of NaN.
func greatestOf(x []float32) float64 {
	greatest := 0.0
	for _, v := range x {
		if a := math.Abs(float64(v)); a > greatest {
			greatest = a
		}
	}
	return greatest
}

// foundIn is what the numbers of a row or column are, if they are not odd.
func foundIn(x []float32) (found Found) {
	_, exp := math.Frexp(max(greatestOf(x), HalvesLeast))
	for _, v := range x {
		least := math.Abs(float64(v))
		if least < math.Ldexp(0.5, exp-halvesSmall) {
			found |= FoundSmall
		}
		if least > 0 && least < math.Ldexp(0.5, exp-halvesTiny) {
			found |= FoundTiny
		}
	}
	return found
}

// wantHalves compares halves, and what sums are to be multiplied by, with those of the
// numbers of a row or column: half gives the bits of the halves of number i.
func wantHalves(t *testing.T, x []float32, inverse uint32, half func(i, n int) uint16) {
	t.Helper()
	greatest := greatestOf(x)
	back := float64(math.Float32frombits(inverse))
	if fraction, _ := math.Frexp(back); fraction != 0.5 {
		t.Fatalf("%v: scaled by 1 / %g, which is no power of two", x, back)
	}
	if top := greatest / back; greatest > 0 && (top < 1<<halvesTop || top >= 2<<halvesTop) {
		t.Fatalf("%v: the greatest number becomes %g", x, top)
	}
	for i, v := range x {
		scaled := float64(v) / back
		first := ir.F16FromFloat32(float32(scaled))
		if math.IsInf(float64(ir.F16ToFloat32(first)), 0) {
			t.Fatalf("%g of %v: becomes %g, too large for f16", v, x, scaled)
		}
		second := ir.F16FromFloat32(float32((scaled - float64(ir.F16ToFloat32(first))) * (1 << halvesShift)))
		if got := [2]uint16{half(i, 0), half(i, 1)}; !sameThird(got[0], first) || !sameThird(got[1], second) {
			t.Fatalf("%g of %v: halves are %#x, want %#x and %#x", v, x, got, first, second)
		}
		sum := float64(ir.F16ToFloat32(first)) + float64(ir.F16ToFloat32(second))/(1<<halvesShift)
		if lost := math.Abs(sum-scaled) * back; !math.IsNaN(float64(v)) && !(lost <= max(0x1p-23*math.Abs(float64(v)), 0x1p-50*greatest)) {
			t.Fatalf("%g of %v: the halves lack %g", v, x, lost)
		}
	}
}

// The halves of rows are those of every number in its row's scale, where they belong,
// and odd rows are found; nothing behind a row is read.
func TestHalvesRows(t *testing.T) {
	k, code := mapSplit(t, GemmAMXHalves)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		rows, width := 1+rng.IntN(5), 1+rng.IntN(100)
		chunks := (width + SplitValues - 1) / SplitValues
		size := GemmAMXHalves.RowBytes(chunks * SplitValues)
		from, err := jit.AllocGuarded(4*rows*width, 1)
		if err != nil {
			t.Fatal(err)
		}
		to, err := jit.AllocGuarded(rows*size, 1)
		if err != nil {
			t.Fatal(err)
		}
		x, odd, want := unsafe.Slice((*float32)(from.Pointer()), rows*width), make([]Found, rows), make([]Found, rows)
		for r := range rows {
			row, is := halvesRow(rng, width, rng.IntN(3) == 0)
			copy(x[r*width:], row)
			if want[r] = foundIn(row); is {
				want[r] = FoundOdd
			}
		}
		args := SplitRowsArgs{From: from.Pointer(), To: to.Pointer(), LDFrom: uintptr(4 * width), LDTo: uintptr(size), Rows: uintptr(rows), Found: &odd[0]}
		args.SetWidth(width)
		jit.Call(code.Entry(k.Rows), unsafe.Pointer(&args))
		for r := range rows {
			if odd[r]&FoundOdd != want[r]&FoundOdd || want[r]&FoundOdd == 0 && odd[r] != want[r] {
				t.Fatalf("row %v is %v, want %v", x[r*width:][:width], odd[r], want[r])
			}
			if want[r]&FoundOdd != 0 {
				continue
			}
			row := to.Bytes()[r*size:][:size]
			number := append(append([]float32{}, x[r*width:][:width]...), make([]float32, chunks*SplitValues-width)...)
			wantHalves(t, number, binary.LittleEndian.Uint32(row[size-halvesScale:]), func(i, n int) uint16 {
				return binary.LittleEndian.Uint16(row[2*(i/SplitValues*halves*SplitValues+n*SplitValues+i%SplitValues):])
			})
		}
		for _, m := range []*jit.Guarded{from, to} {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The same of panels, where columns lie side by side, packed or not, and where each lies
// by itself.
func TestHalvesPanels(t *testing.T) {
	k, code := mapSplit(t, GemmAMXHalves)
	rng := rand.New(rand.NewPCG(3, 4))
	for try := range 300 {
		panels, chunks := 1+rng.IntN(3), 1+rng.IntN(3)
		steps := chunks * SplitValues
		values, lastCols := steps-rng.IntN(SplitValues), 1+rng.IntN(PackedCols) // behind them there are zeros
		kernel := k.Panels
		form := try % 3
		if form == 2 {
			kernel, values, lastCols = k.Columns, steps-rng.IntN(2)*SplitValues/2, PackedCols
		}
		size := GemmAMXHalves.PanelBytes(steps)
		count := (panels-1)*PackedCols + lastCols
		columns := make([][]float32, count)
		to := make([]byte, panels*size)
		odd, want := make([]Found, panels), make([]Found, panels)
		even := rng.IntN(3) == 0
		for c := range columns {
			var is bool
			columns[c], is = halvesRow(rng, values, even)
			for is && rng.IntN(20) > 0 { // few, as one makes its panel odd
				columns[c], is = halvesRow(rng, values, even)
			}
			if want[c/PackedCols] |= foundIn(columns[c]); is {
				want[c/PackedCols] |= FoundOdd
			}
		}
		// How they lie: numbers from k to k, from column to column, from panel to panel.
		down, beside, next := PackedCols, 1, steps*PackedCols
		switch form {
		case 1:
			down, next = count+rng.IntN(3), PackedCols
		case 2:
			down, beside = 1, values+rng.IntN(3)
			next = PackedCols * beside
		}
		at := func(c, i int) int { return c/PackedCols*next + c%PackedCols*beside + i*down }
		from, err := jit.AllocGuarded(4*(at(count-1, values-1)+1), 1) // nothing behind it is read
		if form == 0 {
			from, err = jit.AllocGuarded(4*panels*next, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		scratch, err := jit.AllocGuarded(SplitScratch(steps), 64)
		if err != nil {
			t.Fatal(err)
		}
		for i := range scratch.Bytes() {
			scratch.Bytes()[i] = 0x41 // no zeros
		}
		x := unsafe.Slice((*float32)(from.Pointer()), len(from.Bytes())/4)
		for c, column := range columns {
			for i, v := range column {
				x[at(c, i)] = v
			}
		}
		pitch := 4 * max(down, beside)
		args := SplitPanelsArgs{From: from.Pointer(), To: unsafe.Pointer(&to[0]), LDFrom: uintptr(4 * next), LDTo: uintptr(size), Panels: uintptr(panels), Chunks: uintptr(chunks),
			Found: &odd[0], Values: uintptr(values), LastColumns: 1<<lastCols - 1, Pitch: uintptr(pitch), Scratch: scratch.Pointer()}
		jit.Call(code.Entry(kernel), unsafe.Pointer(&args))
		for c := range panels * PackedCols {
			column := make([]float32, steps) // what fills it up
			if c < count {
				copy(column, columns[c])
			}
			p, lane := c/PackedCols, c%PackedCols
			if odd[p]&FoundOdd != want[p]&FoundOdd || want[p]&FoundOdd == 0 && odd[p] != want[p] {
				t.Fatalf("form %d: panel %d is %v, want %v", form, p, odd[p], want[p])
			}
			if want[p]&FoundOdd != 0 {
				continue
			}
			panel := to[p*size:][:size]
			wantHalves(t, column, binary.LittleEndian.Uint32(panel[size-halvesScale+4*lane:]), func(i, n int) uint16 {
				tile := i/SplitValues*halves + n
				return binary.LittleEndian.Uint16(panel[tile*64*GemmChunk+i%SplitValues/2*64+4*lane+2*(i%2):])
			})
		}
		for _, m := range []*jit.Guarded{from, scratch} {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
