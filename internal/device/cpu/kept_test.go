package cpu

import "testing"

// What was computed from two buffers is found with both, by all who ask, and
// goes with the first of them that is freed.
func TestKeep(t *testing.T) {
	d := machines(t)[0]
	buffers := make([]*buffer, 3)
	for i := range buffers {
		var err error
		if buffers[i], err = d.newBuffer(8); err != nil {
			t.Fatal(err)
		}
	}
	count := func(b *buffer) (n int) {
		b.kept.Range(func(any, any) bool { n++; return true })
		return n
	}
	fresh := func() any { return new(int) }
	a, b, c := buffers[0], buffers[1], buffers[2]
	ab := keep([]*buffer{a, b}, "sum", fresh)
	if keep([]*buffer{a, b}, "sum", fresh) != ab {
		t.Error("the same of the same buffers is kept twice")
	}
	for _, other := range []*kept{keep([]*buffer{b, a}, "sum", fresh), keep([]*buffer{a, c}, "sum", fresh), keep([]*buffer{a, b}, "product", fresh)} {
		if other == ab {
			t.Errorf("%q is taken for %q", other.key, ab.key)
		}
	}
	if count(a) != 4 || count(b) != 3 || count(c) != 1 {
		t.Errorf("%d, %d and %d are kept with the buffers, want 4, 3 and 1", count(a), count(b), count(c))
	}
	for i, left := range []int{1, 0, 0} { // of the sum of a and c, with a
		if err := []*buffer{b, c, a}[i].Close(); err != nil {
			t.Fatal(err)
		}
		if n := count(a); n != left {
			t.Errorf("after %d closed buffers a keeps %d, want %d", i+1, n, left)
		}
	}
}
