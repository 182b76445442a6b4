package x86

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/jit"
)

// Rows that lie by columns have the halves, the scales and what is found that they have
// where they lie side by side.
func TestHalvesTurned(t *testing.T) {
	k, code := mapSplit(t, GemmAMXHalves)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		squares, chunks, gap := 1+rng.IntN(3), 1+rng.IntN(7), rng.IntN(3)
		rows, width := squares*PackedCols, chunks*SplitValues
		pitch, size := rows+gap, GemmAMXHalves.RowBytes(width)
		plain := make([]float32, rows*width)
		from, err := jit.AllocGuarded(4*(width*pitch-gap), 1)
		if err != nil {
			t.Fatal(err)
		}
		scratch, err := jit.AllocGuarded(SplitScratch(width), 64)
		if err != nil {
			t.Fatal(err)
		}
		to, err := jit.AllocGuarded(rows*size, 1)
		if err != nil {
			t.Fatal(err)
		}
		turned := unsafe.Slice((*float32)(from.Pointer()), width*pitch-gap)
		even := rng.IntN(2) == 0
		for r := range rows {
			row, _ := halvesRow(rng, width, even || rng.IntN(2) == 0)
			copy(plain[r*width:], row)
			for i, v := range row {
				turned[i*pitch+r] = v
			}
		}
		found, want, wantTo := make([]Found, rows), make([]Found, rows), make([]byte, rows*size)
		jit.Call(code.Entry(k.Turned), unsafe.Pointer(&SplitTurnedArgs{From: from.Pointer(), To: to.Pointer(), LDFrom: uintptr(4 * pitch), LDTo: uintptr(size), Squares: uintptr(squares), Chunks: uintptr(chunks), Found: &found[0], Scratch: scratch.Pointer()}))
		args := SplitRowsArgs{From: unsafe.Pointer(&plain[0]), To: unsafe.Pointer(&wantTo[0]), LDFrom: uintptr(4 * width), LDTo: uintptr(size), Rows: uintptr(rows), Found: &want[0]}
		args.SetWidth(width)
		jit.Call(code.Entry(k.Rows), unsafe.Pointer(&args))
		if !slices.Equal(found, want) {
			t.Fatalf("%d rows of %d: found %v, want %v", rows, width, found, want)
		}
		for r := range rows {
			const scale = halvesScale - 4 // behind it nothing is written
			if got, want := to.Bytes()[r*size:][:size-scale], wantTo[r*size:][:size-scale]; !bytes.Equal(got, want) {
				t.Fatalf("row %d of %d, %d numbers: halves differ", r, rows, width)
			}
		}
		for _, m := range []*jit.Guarded{from, to, scratch} {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
