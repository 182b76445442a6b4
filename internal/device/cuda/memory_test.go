package cuda

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
)

// own is what a device has for itself, in bytes.
const own = 64

// The driver's pool is in the figures, and is emptied by TrimMemory.
func TestPoolFigures(t *testing.T) {
	f := &cutest.Fake{}
	d := openFake(t, f)
	var all []device.Buffer
	for _, n := range []int{1000, 2000, 4000} {
		b, err := d.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	for i, want := range []device.MemStats{
		{Allocated: 7000, Peak: 7000}, {Allocated: 6000, Cached: 1000, Peak: 7000}, {Allocated: 4000, Cached: 3000, Peak: 7000}, {Cached: 7000, Peak: 7000},
	} {
		if got := d.Stats(); got != want || f.Reserved() != 7000+own {
			t.Errorf("%d closed: %+v, not %+v; the driver has %d bytes", i, got, want, f.Reserved())
		}
		if i == len(all) {
			break
		}
		if err := all[i].Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.TrimMemory(); err != nil || d.Stats().Cached != 0 || f.Reserved() != own {
		t.Errorf("trimmed: %+v, %d bytes, %v", d.Stats(), f.Reserved(), err)
	}
}

// A limit bounds what the driver holds as well.
func TestPoolLimit(t *testing.T) {
	const limit = 100_000
	f := &cutest.Fake{}
	d := openFake(t, f)
	before, err := d.Alloc(60_000)
	if err == nil {
		err = before.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	d.SetMemoryLimit(limit)
	next, err := d.Alloc(70_000) // for which the pool has no room without giving back
	if err == nil {
		err = next.Close()
	}
	if err != nil || f.MostReserved() > limit+own {
		t.Fatalf("the driver had %d bytes, %v", f.MostReserved(), err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var held []device.Buffer
	refused := 0
	for range 2000 {
		b, err := d.Alloc(1000 + r.IntN(40)*1000)
		var full *device.OutOfMemoryError
		switch {
		case errors.As(err, &full) && full.Limit == limit && full.Size > limit-full.Allocated:
			refused++
		case err != nil:
			t.Fatal(err)
		default:
			held = append(held, b)
		}
		if n := f.Reserved(); n > limit+own {
			t.Fatalf("the driver has %d bytes", n)
		}
		for len(held) > 0 && (err != nil || r.IntN(2) == 0) {
			i := r.IntN(len(held))
			if err := held[i].Close(); err != nil {
				t.Fatal(err)
			}
			held = slices.Delete(held, i, i+1)
			err = nil
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	for _, b := range held {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if d.Stats().Cached == 0 {
		t.Error("nothing is held for later within the limit")
	}
	d.SetMemoryLimit(0)
	b, err := d.Alloc(2 * limit)
	if err == nil {
		err = b.Close()
	}
	if err != nil || f.Reserved() < 2*limit {
		t.Errorf("without a limit: %d bytes, %v", f.Reserved(), err)
	}
}

// A driver that is full is asked again once its pool has been emptied.
func TestPoolIsFull(t *testing.T) {
	d := openFake(t, &cutest.Fake{Room: 10_000 + own})
	a, err := d.Alloc(6000)
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(7000)
	if err != nil {
		t.Fatalf("the pool is not emptied: %v", err)
	}
	var full *device.OutOfMemoryError
	if _, err := d.Alloc(4000); !errors.As(err, &full) || full.Size != 4000 || full.Allocated != 7000 || full.Err == nil {
		t.Errorf("%v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
