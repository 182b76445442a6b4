package x86

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/jit"
)

// BenchmarkSplit is the time of splitting a number, by rows of a tile and by panels:
// of a block that the first cache holds, or of more; where they lie side by side or apart,
// and by columns.
func BenchmarkSplit(b *testing.B) {
	const width, tile = 192, 32
	for _, format := range []GemmFormat{GemmAMXHalves, GemmAMXThirds} {
		b.Run(format.String(), func(b *testing.B) {
			k, code := mapSplit(b, format)
			rng := rand.New(rand.NewPCG(1, 2))
			for _, rows := range []int{tile, 32 * tile} {
				from, found := make([]float32, rows*width), make([]Found, rows)
				for i := range from {
					from[i] = float32(rng.NormFloat64())
				}
				to, err := jit.AllocGuarded(max(tile*format.RowBytes(width), rows/PackedCols*format.PanelBytes(width)), 64)
				if err != nil {
					b.Fatal(err)
				}
				report := func(b *testing.B) {
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(from)), "ns/number")
				}
				b.Run("rows/"+strconv.Itoa(rows), func(b *testing.B) {
					for b.Loop() {
						for r := 0; r < rows; r += tile {
							args := SplitRowsArgs{From: unsafe.Pointer(&from[r*width]), To: to.Pointer(), LDFrom: 4 * width, LDTo: uintptr(format.RowBytes(width)), Rows: tile, Found: &found[r]}
							args.SetWidth(width)
							jit.Call(code.Entry(k.Rows), unsafe.Pointer(&args))
						}
					}
					report(b)
				})
				scratch, err := jit.AllocGuarded(SplitScratch(width), 64)
				if err != nil {
					b.Fatal(err)
				}
				panels := SplitPanelsArgs{From: unsafe.Pointer(&from[0]), To: to.Pointer(), LDFrom: 4 * width * PackedCols, LDTo: uintptr(format.PanelBytes(width)), Panels: uintptr(rows / PackedCols), Chunks: width / SplitValues,
					Found: &found[0], Values: width, LastColumns: 1<<PackedCols - 1, Pitch: 4 * PackedCols, Scratch: scratch.Pointer()}
				apart, columns := panels, panels
				apart.LDFrom, apart.Pitch = 4*PackedCols, uintptr(4*rows)
				columns.Pitch = 4 * width
				for _, form := range []struct {
					name   string
					kernel int
					args   SplitPanelsArgs
				}{{"panels", k.Panels, panels}, {"apart", k.Panels, apart}, {"columns", k.Columns, columns}} {
					if form.name != "panels" && format != GemmAMXHalves {
						continue
					}
					b.Run(form.name+"/"+strconv.Itoa(rows/PackedCols), func(b *testing.B) {
						for b.Loop() {
							jit.Call(code.Entry(form.kernel), unsafe.Pointer(&form.args))
						}
						report(b)
					})
				}
				if format == GemmAMXHalves {
					b.Run("turned/"+strconv.Itoa(rows), func(b *testing.B) {
						for b.Loop() {
							for r := 0; r < rows; r += tile {
								jit.Call(code.Entry(k.Turned), unsafe.Pointer(&SplitTurnedArgs{From: unsafe.Pointer(&from[r]), To: to.Pointer(), LDFrom: uintptr(4 * rows), LDTo: uintptr(format.RowBytes(width)), Squares: tile / PackedCols, Chunks: width / SplitValues, Found: &found[r], Scratch: scratch.Pointer()}))
							}
						}
						report(b)
					})
				}
				if err := scratch.Close(); err != nil {
					b.Error(err)
				}
				if err := to.Close(); err != nil {
					b.Error(err)
				}
			}
		})
	}
}
