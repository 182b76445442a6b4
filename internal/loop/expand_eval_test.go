package loop

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// program evaluates an expanded expression over blocks of numbers, one loop an
// operation: fast enough to try functions on all their arguments.
type program struct {
	steps []func(n int)
	in    [][]uint32
	out   []uint32
}

const blockSize = 1 << 10

// newProgram compiles e, whose leaves are constants and locals; in[i] holds
// the values of locals[i].
func newProgram(e *Expr, locals ...*Local) (*program, error) {
	p := &program{}
	at := map[*Expr][]uint32{}
	given := map[*Local][]uint32{}
	for _, l := range locals {
		given[l] = make([]uint32, blockSize)
		p.in = append(p.in, given[l])
	}
	var failed error
	e.Walk(func(e *Expr) {
		switch e.Kind {
		case KindLocal:
			at[e] = given[e.Local]
		case KindConst:
			c := make([]uint32, blockSize)
			for i := range c {
				c[i] = uint32(e.Bits)
			}
			at[e] = c
		default:
			out := make([]uint32, blockSize)
			var arg [3][]uint32
			for i, a := range e.Args {
				arg[i] = at[a]
			}
			step := step(e, out, arg[0], arg[1], arg[2])
			if step == nil && failed == nil {
				failed = fmt.Errorf("no step for %v of %v", e.Op, e.Args[0].DType)
			}
			p.steps = append(p.steps, step)
			at[e] = out
		}
	})
	p.out = at[e]
	return p, failed
}

// run evaluates the first n numbers of p.in into p.out.
func (p *program) run(n int) {
	for _, s := range p.steps {
		s(n)
	}
}

func fl(b uint32) float32 { return math.Float32frombits(b) }
func fb(x float32) uint32 { return math.Float32bits(x) }

func step(e *Expr, out, x, y, z []uint32) func(n int) {
	f32 := e.Args[0].DType == ir.F32
	switch {
	case e.Op == ir.FMA:
		return func(n int) {
			for i := range n {
				out[i] = fb(FMA32(fl(x[i]), fl(y[i]), fl(z[i])))
			}
		}
	case e.Op == ir.Add && f32:
		return func(n int) {
			for i := range n {
				out[i] = fb(fl(x[i]) + fl(y[i]))
			}
		}
	case e.Op == ir.Sub && f32:
		return func(n int) {
			for i := range n {
				out[i] = fb(fl(x[i]) - fl(y[i]))
			}
		}
	case e.Op == ir.Mul && f32:
		return func(n int) {
			for i := range n {
				out[i] = fb(fl(x[i]) * fl(y[i]))
			}
		}
	case e.Op == ir.Bitcast:
		return func(n int) { copy(out[:n], x[:n]) }
	case e.Op == ir.Where:
		return func(n int) {
			for i := range n {
				if out[i] = z[i]; x[i] != 0 {
					out[i] = y[i]
				}
			}
		}
	}
	f := Scalar(e.Op, e.Args[0].DType, e.DType)
	if f == nil {
		return nil
	}
	if len(e.Args) == 1 {
		y = x
	}
	return func(n int) {
		for i := range n {
			out[i] = uint32(f(uint64(x[i]), uint64(y[i]), 0))
		}
	}
}
