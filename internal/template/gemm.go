// Package template describes kernels whose main loop is written by hand for
// each target: what they compute, with the work before and after it as loop
// expressions. Loops gives each one's meaning.
package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Gemm computes, for every batch, row and column,
//
//	Acc = sum over k of X(batch, row, k) * Y(batch, k, col)
//
// and then runs Epilogue, which stores what becomes of Acc. Each SumBlock
// values of k are summed from zero in ascending order with fused multiply-adds,
// and the blocks' sums are added in order, whatever the other sizes. Integers
// wrap, in any order. Where the processor multiplies pairs of bf16, sums of
// those have its roundings, in blocks of SumBlock pairs.
type Gemm struct {
	Name   string
	Params []loop.Param
	Slots  int

	DType                    ir.DType // of X, Y and Acc
	BatchSize, Rows, Cols, K ir.Dim
	Batch, Row, Col, Inner   *loop.Var
	X, Y                     *loop.Expr
	Acc                      *loop.Local
	Epilogue                 []loop.Stmt // Set and Store
	ConstY                   bool        // Y depends on weights and constants alone: packed once
	SteadyY                  bool        // or on variables that the program leaves alone: the same until another one runs
	TF32                     bool        // units for matrices may round X and Y, of f32, to TF32
}

// SumBlock is how many products are added in one chain: so few that a long sum
// loses no more digits than one of a thousand terms, and so many that the
// results are fetched rarely.
const SumBlock = 512

// Loops is the meaning of g as an ordinary kernel.
func (g *Gemm) Loops() *loop.Kernel {
	ct := g.DType.Compute()
	x, y := convert(g.X, ct), convert(g.Y, ct)
	sum := &loop.Local{Name: "sum", DType: ct}
	next := loop.Apply(ir.FMA, ct, x, y, sum.Ref())
	if !ct.IsFloat() {
		next = loop.Apply(ir.Add, ct, loop.Apply(ir.Mul, ct, x, y), sum.Ref())
	}
	zero := loop.Const(ct, 0)
	total := &loop.Local{Name: "total", DType: ct}
	block := &loop.Var{Name: "block"}
	size := loop.SizeOf(g.K)
	lo := loop.MulIndex(block.Ref(), loop.Int(SumBlock))
	hi := loop.Apply(ir.Min, ir.I64, size, loop.AddIndex(lo, loop.Int(SumBlock)))
	blocks := loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(size, loop.Int(SumBlock-1)), loop.Int(SumBlock))
	cell := []loop.Stmt{
		&loop.Set{Local: total, Value: zero},
		&loop.Loop{Var: block, Hi: blocks, Range: loop.Serial, Body: []loop.Stmt{
			&loop.Set{Local: sum, Value: zero},
			&loop.Loop{Var: g.Inner, Lo: lo, Hi: hi, Range: loop.Serial, Body: []loop.Stmt{&loop.Set{Local: sum, Value: next}}},
			&loop.Set{Local: total, Value: loop.Apply(ir.Add, ct, total.Ref(), sum.Ref())},
		}},
		&loop.Set{Local: g.Acc, Value: convert(total.Ref(), g.DType)},
	}
	cell = append(cell, g.Epilogue...)
	cols := &loop.Loop{Var: g.Col, Hi: loop.SizeOf(g.Cols), Range: loop.Vector, Body: cell}
	rows := &loop.Loop{Var: g.Row, Hi: loop.SizeOf(g.Rows), Range: loop.Serial, Body: []loop.Stmt{cols}}
	batch := &loop.Loop{Var: g.Batch, Hi: loop.SizeOf(g.BatchSize), Range: loop.Global, Body: []loop.Stmt{rows}}
	return &loop.Kernel{Name: g.Name, Params: g.Params, Slots: g.Slots, Body: []loop.Stmt{batch}}
}

func convert(e *loop.Expr, d ir.DType) *loop.Expr {
	if e.DType == d {
		return e
	}
	return loop.Apply(ir.Cast, d, e)
}
