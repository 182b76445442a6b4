package keep

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// owners makes owners without anything.
func owners(n int) []*Owner {
	all := make([]*Owner, n)
	for i := range all {
		all[i] = &Owner{}
		all[i].Renew()
	}
	return all
}

// What was computed from two buffers is found with both, by all who ask, and
// goes with the first of them that is freed.
func TestFind(t *testing.T) {
	all := owners(3)
	fresh := func() any { return new(int) }
	Find := NewShelf().NewHolder().Find
	a, b, c := all[0], all[1], all[2]
	ab := Find([]*Owner{a, b}, "sum", fresh)
	if Find([]*Owner{a, b}, "sum", fresh) != ab {
		t.Error("the same of the same buffers is kept twice")
	}
	for _, other := range []*Kept{Find([]*Owner{b, a}, "sum", fresh), Find([]*Owner{a, c}, "sum", fresh), Find([]*Owner{a, b}, "product", fresh)} {
		if other == ab {
			t.Errorf("%q is taken for %q", other.key, ab.key)
		}
	}
	if a.Count() != 4 || b.Count() != 3 || c.Count() != 1 {
		t.Errorf("%d, %d and %d are kept with the buffers, want 4, 3 and 1", a.Count(), b.Count(), c.Count())
	}
	for i, left := range []int{1, 0, 0} { // of the sum of a and c, with a
		[]*Owner{b, c, a}[i].Drop()
		if n := a.Count(); n != left {
			t.Errorf("after %d dropped buffers a keeps %d, want %d", i+1, n, left)
		}
	}
}

// What is kept is not found when one of the values it was computed from has
// changed, whoever kept it and when.
func TestChanged(t *testing.T) {
	all := owners(2)
	Find := NewShelf().NewHolder().Find
	old := Find(all, "sum", func() any { return 1 })
	number := all[1].Number()
	all[1].Changed()
	if all[0].Count() != 0 || all[1].Count() != 0 || all[1].Number() == number {
		t.Errorf("%d and %d are kept with changed values, number %d was %d", all[0].Count(), all[1].Count(), all[1].Number(), number)
	}
	if now := Find(all, "sum", func() any { return 2 }); now == old || now.Value != 2 {
		t.Errorf("%v is found for changed values", now.Value)
	}
	number = all[0].Number()
	owner := owners(1)[0]
	before := owner.Number()
	owner.Changed()
	if owner.Number() != before || all[0].Number() != number {
		t.Error("a buffer of which nothing is kept has become another one")
	}
}

// result is memory that counts who uses it.
type result struct{ uses int }

func (r *result) Close() error { r.uses--; return nil }
func (r *result) Size() int    { return 1 }

// counted keeps results that are in use; stored is how many of a program's
// there are.
func counted() (rules *Rules[*result], h *Holder, stored func() int) {
	h = NewShelf().NewHolder()
	return &Rules[*result]{Retain: func(r *result) { r.uses++ }}, h, func() int {
		n := 0
		for k := range h.uses {
			if k.Value.(*Results[*result]).have {
				n++
			}
		}
		return n
	}
}

// Results are found while the weights are the same, and in use until all have
// let go.
func TestLast(t *testing.T) {
	rules, h, stored := counted()
	all := owners(2)
	made := 0
	find := func(l *Last[*result], weights ...*Owner) *result {
		t.Helper()
		at := func(i int) (*Owner, uint64) { return weights[i], weights[i].Number() }
		if have, ok := l.Known(at); ok {
			return have[0]
		}
		have, err := l.Find(context.Background(), rules, &Recipe{What: "sum", Leaves: make([]int, len(weights))}, at, h, func() ([]*result, error) {
			made++
			return []*result{{1}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return have[0]
	}
	var l, other Last[*result]
	first := find(&l, all[0])
	if find(&l, all[0]) != first || find(&other, all[0]) != first || made != 1 || first.uses != 4 || stored() != 1 {
		t.Errorf("computed %d times, %d uses, %d stored: want 1, 4, 1", made, first.uses, stored())
	}
	if find(&l, all[1]) == first {
		t.Error("another weight has the same results")
	}
	all[0].Changed()
	if first.uses != 3 || stored() != 1 {
		t.Errorf("of changed values %d uses are left, want those of 3, and %d stored, want 1", first.uses, stored())
	}
	if find(&other, all[0]) == first || made != 3 {
		t.Error("the results of old values are found")
	}
	all[0].Drop()
	all[1].Drop()
	if stored() != 0 {
		t.Errorf("%d are stored of freed weights", stored())
	}
}

// What is dropped while it is computed is for that one use.
func TestDroppedMeanwhile(t *testing.T) {
	rules, h, stored := counted()
	o := owners(1)
	var l Last[*result]
	at := func(int) (*Owner, uint64) { return o[0], o[0].Number() }
	have, err := l.Find(context.Background(), rules, &Recipe{What: "sum", Leaves: []int{0}}, at, h, func() ([]*result, error) {
		o[0].Changed()
		return []*result{{1}}, nil
	})
	if err != nil || have[0].uses != 1 || stored() != 0 {
		t.Errorf("%d uses, %d stored, %v: want 1, 0", have[0].uses, stored(), err)
	}
	if _, ok := l.Known(at); ok {
		t.Error("what was dropped is known")
	}
}

// Whoever waits for another's first run may be cancelled.
func TestWaitCancelled(t *testing.T) {
	rules, _, _ := counted()
	r := NewResults(rules)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := r.get(context.Background(), func() ([]*result, error) {
		cancel()
		if _, err := r.get(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("waiting ended with %v", err)
		}
		return nil, errors.New("no memory")
	})
	if err == nil || err.Error() != "no memory" {
		t.Errorf("computing ended with %v", err)
	}
	if got, err := r.get(context.Background(), func() ([]*result, error) { return []*result{{}}, nil }); err != nil || len(got) != 1 {
		t.Errorf("after a failure: %v, %v", got, err)
	}
}

// What is made of many buffers, of which the first changes before the last knows of it,
// goes with its program at the latest.
func TestFindBesideAChange(t *testing.T) {
	all, s := owners(200), NewShelf()
	for range 300 {
		h := s.NewHolder()
		var changed sync.WaitGroup
		changed.Go(all[0].Changed)
		h.Find(all, "sum", func() any { return new(int) })
		changed.Wait()
		h.Close()
		if n := all[len(all)-1].Count(); n != 0 {
			t.Fatalf("%d are kept with a buffer of a program that is gone", n)
		}
	}
}

// What a program that is closed, though somebody held it, shared with one that rests
// counts for that one.
func TestRestingAlone(t *testing.T) {
	w := owners(1)[0]
	s := NewShelf()
	a, b := s.NewHolder(), s.NewHolder()
	for _, h := range []*Holder{a, b} {
		h.Find([]*Owner{w}, "shared", func() any { return new(int) }).Takes(1000)
	}
	b.Rest()
	a.Close()
	if s.bytes != 1000 {
		t.Errorf("%d bytes of programs that rest, want 1000", s.bytes)
	}
	b.Close()
	if s.bytes != 0 {
		t.Errorf("%d bytes of none", s.bytes)
	}
}
