package native

import (
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/loop"
)

// Go code that fills an argument block as a struct would find these offsets.
func TestLayout(t *testing.T) {
	type block struct {
		start, end    int64
		status, spill uintptr
		params        [3]uintptr
		symbols       [2]int64
	}
	k, err := loop.Parse(`kernel "k"
symbol M 0 9
symbol N 0 9
param a f32[M] read
param b f32[M] read
param c f32[M] write
for global i < size(N) {
	for vector j < size(M) {
		c[i*size(M) + j] = a[j] + b[i]
	}
}
`)
	if err != nil {
		t.Fatal(err)
	}
	var b block
	l := LayoutOf(k)
	for _, c := range []struct {
		name string
		got  int
		want uintptr
	}{
		{"start", l.Start, unsafe.Offsetof(b.start)},
		{"end", l.End, unsafe.Offsetof(b.end)},
		{"status", l.Status, unsafe.Offsetof(b.status)},
		{"spill", l.Spill, unsafe.Offsetof(b.spill)},
		{"params", l.Params, unsafe.Offsetof(b.params)},
		{"symbols", l.Symbols, unsafe.Offsetof(b.symbols)},
		{"all", l.Words, unsafe.Sizeof(b)},
	} {
		if uintptr(8*c.got) != c.want {
			t.Errorf("%s is word %d, not byte %d", c.name, c.got, c.want)
		}
	}
	// The symbols are in the order of their first use.
	words := SymbolWords(len(k.Params), k.Symbols())
	if words["N"] != l.Symbols || words["M"] != l.Symbols+1 {
		t.Errorf("symbols are at %v", words)
	}
	if empty := LayoutOf(&loop.Kernel{}); empty.Words != 4 {
		t.Errorf("an empty kernel has %d words", empty.Words)
	}
}
