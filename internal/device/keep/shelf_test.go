package keep

import "testing"

// What is kept goes with the last program that uses it, though the weight stays.
func TestShelfClose(t *testing.T) {
	w := owners(1)[0]
	s := NewShelf()
	a, b := s.NewHolder(), s.NewHolder()
	fresh := func() any { return new(int) }
	both := a.Find([]*Owner{w}, "both", fresh)
	if b.Find([]*Owner{w}, "both", fresh) != both {
		t.Fatal("two programs keep the same twice")
	}
	a.Find([]*Owner{w}, "a", fresh)
	a.Find([]*Owner{&a.Owner}, "of no weight", fresh)
	a.Close()
	if w.Count() != 1 || a.Count() != 0 || len(s.all) != 1 {
		t.Errorf("%d and %d are kept, %d on the shelf: want 1, 0 and 1", w.Count(), a.Count(), len(s.all))
	}
	b.Rest()
	b.Close()
	if w.Count() != 0 || len(s.all) != 0 || s.bytes != 0 {
		t.Errorf("%d are kept, %d on the shelf, %d bytes: want none", w.Count(), len(s.all), s.bytes)
	}
}

// Programs that nobody holds keep what they alone use within bounds: those that
// have rested longest go first, and the last one to rest has all that it needs.
func TestShelfRest(t *testing.T) {
	w := owners(1)[0]
	s := NewShelf()
	s.limit = 25
	fresh := func() any { return new(int) }
	held := s.NewHolder()
	held.Find([]*Owner{w}, "shared", fresh).Takes(1000)
	var all []*Holder
	program := func(name string, bytes int) {
		h := s.NewHolder()
		h.Find([]*Owner{w}, name, fresh).Takes(bytes)
		h.Find([]*Owner{w}, "shared", fresh)
		all = append(all, h)
	}
	kept := func(want string) {
		t.Helper()
		got := ""
		for _, name := range []string{"a", "b", "c", "d", "shared"} {
			for k := range s.all {
				if k.key[:len(k.key)-8] == name {
					got += name + " "
				}
			}
		}
		if got != want {
			t.Errorf("%sare kept, want %s", got, want)
		}
	}
	program("a", 10)
	program("b", 10)
	program("c", 10)
	for _, h := range all[:2] {
		h.Rest()
	}
	kept("a b c shared ")
	all[0].Rest() // again
	all[0].Wake()
	all[0].Rest()
	all[2].Rest() // too much: b has rested longest now
	kept("a c shared ")
	held.Close() // and what they share counts too
	program("d", 10)
	all[3].Rest()
	kept("d shared ")
	w.Changed()
	kept("")
	if s.bytes != 0 || w.Count() != 0 {
		t.Errorf("%d bytes of %d are left of a weight that has changed", s.bytes, w.Count())
	}
}

// What is dropped while a program looks for it is not on the shelf for good.
func TestShelfDropped(t *testing.T) {
	w := owners(1)[0]
	s := NewShelf()
	k := s.find([]*Owner{w}, []uint64{w.Number()}, "sum", func() any { return new(int) })
	k.Drop()
	h := s.NewHolder()
	h.use(k)
	if len(s.all) != 0 || len(h.uses) != 0 {
		t.Error("what was dropped is kept again")
	}
}
