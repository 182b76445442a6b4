package x86

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/jit"
)

func TestWiden(t *testing.T) {
	var g WidenArgs
	for name, at := range map[string][2]uintptr{
		"From": {unsafe.Offsetof(g.From), widenFrom}, "To": {unsafe.Offsetof(g.To), widenTo}, "LDFrom": {unsafe.Offsetof(g.LDFrom), widenLDFrom},
		"LDTo": {unsafe.Offsetof(g.LDTo), widenLDTo}, "Rows": {unsafe.Offsetof(g.Rows), widenRows}, "Blocks": {unsafe.Offsetof(g.Blocks), widenBlocks},
	} {
		if at[0] != at[1] {
			t.Errorf("%s is at %d, not %d", name, at[0], at[1])
		}
	}
	eachISA(t, func(t *testing.T, _ ISA) { // both have AVX2
		text, err := EmitWiden()
		if err != nil {
			t.Fatal(err)
		}
		code, err := jit.Map(text)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = code.Close() }()
		rng := rand.New(rand.NewPCG(1, 2))
		for _, c := range [][2]int{{1, 1}, {1, 3}, {5, 1}, {7, 4}} {
			testWiden(t, rng, code.Entry(0), c[0], c[1])
		}
	})
}

// testWiden widens rows between guards, whose ends lie apart.
func testWiden(t *testing.T, rng *rand.Rand, entry uintptr, rows, blocks int) {
	t.Helper()
	n := blocks * WidenBlock
	ldFrom, ldTo := n+3, 2*n+12
	from, err := jit.AllocGuarded((rows-1)*ldFrom+n, 1)
	if err != nil {
		t.Fatal(err)
	}
	to, err := jit.AllocGuarded((rows-1)*ldTo+2*n, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range from.Bytes() {
		from.Bytes()[i] = byte(rng.IntN(256))
	}
	for i := range to.Bytes() {
		to.Bytes()[i] = 0xA5
	}
	want := make([]byte, len(to.Bytes()))
	copy(want, to.Bytes())
	for r := range rows {
		for i := range n {
			step, in := i/4, i%4
			at := r*ldTo + 8*step + 4*(in%2) + 2*(in/2)
			want[at], want[at+1] = from.Bytes()[r*ldFrom+i], 0
		}
	}
	args := WidenArgs{From: from.Pointer(), To: to.Pointer(), LDFrom: uintptr(ldFrom), LDTo: uintptr(ldTo), Rows: uintptr(rows), Blocks: uintptr(blocks)}
	if err := jit.Protect(func() error { jit.Call(entry, unsafe.Pointer(&args)); return nil }); err != nil {
		t.Fatalf("%d rows of %d blocks: %v", rows, blocks, err)
	}
	for i, b := range to.Bytes() {
		if b != want[i] {
			t.Fatalf("%d rows of %d blocks: byte %d is %d, want %d", rows, blocks, i, b, want[i])
		}
	}
	if err := from.Close(); err != nil {
		t.Error(err)
	}
	if err := to.Close(); err != nil {
		t.Error(err)
	}
}
