package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Part is a piece of a Gemm as a kernel of its own, which a driver calls again
// and again beside a hand-written main loop: to bring an operand into the
// order that loop wants, or to do what follows the sum. Its params are the
// Gemm's and one more, Panel: dense memory of the Gemm's dtype.
type Part struct {
	Kernel *loop.Kernel
	Panel  int
	names  [partSizes]string
}

// PartSize is an argument of a Part, passed as a size by the name that Name
// returns. A Part uses some of them.
type PartSize int

const (
	AtBatch  PartSize = iota
	FirstRow          // of the panel
	FirstCol
	EndCol
	FirstK
	EndK
	FirstPanel
	Stride // elements from row to row of the panel
	partSizes
)

// Name is the symbol that s is bound to.
func (p *Part) Name(s PartSize) string { return p.names[s] }

// partBuilder makes a Part of g.
type partBuilder struct {
	g    *Gemm
	part *Part
	uses map[string]bool
}

func (g *Gemm) newPart(name string, use loop.Use) *partBuilder {
	b := &partBuilder{g: g, part: &Part{Panel: len(g.Params)}, uses: map[string]bool{}}
	params := append([]loop.Param(nil), g.Params...)
	for i := range params {
		if use != loop.Read && params[i].Use != loop.Read { // packing writes the panel alone
			params[i].Use = loop.Read
		}
		for _, s := range params[i].Len.Symbols() {
			b.uses[s.Name] = true
		}
	}
	params = append(params, loop.Param{Name: "panel", DType: g.DType, Len: ir.Sym("panel", 0, ir.MaxElements), Use: use})
	b.part.Kernel = &loop.Kernel{Name: g.Name + "_" + name, Params: params, Slots: g.Slots}
	for _, s := range g.Loops().Symbols() {
		b.uses[s.Name] = true
	}
	for s, name := range [partSizes]string{"batch", "row0", "col0", "col1", "k0", "k1", "panel0", "stride"} {
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
	b := g.newPart("finish", loop.Read)
	row := loop.MulIndex(loop.SubIndex(g.Row.Ref(), b.size(FirstRow)), b.size(Stride))
	at := loop.AddIndex(row, loop.SubIndex(g.Col.Ref(), b.size(FirstCol)))
	body := append([]loop.Stmt{&loop.Set{Local: g.Acc, Value: loop.Load(b.part.Panel, g.DType, at, nil)}}, g.Epilogue...)
	cols := &loop.Loop{Var: g.Col, Lo: b.size(FirstCol), Hi: b.size(EndCol), Range: loop.Vector, Body: body}
	return b.body([]loop.Stmt{&loop.Loop{Var: g.Row, Hi: loop.SizeOf(g.Rows), Range: loop.Global, Body: []loop.Stmt{cols}}})
}

// PackX is the part that writes rows of X, those of the Global loop, with k
// from FirstK to EndK side by side:
//
//	panel[(row-FirstRow)*Stride + k-FirstK] = X(batch, row, k)
func (g *Gemm) PackX() *Part {
	b := g.newPart("pack_x", loop.Write)
	row := loop.MulIndex(loop.SubIndex(g.Row.Ref(), b.size(FirstRow)), b.size(Stride))
	at := loop.AddIndex(row, loop.SubIndex(g.Inner.Ref(), b.size(FirstK)))
	ks := &loop.Loop{Var: g.Inner, Lo: b.size(FirstK), Hi: b.size(EndK), Range: loop.Vector, Body: []loop.Stmt{
		&loop.Store{Param: b.part.Panel, Index: at, Value: g.X},
	}}
	return b.body([]loop.Stmt{&loop.Loop{Var: g.Row, Hi: loop.SizeOf(g.Rows), Range: loop.Global, Body: []loop.Stmt{ks}}})
}

// PackY is the part that writes Y in panels of width columns, those of the
// Global loop, one behind the other from FirstPanel on. Within a panel the
// columns of a k lie side by side, k from FirstK to EndK. The last panel of
// Cols is as wide as its columns need, in steps of round; what lies beyond
// them is left as it is.
func (g *Gemm) PackY(width, round int) *Part {
	b := g.newPart("pack_y", loop.Write)
	panel, lane := &loop.Var{Name: "panel"}, &loop.Var{Name: "lane"}
	first := loop.MulIndex(panel.Ref(), loop.Int(width))
	var cols, wide *loop.Expr // of this panel: those that count, those it has room for
	if n, ok := g.Cols.Const(); ok && n%width == 0 {
		cols, wide = loop.Int(width), loop.Int(width)
	} else {
		cols = loop.Apply(ir.Min, ir.I64, loop.SubIndex(loop.SizeOf(g.Cols), first), loop.Int(width))
		wide = loop.MulIndex(loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(cols, loop.Int(round-1)), loop.Int(round)), loop.Int(round))
	}
	begin := loop.MulIndex(loop.MulIndex(loop.SubIndex(panel.Ref(), b.size(FirstPanel)), loop.SubIndex(b.size(EndK), b.size(FirstK))), loop.Int(width))
	at := loop.AddIndex(loop.AddIndex(begin, loop.MulIndex(loop.SubIndex(g.Inner.Ref(), b.size(FirstK)), wide)), lane.Ref())
	col := loop.AddIndex(first, lane.Ref())
	body := loop.Rewrite([]loop.Stmt{&loop.Store{Param: b.part.Panel, Index: loop.Int(0), Value: g.Y}}, func(e *loop.Expr) *loop.Expr {
		if e.Kind == loop.KindVar && e.Var == g.Col {
			return col
		}
		return e
	})
	body[0].(*loop.Store).Index = at
	lanes := &loop.Loop{Var: lane, Hi: cols, Range: loop.Vector, Body: body}
	ks := &loop.Loop{Var: g.Inner, Lo: b.size(FirstK), Hi: b.size(EndK), Range: loop.Serial, Body: []loop.Stmt{lanes}}
	panels := loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(loop.SizeOf(g.Cols), loop.Int(width-1)), loop.Int(width))
	return b.body([]loop.Stmt{&loop.Loop{Var: panel, Hi: panels, Range: loop.Global, Body: []loop.Stmt{ks}}})
}
