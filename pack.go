package sinter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"
	"weak"

	pipeline "github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/int4"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
)

// packWeights is g with weights of its products in 4 bits. What was packed is
// found with the weights by other programs, as long as any program has it.
func packWeights(ctx context.Context, d *Device, g *ir.Graph, o Options) (*ir.Graph, error) {
	passes := []string{"all"}
	if !d.referee() {
		passes = pipeline.RewriteSwitches(o.NoOpt)
	}
	order := int4.Rows
	if d.kind == "cpu" { // whose tasks unpack a few columns at a time
		order = int4.Panels
	}
	small, packed, err := rewrite.PackWeights(g, order, rewrite.Options{NoOpt: passes, Check: o.Check})
	if err != nil {
		return nil, fmt.Errorf("int4: %w", err)
	}
	for _, p := range packed {
		have, err := packOf(ctx, p.Of, order)
		if err != nil {
			return nil, err
		}
		small.Leaves[p.Codes].Storage, small.Leaves[p.Scales].Storage = have.codes, have.scales
	}
	return small, nil
}

// pack is weights in 4 bits.
type pack struct {
	codes, scales *storage
}

// keptPack is where a pack is found, with the first of the storages that it was
// made of. It is the programs' that use it.
type keptPack struct {
	from          []weak.Pointer[storage]
	codes, scales weak.Pointer[storage]
}

// get is the pack; nil if no program has it any more.
func (k keptPack) get() *pack {
	p := &pack{k.codes.Value(), k.scales.Value()}
	if p.codes == nil || p.scales == nil {
		return nil
	}
	return p
}

// packKey tells how weights are made of leaves, and how their codes lie.
type packKey struct {
	how   ir.Hash
	order int4.Order
}

// packOf finds or makes the codes and scales of weights.
func packOf(ctx context.Context, weights *ir.Graph, order int4.Order) (*pack, error) {
	var from []weak.Pointer[storage]
	for _, l := range weights.Leaves {
		from = append(from, weak.Make(l.Storage.(*storage)))
	}
	if from == nil {
		return makePack(ctx, weights, order)
	}
	first, key := weights.Leaves[0].Storage.(*storage), packKey{weights.Hash(), order}
	if p := first.keptPack(key, from, nil); p != nil {
		return p, nil
	}
	p, err := makePack(ctx, weights, order)
	if err != nil {
		return nil, err
	}
	return first.keptPack(key, from, p), nil
}

// keptPack is what is kept of the same weights already, or else p, from now on.
func (m *memory) keptPack(key packKey, from []weak.Pointer[storage], p *pack) *pack {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, have := range m.packs[key] {
		if slices.Equal(have.from, from) {
			if p := have.get(); p != nil {
				return p
			}
		}
	}
	if p == nil {
		return nil
	}
	if m.packs == nil {
		m.packs = map[packKey][]keptPack{}
	}
	for k, all := range m.packs { // what no program has
		m.packs[k] = slices.DeleteFunc(all, func(have keptPack) bool { return have.get() == nil })
		if len(m.packs[k]) == 0 {
			delete(m.packs, k)
		}
	}
	m.packs[key] = append(m.packs[key], keptPack{from, weak.Make(p.codes), weak.Make(p.scales)})
	return p
}

// makePack computes weights on the processor, and packs them.
func makePack(ctx context.Context, weights *ir.Graph, order int4.Order) (p *pack, err error) {
	d, err := processor()
	if err != nil {
		return nil, err
	}
	values, err := compile(ctx, &Graph{graph: weights}, Options{Device: d})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, values.Close()) }()
	stores, err := values.run(ctx, nil)
	if err != nil {
		return nil, err
	}
	if !values.outputs[0].leaf {
		defer stores[0].release()
	}
	err = stores[0].read(ctx, func(b []byte) error {
		p, err = newPack(stores[0].sizes, unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4), order)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("weights %s: %w", leafNames(weights), err)
	}
	return p, nil
}

// newPack packs w, [..., K, N].
func newPack(shape []int, w []float32, order int4.Order) (*pack, error) {
	codes, scales := int4.Shapes(shape, order)
	p := &pack{codes: newStorage(U8, codes, nil), scales: newStorage(BF16, scales, nil)}
	for _, s := range []*storage{p.codes, p.scales} {
		n, err := checkStatic(s.DType, s.sizes)
		if err == nil {
			err = s.own(n)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, int4.Pack(p.codes.host, p.scales.host, w, shape, order)
}

// leafNames are the names of what weights were made of.
func leafNames(g *ir.Graph) string {
	var names []string
	for _, l := range g.Leaves {
		if l.Name == "" {
			l.Name = l.Type.String()
		}
		names = append(names, fmt.Sprintf("%q", l.Name))
	}
	return fmt.Sprint(names)
}
