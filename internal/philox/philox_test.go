package philox

import "testing"

// Known answers published with the authors' Random123 library (kat_vectors,
// philox4x32 10).
func TestKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{},
			[4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := Block(c.counter, c.key); got != c.want {
			t.Errorf("Block(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

// The counter layout is part of what a seed means: it never changes.
func TestLayout(t *testing.T) {
	k := Key{0xa4093822, 0x299f31d0, 0x13198a2e, 0x03707344}
	i := uint64(0x85a308d3_243f6a88)
	want := [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}
	// The index that has this counter is 4*i, above what a tensor can hold
	// when i is 64 bits wide; block takes the counter itself.
	if got := block(k, i); got != want {
		t.Errorf("block = %x, want %x", got, want)
	}
	var second [1]uint32
	if Fill(Key{}, 2, second[:]); second[0] != 0xbc57ac4c {
		t.Errorf("word 2 = %x, want word 2 of the first block", second[0])
	}
}

func TestFill(t *testing.T) {
	k := Key{1, 2, 3, 4}
	for _, first := range []uint64{0, 1, 3, 4, 1<<34 - 5} {
		for n := range 11 {
			out := make([]uint32, n)
			Fill(k, first, out)
			for j, got := range out {
				i := first + uint64(j)
				if want := block(k, i/4)[i%4]; got != want {
					t.Fatalf("Fill(%d)[%d] = %x, want %x", first, j, got, want)
				}
			}
		}
	}
}
