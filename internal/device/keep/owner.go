// Package keep is what devices have in common that keep what they computed of
// weights alone: which kernels of a plan compute it, where it is found, and when
// it goes.
package keep

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"weak"
)

// Owner is the part of a buffer that has what was computed from its values. The
// buffer calls Renew before anything else, Changed when its values are other
// ones, and Drop when it is freed.
type Owner struct {
	number atomic.Uint64
	some   atomic.Bool // anything was kept under the number
	kept   sync.Map    // key -> *Kept
}

var numbers atomic.Uint64 // given so far

// Renew gives the owner a number that nobody in the process has ever had.
func (o *Owner) Renew() { o.number.Store(numbers.Add(1)) }

// Number stands for the buffer and its values.
func (o *Owner) Number() uint64 { return o.number.Load() }

// Watch is Number, and has Changed give another one although nothing is kept.
func (o *Owner) Watch() uint64 {
	o.some.Store(true)
	return o.Number()
}

// Changed drops what was computed from the values, which are other ones now.
// Who has begun to compute of the old ones keeps that under the old number, where
// nobody finds it.
func (o *Owner) Changed() {
	if o.some.Swap(false) {
		o.Renew()
		o.Drop()
	}
}

// Drop forgets what was computed from the values.
func (o *Owner) Drop() {
	o.kept.Range(func(_, k any) bool {
		k.(*Kept).Drop()
		return true
	})
}

// Count is how much is kept that was computed from the values.
func (o *Owner) Count() (n int) {
	for range o.kept.Range {
		n++
	}
	return n
}

// All visits what was computed from the values.
func (o *Owner) All(visit func(k *Kept)) {
	o.kept.Range(func(_, k any) bool {
		visit(k.(*Kept))
		return true
	})
}

// Kept is what was computed from the values of buffers: an operand packed, or
// the results of constant kernels. Each of the buffers has it, so that it is
// found by programs that compute the same, and dropped with the first of them
// that is freed or changed, or with the last of these programs.
type Kept struct {
	shelved
	Value any
	key   string
	from  []weak.Pointer[Owner]
}

// Find finds what is kept under a name with these buffers, of which there is at
// least one, for the program to use. Where there is nothing yet it is fresh's
// result, the same for all who ask at once.
func (h *Holder) Find(from []*Owner, what string, fresh func() any) *Kept {
	numbers := make([]uint64, len(from))
	for i, o := range from {
		numbers[i] = o.Number()
	}
	return h.findAs(from, numbers, what, fresh)
}

// findAs is Find for the values that buffers had when these were their numbers.
func (h *Holder) findAs(from []*Owner, numbers []uint64, what string, fresh func() any) *Kept {
	k := h.shelf.find(from, numbers, what, fresh)
	h.use(k)
	return k
}

func (s *Shelf) find(from []*Owner, numbers []uint64, what string, fresh func() any) *Kept {
	// By numbers that are never used again: addresses are.
	key := make([]byte, 0, len(what)+8*len(from))
	key = append(key, what...)
	for _, n := range numbers {
		key = binary.LittleEndian.AppendUint64(key, n)
	}
	if have, ok := from[0].kept.Load(string(key)); ok {
		return have.(*Kept)
	}
	k := &Kept{key: string(key), Value: fresh(), shelved: shelved{shelf: s}}
	for _, o := range from {
		k.from = append(k.from, weak.Make(o))
	}
	for _, o := range from {
		o.some.Store(true)
	}
	have, loaded := from[0].kept.LoadOrStore(k.key, k)
	if !loaded {
		for _, o := range from[1:] {
			o.kept.Store(k.key, k)
		}
		s.mu.Lock()
		dropped := k.dropped
		s.mu.Unlock()
		if dropped { // the first has changed meanwhile: nobody would find what the others have
			k.leave()
		}
	}
	return have.(*Kept)
}

// leave takes k from all owners.
func (k *Kept) leave() {
	for _, p := range k.from {
		if o := p.Value(); o != nil {
			o.kept.CompareAndDelete(k.key, k)
		}
	}
}

// Drop forgets k. Results are freed when nobody uses them any more.
func (k *Kept) Drop() {
	k.shelf.mu.Lock()
	k.shelf.forget(k)
	k.shelf.mu.Unlock()
	k.leave()
	if d, ok := k.Value.(interface{ drop() }); ok {
		d.drop()
	}
}
