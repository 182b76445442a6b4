package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Part is a piece of a template as a kernel of its own, which a driver calls
// again and again beside a hand-written main loop: to bring an operand into the
// order that loop wants, or to do what follows the sum. Its params are the
// template's and one more, Panel: dense memory of the template's dtype.
type Part struct {
	Kernel *loop.Kernel
	Panel  int
	names  [PartSizes]string
}

// PartSize is an argument of a Part, passed as a size by the name that Name
// returns. A Part uses some of them.
type PartSize int

const (
	AtBatch  PartSize = iota
	FirstRow          // of the panel
	EndRow
	FirstCol
	EndCol
	FirstK
	EndK
	FirstPanel
	AtSequence
	AtHead
	Stride     // elements from row to row of the panel
	Second     // elements from a matrix in the panel to the one behind it
	RowsBefore // of queries, in front of the sequence
	QueryCount // of the sequence
	KeyCount
	PartSizes // how many there are
)

// Name is the symbol that s is bound to.
func (p *Part) Name(s PartSize) string { return p.names[s] }

// partBuilder makes a Part.
type partBuilder struct {
	g    *Gemm // whose body closes
	part *Part
	uses map[string]bool
}

func (g *Gemm) newPart(name string, d ir.DType, use loop.Use) *partBuilder {
	b := startPart(g.Loops(), g.Params, d, name, use)
	b.g = g
	return b
}

// startPart makes a part without a body of a template, whose meaning is work.
func startPart(work *loop.Kernel, params []loop.Param, d ir.DType, name string, use loop.Use) *partBuilder {
	b := &partBuilder{part: &Part{Panel: len(params)}, uses: map[string]bool{}}
	params = append([]loop.Param(nil), params...)
	for i := range params {
		if use != loop.Read && params[i].Use != loop.Read { // packing writes the panel alone
			params[i].Use = loop.Read
		}
		for _, s := range params[i].Len.Symbols() {
			b.uses[s.Name] = true
		}
	}
	params = append(params, loop.Param{Name: "panel", DType: d, Len: ir.Sym("panel", 0, ir.MaxElements), Use: use})
	b.part.Kernel = &loop.Kernel{Name: work.Name + "_" + name, Params: params, Slots: work.Slots}
	for _, s := range work.Symbols() {
		b.uses[s.Name] = true
	}
	for s, name := range [PartSizes]string{"batch", "row0", "row1", "col0", "col1", "k0", "k1", "panel0", "seq", "head", "stride", "second", "before", "queries", "keys"} {
		for b.uses[name] { // the model's own symbols come first
			name = "_" + name
		}
		b.part.names[s] = name
	}
	return b
}

func (b *partBuilder) size(s PartSize) *loop.Expr {
	return loop.SizeOf(ir.Sym(b.part.names[s], 0, ir.MaxElements))
}

// body closes the part around its statements, with the batch as an argument.
func (b *partBuilder) body(body []loop.Stmt) *Part {
	batch := b.size(AtBatch)
	if b.g.BatchSize.IsConst(1) {
		batch = loop.Int(0)
	}
	b.part.Kernel.Body = loop.Rewrite(body, func(e *loop.Expr) *loop.Expr {
		if e.Kind == loop.KindVar && e.Var == b.g.Batch {
			return batch
		}
		return e
	})
	b.part.Kernel = loop.Share(b.part.Kernel)
	return b.part
}

// Finish is the part behind the sums: for rows of the Global loop and columns
// FirstCol to EndCol it takes Acc from
//
//	panel[(row-FirstRow)*Stride + col-FirstCol]
//
// and runs the epilogue.
func (g *Gemm) Finish() *Part {
	b := g.newPart("finish", g.DType.Compute(), loop.Read)
	row := loop.MulIndex(loop.SubIndex(g.Row.Ref(), b.size(FirstRow)), b.size(Stride))
	at := loop.AddIndex(row, loop.SubIndex(g.Col.Ref(), b.size(FirstCol)))
	body := append([]loop.Stmt{&loop.Set{Local: g.Acc, Value: convert(loop.Load(b.part.Panel, g.DType.Compute(), at, nil), g.DType)}}, g.Epilogue...)
	cols := &loop.Loop{Var: g.Col, Lo: b.size(FirstCol), Hi: b.size(EndCol), Range: loop.Vector, Body: body}
	return b.body([]loop.Stmt{&loop.Loop{Var: g.Row, Hi: loop.SizeOf(g.Rows), Range: loop.Global, Body: []loop.Stmt{cols}}})
}

// PackX is the part that writes rows of X, those of the Global loop, with k
// from FirstK to EndK side by side:
//
//	panel[(row-FirstRow)*Stride + k-FirstK] = X(batch, row, k)
//
// The panel has the dtype of sums if the format is Single, else that of X.
func (g *Gemm) PackX(f Format) *Part {
	g = g.Narrow(f)
	d := g.X.DType
	if f == Single {
		d = g.DType.Compute()
	}
	b := g.newPart("pack_x", d, loop.Write)
	row := loop.MulIndex(loop.SubIndex(g.Row.Ref(), b.size(FirstRow)), b.size(Stride))
	at := loop.AddIndex(row, loop.SubIndex(g.Inner.Ref(), b.size(FirstK)))
	ks := loop.Runs(&loop.Loop{Var: g.Inner, Lo: b.size(FirstK), Hi: b.size(EndK), Range: loop.Vector, Body: []loop.Stmt{
		&loop.Store{Param: b.part.Panel, Index: at, Value: convert(g.X, d)},
	}})
	return b.body([]loop.Stmt{&loop.Loop{Var: g.Row, Hi: loop.SizeOf(g.Rows), Range: loop.Global, Body: []loop.Stmt{ks}}})
}

