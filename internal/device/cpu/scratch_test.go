package cpu

import (
	"testing"
	"unsafe"
)

// Steps that got scratch before it grew are bound again, and what had become too
// small is given back.
func TestScratchGrows(t *testing.T) {
	d, err := New(Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, sizes := range [][]int{{64, 100 << 10, 300 << 10}, {200 << 10, 4 << 20, 64, 5 << 20, 6 << 20}} {
		r := &binding{module: &module{device: d, holder: d.shelf.NewHolder()}, workers: 2}
		steps := make([][]unsafe.Pointer, len(sizes))
		err := r.settle(func(bool) (err error) {
			for i, n := range sizes {
				if steps[i], err = r.scratch(n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for i, n := range sizes {
			most = max(most, 2*n)
			for worker, p := range steps[i] {
				if !r.holds(p, n) {
					t.Errorf("%v: scratch of step %d, worker %d, was given back", sizes, i, worker)
				}
			}
		}
		if got := r.mapped(); got > most+keptScratch+64<<10 {
			t.Errorf("%v: %d bytes of scratch, want about %d", sizes, got, most)
		}
		r.close()
	}
}

// A step that asks for more when it is bound again has all bound once more.
func TestScratchGrowsAgain(t *testing.T) {
	d, err := New(Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	r := &binding{module: &module{device: d, holder: d.shelf.NewHolder()}, workers: 2}
	defer r.close()
	times := 0
	var first []unsafe.Pointer
	err = r.settle(func(bool) (err error) {
		if first, err = r.scratch(200 << 10); err == nil {
			times++
			_, err = r.scratch(min(2+2*times, 6) << 20)
		}
		if err == nil && times == 1 {
			_, err = r.scratch(5 << 20)
		}
		return err
	})
	if err != nil || times != 3 || r.stale || !r.holds(first[1], 200<<10) {
		t.Errorf("%v, bound %d times, scratch given back %v", err, times, r.stale)
	}
}

// holds tells whether n bytes from p on are scratch of r.
func (r *binding) holds(p unsafe.Pointer, n int) bool {
	for _, m := range r.blocks {
		if from := uintptr(p) - uintptr(m.Pointer()); from <= uintptr(m.Mapped()-n) {
			return true
		}
	}
	return false
}
