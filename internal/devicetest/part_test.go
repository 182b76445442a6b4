package devicetest

import "testing"

// The parts together are all, and nothing is in two.
func TestParts(t *testing.T) {
	for of := 1; of <= 3; of++ {
		for i := range 2*of + 1 {
			in := 0
			for number := 1; number <= of; number++ {
				if (Part{number, of}).has(i) {
					in++
				}
			}
			if in != 1 || !(Part{}).has(i) {
				t.Errorf("%d is in %d of %d parts", i, in, of)
			}
		}
	}
	for _, p := range []Part{{0, 2}, {3, 2}, {1, 0}, {-1, -1}} {
		if p.valid() {
			t.Errorf("part %d of %d would be nothing or all", p.Number, p.Of)
		}
	}
}
