package x86

import "testing"

// Columns that lie far apart are fetched, a line a step, and those that lie near are not.
func TestGemmFetchesColumns(t *testing.T) {
	for _, format := range []GemmFormat{GemmF32, GemmF64} {
		for form, want := range map[GemmForm]int{GemmPanels: 0, GemmColumns: 0, GemmFarColumns: GemmUnroll} {
			a, err := emitGemmTile(AVX512, format, GemmTiles(AVX512, format)[0], false, form, false)
			if err != nil {
				t.Fatal(err)
			}
			fetched := 0
			for _, l := range innerLoop(a.Lines()) {
				if l.Text == "prefetcht1 byte ptr [r10 + 64]" {
					fetched++
				}
			}
			if fetched != want {
				t.Errorf("%v, form %d: %d lines fetched in a round, want %d", format, form, fetched, want)
			}
		}
	}
}
