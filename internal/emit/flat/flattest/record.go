// Package flattest records what flat writes, prints it, and runs it on memory
// whose every access is checked: the reference of the emitters that implement
// flat.Builder.
package flattest

import (
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
)

// Program is an entry point as flat has written it.
type Program struct {
	body     []step
	values   int
	vars     int
	memories []memory
}

// kind says what a step does.
type kind uint8

const (
	stepArg kind = iota
	stepItem
	stepGroup
	stepItems
	stepConst
	stepOp
	stepGet
	stepSet
	stepBuffer
	stepLoad
	stepStore
	stepIf
	stepFor
	stepBarrier
)

// step is one call of a Builder.
type step struct {
	kind   kind
	op     flat.Op
	often  lanes      // the same for all work-items, of operations that occur often
	to     flat.Value // what it defines, or the variable of a loop
	args   []flat.Value
	memory uint32
	v      flat.Var
	bits   uint64 // of a constant; number of an argument; step of a loop
	flag   bool   // a loop is laid out, a barrier is for all memory
	body   []step
}

// space is where a memory is.
type space uint8

const (
	inBuffer space = iota
	inShared
	inPrivate
)

type memory struct {
	space  space
	dtype  ir.DType
	n      int // of shared and private
	access flat.Access
}

// Record has flat write k.
func Record(k *entry.Kernel) (*Program, error) {
	r := &recorder{p: &Program{values: 1, memories: make([]memory, 1), vars: 1}}
	r.at = &r.p.body
	if err := flat.Write(k, r); err != nil {
		return nil, err
	}
	return r.p, nil
}

// recorder is the Builder. Numbers begin with 1.
type recorder struct {
	p  *Program
	at *[]step
}

func (r *recorder) step(s step) { *r.at = append(*r.at, s) }

// define adds a step with a result.
func (r *recorder) define(t flat.Type, s step) flat.Value {
	s.to = flat.Value{ID: uint32(r.p.values), Type: t}
	r.p.values++
	r.step(s)
	return s.to
}

func (r *recorder) inside(s step, body func()) {
	outer := r.at
	r.at = &s.body
	body()
	r.at = outer
	r.step(s)
}

func (r *recorder) memory(m memory) flat.Memory {
	r.p.memories = append(r.p.memories, m)
	return flat.Memory{ID: uint32(len(r.p.memories) - 1), DType: m.dtype}
}

func (r *recorder) Arg(i int) flat.Value {
	return r.define(flat.I64, step{kind: stepArg, bits: uint64(i)})
}
func (r *recorder) Item() flat.Value  { return r.define(flat.I32, step{kind: stepItem}) }
func (r *recorder) Group() flat.Value { return r.define(flat.I64, step{kind: stepGroup}) }
func (r *recorder) Items() flat.Value { return r.define(flat.I32, step{kind: stepItems}) }

func (r *recorder) Const(t flat.Type, bits uint64) flat.Value {
	return r.define(t, step{kind: stepConst, bits: bits & mask(t)})
}

func (r *recorder) Op(op flat.Op, to flat.Type, args ...flat.Value) flat.Value {
	return r.define(to, step{kind: stepOp, op: op, args: append([]flat.Value(nil), args...), often: often(op, args[len(args)-1].Type, to)})
}

func (r *recorder) Var(t flat.Type) flat.Var {
	r.p.vars++
	return flat.Var{ID: uint32(r.p.vars - 1), Type: t}
}

func (r *recorder) Get(v flat.Var) flat.Value { return r.define(v.Type, step{kind: stepGet, v: v}) }

func (r *recorder) Set(v flat.Var, x flat.Value) {
	r.step(step{kind: stepSet, v: v, args: []flat.Value{x}})
}

func (r *recorder) Buffer(address flat.Value, d ir.DType, a flat.Access) flat.Memory {
	m := r.memory(memory{space: inBuffer, dtype: d, access: a})
	r.step(step{kind: stepBuffer, memory: m.ID, args: []flat.Value{address}})
	return m
}

func (r *recorder) Shared(d ir.DType, n int) flat.Memory {
	return r.memory(memory{space: inShared, dtype: d, n: n})
}

func (r *recorder) Private(d ir.DType, n int) flat.Memory {
	return r.memory(memory{space: inPrivate, dtype: d, n: n})
}

func (r *recorder) Load(m flat.Memory, index, valid flat.Value) flat.Value {
	return r.define(flat.TypeOf(m.DType), step{kind: stepLoad, memory: m.ID, args: []flat.Value{index, valid}})
}

func (r *recorder) Store(m flat.Memory, index, x, valid flat.Value) {
	r.step(step{kind: stepStore, memory: m.ID, args: []flat.Value{index, x, valid}})
}

func (r *recorder) If(cond flat.Value, then func()) {
	r.inside(step{kind: stepIf, args: []flat.Value{cond}}, then)
}

func (r *recorder) For(from, to flat.Value, by int, unroll bool, body func(i flat.Value)) {
	i := flat.Value{ID: uint32(r.p.values), Type: from.Type}
	r.p.values++
	s := step{kind: stepFor, to: i, args: []flat.Value{from, to}, bits: uint64(by), flag: unroll}
	r.inside(s, func() { body(i) })
}

func (r *recorder) Barrier(all bool) { r.step(step{kind: stepBarrier, flag: all}) }

// mask is the bits of a value.
func mask(t flat.Type) uint64 {
	switch t {
	case flat.Bool:
		return 1
	case flat.I32, flat.F32:
		return 1<<32 - 1
	}
	return 1<<64 - 1
}

// Barriers counts the barriers of p.
func (p *Program) Barriers() int {
	n := 0
	without(p.body, func() bool { n++; return false })
	return n
}

// WithoutBarrier is p but for barrier number i.
func (p *Program) WithoutBarrier(i int) *Program {
	q := *p
	n := -1
	q.body = without(p.body, func() bool { n++; return n == i })
	return &q
}

// without copies steps but for the barriers of which drop says so.
func without(body []step, drop func() bool) []step {
	var out []step
	for _, s := range body {
		if s.kind == stepBarrier && drop() {
			continue
		}
		s.body = without(s.body, drop)
		out = append(out, s)
	}
	return out
}
