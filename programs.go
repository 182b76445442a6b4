package sinter

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// Bounds of the programs that a device keeps.
const (
	maxPrograms  = 512
	maxCodeBytes = 64 << 20
)

// programs are the compiled programs of one device, the least recently used
// thrown out first. A program thrown out lives on until nobody uses it.
type programs struct {
	mu               sync.Mutex
	kept             map[programKey]*list.Element // of *entry
	order            list.List                    // most recently used first
	code             int
	closed           bool
	compiled, reused int64
	constants        constantWatch
}

type programKey struct {
	hash      ir.Hash
	noOpt     string
	precision ir.DType
	check     bool
}

// entry is a program, or one on its way: ready is closed when program or err
// is set.
type entry struct {
	key     programKey
	ready   chan struct{}
	program *compiled
	err     error
}

// get finds the program of g or compiles it; calls for one key at a time
// compile once. The caller releases the program.
func (p *programs) get(ctx context.Context, d *Device, g *ir.Graph, o device.Options) (*compiled, error) {
	if o.Trace != nil { // every stage is to be seen, so nothing is reused
		c, err := d.compile(ctx, g, o)
		if err == nil {
			c.refs = 1
		}
		return c, err
	}
	slices.Sort(o.NoOpt)
	key := programKey{g.Hash(), strings.Join(o.NoOpt, ","), o.Precision, o.Check}
	for {
		e, mine, err := p.enter(key)
		if err != nil {
			return nil, d.named(err)
		}
		if mine {
			p.fill(ctx, e, d, g, o)
			return e.program, e.err
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if p.take(e) {
			return e.program, nil
		}
		if !errors.Is(e.err, context.Canceled) && !errors.Is(e.err, context.DeadlineExceeded) && e.err != nil {
			return nil, e.err
		}
		// The other caller gave up, or the program is gone already: try again.
	}
}

// enter finds the entry of key, or makes it, to be filled by the caller.
func (p *programs) enter(key programKey) (e *entry, mine bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, ErrClosed
	}
	if el := p.kept[key]; el != nil {
		p.order.MoveToFront(el)
		return el.Value.(*entry), false, nil
	}
	if p.kept == nil {
		p.kept = map[programKey]*list.Element{}
	}
	e = &entry{key: key, ready: make(chan struct{})}
	p.kept[key] = p.order.PushFront(e)
	return e, true, nil
}

// fill compiles e's program.
func (p *programs) fill(ctx context.Context, e *entry, d *Device, g *ir.Graph, o device.Options) {
	c, err := (*compiled)(nil), errors.New("the compiler panicked") // for those who wait
	defer func() { p.filled(e, g, c, err) }()
	c, err = d.compile(ctx, g, o)
}

// filled gives e its program, with two references, the caller's and the list's, or the
// error.
func (p *programs) filled(e *entry, g *ir.Graph, c *compiled, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(e.ready)
	p.compiled++
	el := p.kept[e.key]
	linked := el != nil && el.Value == e
	if err != nil {
		e.err = err
		if linked {
			p.order.Remove(el)
			delete(p.kept, e.key)
		}
		return
	}
	c.refs = 1
	e.program = c
	p.constants.see(g)
	if linked {
		c.refs++
		c.listed = true
		p.code += c.module.Info().CodeBytes
		p.evict(maxPrograms, maxCodeBytes)
	}
}

// take adds a reference, unless the program is gone.
func (p *programs) take(e *entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.program == nil || e.program.refs == 0 {
		return false
	}
	if r, ok := e.program.module.(device.Rester); ok && e.program.refs == 1 {
		r.Wake()
	}
	e.program.refs++
	p.reused++
	return true
}

// evict unlinks the least recently used programs above the bounds, but never
// the latest. The caller holds mu.
func (p *programs) evict(most, code int) {
	for el := p.order.Back(); el != nil && p.order.Len() > 1 && (p.order.Len() > most || p.code > code); {
		older := el.Prev()
		if e := el.Value.(*entry); e.program != nil {
			p.unlink(el)
		}
		el = older
	}
}

func (p *programs) unlink(el *list.Element) {
	e := p.order.Remove(el).(*entry)
	delete(p.kept, e.key)
	if e.program != nil {
		p.code -= e.program.module.Info().CodeBytes
		e.program.listed = false
		p.drop(e.program)
	}
}

// drop removes a reference. The caller holds mu.
func (p *programs) drop(c *compiled) error {
	c.refs--
	r, rests := c.module.(device.Rester)
	switch {
	case c.refs == 0:
		return c.module.Close()
	case c.refs == 1 && c.listed && rests:
		r.Rest()
	}
	return nil
}

func (p *programs) release(c *compiled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(c)
}

func (p *programs) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for el := p.order.Front(); el != nil; {
		next := el.Next()
		p.unlink(el)
		el = next
	}
}

func (p *programs) stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{Programs: p.order.Len(), CodeBytes: p.code, Compiled: p.compiled, Reused: p.reused, Hint: p.constants.hint}
}

// compile runs the device's compiler.
func (d *Device) compile(ctx context.Context, g *ir.Graph, o device.Options) (*compiled, error) {
	m, err := d.compiler.CompileGraph(ctx, g, o)
	if err != nil {
		d.doubt(ctx, err)
		return nil, fmt.Errorf("compiling for %s: %w", d.Name(), err)
	}
	o.Trace = nil
	return &compiled{device: d, graph: g, module: m, offsets: findOffsets(g), symbols: g.Symbols(), options: o}, nil
}

// constantWatch notices programs that differ in constants alone.
type constantWatch struct {
	seen map[ir.Hash]int
	hint string
}

const (
	manyConstants = 16   // compilations that differ in constants alone
	maxWatched    = 4096 // then it starts anew
)

// see counts the programs that are equal to g but for the values of constants.
func (w *constantWatch) see(g *ir.Graph) {
	blank := &ir.Graph{Nodes: make([]*ir.Node, len(g.Nodes)), Outputs: g.Outputs, Leaves: g.Leaves}
	constants := false
	for i, n := range g.Nodes {
		blank.Nodes[i] = n
		if n.Op == ir.Const {
			c := *n
			c.Attr.Value, constants = 0, true
			blank.Nodes[i] = &c
		}
	}
	if !constants {
		return
	}
	if w.seen == nil || len(w.seen) >= maxWatched {
		w.seen = map[ir.Hash]int{}
	}
	h := blank.Hash()
	w.seen[h]++
	if n := w.seen[h]; n >= manyConstants {
		w.hint = fmt.Sprintf("compiled %d programs that differ in constants alone: bind what changes with Of or Input instead of Scalar", n)
	}
}
