package schedule

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// run executes a plan in the loop interpreter, with the temps in one arena as
// a device has them. Constant kernels run before all others, which find nothing
// of what these leave but what is to be kept.
func run(p *Plan, env ir.Env, leaves [][]byte, share bool) ([][]byte, error) {
	arena, err := p.Pack(env, share)
	if err == nil {
		err = p.CheckPacking(arena, env, share)
	}
	if err != nil {
		return nil, err
	}
	memory := make([]byte, arena.Size)
	outputs := make([][]byte, len(p.Graph.Outputs))
	mem := make([][]byte, len(p.Buffers))
	for i, b := range p.Buffers {
		n, err := b.Len.Eval(env)
		if err != nil {
			return nil, err
		}
		switch n *= b.DType.Size(); b.Kind {
		case LeafBuffer:
			mem[i] = leaves[b.Number]
		case OutputBuffer:
			mem[i] = make([]byte, n)
			outputs[b.Number] = mem[i]
		case TempBuffer:
			mem[i] = memory[arena.Offsets[i]:][:n:n]
		case ConstantBuffer, InterimBuffer:
			mem[i] = make([]byte, n)
		}
	}
	for _, constant := range []bool{true, false} {
		for _, k := range p.Kernels {
			if k.Constant != constant {
				continue
			}
			if err := runKernel(k, env, mem); err != nil {
				return nil, fmt.Errorf("%s: %w", k.Name, err)
			}
		}
		for i, b := range p.Buffers {
			if b.Kind == InterimBuffer {
				mem[i] = nil
			}
		}
	}
	return outputs, nil
}

var errHost = errors.New("host step")

func runKernel(k *Kernel, env ir.Env, mem [][]byte) error {
	var l *loop.Kernel
	switch w := k.Work.(type) {
	case *loop.Kernel:
		l = w
	case *template.Gemm:
		l = w.Loops()
	case *template.Attention:
		l = w.Loops()
	case *template.AttentionGrad:
		l = w.Loops()
	default:
		return errHost
	}
	args := &loop.Args{Sizes: env, Status: make([]int64, l.Slots)}
	for i, prm := range l.Params {
		if prm.Use == loop.Scratch {
			n, err := prm.Len.Eval(env)
			if err != nil {
				return err
			}
			args.Buffers = append(args.Buffers, make([]byte, n*prm.DType.Size()))
			continue
		}
		args.Buffers = append(args.Buffers, mem[k.Args[i]])
	}
	var err error
	if args.Start, args.End, err = l.Span(env); err != nil {
		return err
	}
	if err := loop.Interpret(l, args); err != nil {
		return fmt.Errorf("%w\n%v", err, l)
	}
	return nil
}

// testOps are the operations of random graphs: all that a plan of loops and
// templates can run.
func testOps() []ir.Op {
	var ops []ir.Op
	for _, op := range ir.Ops() {
		if op != ir.Conv && op != ir.Sort {
			ops = append(ops, op)
		}
	}
	return ops
}

// TestRandomGraphs compares plans, with everything on and everything off, with
// the referee on graphs of whole numbers, where every order of summing gives
// the same bits.
func TestRandomGraphs(t *testing.T) {
	n := effort.Of(200, 700, 1500, 1500)
	anchors := map[ir.Op]bool{ir.MatMul: true, ir.Attention: true}
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		g, leaves, env := irtest.Random(rng, irtest.Config{Integers: true, Smooth: true, Symbolic: seed%2 == 1, MaxElements: 400, Ops: testOps(), MaxNodes: 4 + seed%20})
		want, _, err := interp.Evaluate(context.Background(), g, env, leaves)
		if err != nil {
			continue // an index out of range, or a division by zero
		}
		for i, off := range [][]string{nil, {"all"}, {"rows"}, {"epilogue"}, {"constants"}, nil, {"rows"}} {
			o := Options{NoOpt: off, Anchors: anchors}
			if i >= 5 {
				o.limits = tinyParts(rng)
			}
			p, err := Build(g, o)
			if err != nil {
				t.Fatalf("seed %d, off %v: %v\n%v", seed, off, err, g)
			}
			if err := p.Check(); err != nil {
				t.Fatalf("seed %d, off %v: %v\n%v\n%v", seed, off, err, p, g)
			}
			got, err := run(p, env, leaves, !slices.Contains(off, "all"))
			if err != nil {
				t.Fatalf("seed %d, off %v: %v\n%v\n%v", seed, off, err, p, g)
			}
			for i := range want {
				if at := differ(g.Outputs[i].DType, got[i], want[i]); at >= 0 {
					t.Fatalf("seed %d, off %v: output %d differs at %d\n%v\n%v", seed, off, i, at, p, g)
				}
			}
		}
	}
}

// tinyParts splits reductions of a few elements already.
func tinyParts(rng *rand.Rand) *splitLimits {
	return &splitLimits{total: 2, tasks: 1 << 20, row: 2, rows: 2, far: 1, tall: 2, wide: 1 << 20,
		part: 1 + rng.IntN(8), partRows: 1 + rng.IntN(3), lanes: 1 + rng.IntN(200), parts: 1 + rng.IntN(9)}
}

// differ returns the first element in which a and b differ, NaN equal to NaN;
// -1 if none.
func differ(d ir.DType, a, b []byte) int {
	size := d.Size()
	for i := 0; i < len(b); i += size {
		if x, y := bitsAt(a, i, size), bitsAt(b, i, size); x != y {
			fx, fy := ir.Float(d, x), ir.Float(d, y)
			if !d.IsFloat() || fx == fx || fy == fy {
				if d == ir.F32 || d == ir.F64 { // transcendental functions of whole numbers
					if diff := fx - fy; diff < 1e-5*max(1, fy, -fy) && -diff < 1e-5*max(1, fy, -fy) {
						continue
					}
				}
				return i / size
			}
		}
	}
	return -1
}

func bitsAt(b []byte, at, size int) (v uint64) {
	for i := size - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[at+i])
	}
	return v
}