// TurnedRows is the rows of X that one iteration of PackTurnedX's Global loop
// writes: the lanes of the widest vector.
const TurnedRows = 16

// PackTurnedX is the part that writes rows FirstRow to EndRow of X by columns,
// as lanes of the format, K steps, from FirstK to EndK:
//
//	panel[(k-FirstK)*Stride + row-FirstRow] = X(batch, row, k)
//
// for X that lies by columns, as the transpose of data in a gradient does. The
// Global loop counts TurnedRows rows at a time; values behind the last k are 0.
// The panel has the dtype of sums if the format is Single, else u32.
func (g *Gemm) PackTurnedX(f Format) *Part {
	d := f.laneType(g.DType)
	g = g.Narrow(f)
	b := g.newPart("pack_turned", d, loop.Write)
	block := &loop.Var{Name: "r"}
	behind := loop.MulIndex(block.Ref(), loop.Int(TurnedRows))
	first := loop.AddIndex(b.size(FirstRow), behind)
	rows := loop.Apply(ir.Min, ir.I64, loop.SubIndex(b.size(EndRow), first), loop.Int(TurnedRows))
	at := func(step *loop.Expr) *loop.Expr {
		return loop.AddIndex(loop.MulIndex(loop.SubIndex(step, b.size(FirstK)), b.size(Stride)), behind)
	}
	ks := b.lanes(f, d, g.X, g.Row, first, rows, TurnedRows, at)
	blocks := loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(loop.SizeOf(g.Rows), loop.Int(TurnedRows-1)), loop.Int(TurnedRows))
	return b.body([]loop.Stmt{&loop.Loop{Var: block, Hi: blocks, Range: loop.Global, Body: ks}})
}

// PackY is the part that writes Y in panels of width columns, those of the
// Global loop, one behind the other from FirstPanel on, with lanes of the
// format, K steps, from FirstK to EndK:
//
//	panel[((p-FirstPanel)*(EndK-FirstK) + k-FirstK)*width + j] = Y(batch, k, p*width+j)
//
// What has no column, in the last panel, is left as it is; values behind the
// last k are 0. The panel has the dtype of sums if the format is Single, else
// u32.
func (g *Gemm) PackY(f Format, width int) *Part {
	d := f.laneType(g.DType)
	g = g.Narrow(f)
	b := g.newPart("pack_y", d, loop.Write)
	panel := &loop.Var{Name: "p"}
	first := loop.MulIndex(panel.Ref(), loop.Int(width))
	cols := loop.Int(width) // of this panel
	if n, ok := g.Cols.Const(); !ok || n%width != 0 {
		cols = loop.Apply(ir.Min, ir.I64, loop.SubIndex(loop.SizeOf(g.Cols), first), cols)
	}
	begin := loop.MulIndex(loop.SubIndex(panel.Ref(), b.size(FirstPanel)), loop.SubIndex(b.size(EndK), b.size(FirstK)))
	ks := b.lanes(f, d, g.Y, g.Col, first, cols, width, func(step *loop.Expr) *loop.Expr {
		return loop.MulIndex(loop.AddIndex(begin, loop.SubIndex(step, b.size(FirstK))), loop.Int(width))
	})
	panels := loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(loop.SizeOf(g.Cols), loop.Int(width-1)), loop.Int(width))
	return b.body([]loop.Stmt{&loop.Loop{Var: panel, Hi: panels, Range: loop.Global, Body: ks}})
}

// lanes are loops over the K steps from FirstK to EndK that write count lanes
// side by side, at most so many, from at(step) on: the value of X or Y where v, its
// row or column, is first and those behind it.
func (b *partBuilder) lanes(f Format, d ir.DType, value *loop.Expr, v *loop.Var, first, count *loop.Expr, most int, at func(step *loop.Expr) *loop.Expr) []loop.Stmt {
	g, lane := b.g, &loop.Var{Name: "j"}
	steps := func(step *loop.Var, lo, hi, value *loop.Expr) *loop.Loop {
		value = loop.Substitute(value, map[*loop.Var]*loop.Expr{v: loop.AddIndex(first, lane.Ref())})
		value = loop.FoldWithin(value, map[*loop.Var]int{lane: most})
		store := &loop.Store{Param: b.part.Panel, Index: loop.AddIndex(at(step.Ref()), lane.Ref()), Value: value}
		each := &loop.Loop{Var: lane, Hi: count, Range: loop.Vector, Body: []loop.Stmt{store}}
		return &loop.Loop{Var: step, Lo: lo, Hi: hi, Range: loop.Serial, Body: []loop.Stmt{each}}
	}
	group := f.Group()
	if group == 1 {
		return []loop.Stmt{steps(g.Inner, b.size(FirstK), b.size(EndK), convert(value, d))}
	}
	step, last := &loop.Var{Name: "s"}, &loop.Var{Name: "t"}
	whole := loop.Apply(ir.IDiv, ir.I64, loop.SizeOf(g.K), loop.Int(group))
	ks := []loop.Stmt{steps(step, b.size(FirstK), loop.Apply(ir.Min, ir.I64, b.size(EndK), whole), g.lane(f, value, step.Ref(), true))}
	if n, ok := g.K.Const(); !ok || n%group != 0 {
		ks = append(ks, steps(last, loop.Apply(ir.Max, ir.I64, b.size(FirstK), whole), b.size(EndK), g.lane(f, value, last.Ref(), false)))
	}
	return ks
}
