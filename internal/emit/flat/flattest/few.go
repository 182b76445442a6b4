package flattest

import (
	"fmt"
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Few is a product of few rows, with a bias and a residual behind it or, if X and
// Y are bytes, what quantised products have.
type Few struct {
	Sizes
	X, Y, Sum ir.DType
	Deep      bool // values of k lie side by side in Y, else columns
	Turned    bool // rows of X lie side by side
	Symbols   bool // Rows, Cols and K are symbols, the first of at most 8
}

func (f Few) String() string {
	return fmt.Sprintf("%d times %dx%dx%d, %v by %v in %v, deep %v, turned %v, symbols %v", f.Batch, f.Rows, f.Cols, f.K, f.X, f.Y, f.Sum, f.Deep, f.Turned, f.Symbols)
}

// Fews draws n of them, in every format and with sizes that are odd and that are
// not.
func Fews(rng *rand.Rand, n int) []Few {
	formats := []Few{
		{X: ir.F32, Y: ir.F32, Sum: ir.F32}, {X: ir.F16, Y: ir.F16, Sum: ir.F16}, {X: ir.BF16, Y: ir.BF16, Sum: ir.BF16},
		{X: ir.BF16, Y: ir.BF16, Sum: ir.F32}, {X: ir.U8, Y: ir.I8, Sum: ir.I32}, {X: ir.F32, Y: ir.I8, Sum: ir.F32},
		{X: ir.F32, Y: ir.F16, Sum: ir.F32}, {X: ir.U8, Y: ir.U8, Sum: ir.U8}, {X: ir.I16, Y: ir.I16, Sum: ir.I16},
		{X: ir.I64, Y: ir.I64, Sum: ir.I64},
	}
	var all []Few
	for i := range n {
		f := formats[i%len(formats)]
		f.Sizes = Sizes{Batch: 1, Rows: 1 + rng.IntN(16), Cols: 1 + rng.IntN(70), K: rng.IntN(300)}
		if rng.IntN(2) == 0 {
			f.Rows = 1 + rng.IntN(3)
		}
		if rng.IntN(3) > 0 {
			f.Cols, f.K = (f.Cols+15)&^15, (f.K+15)&^15
		}
		if rng.IntN(4) == 0 {
			f.Batch = 3
		}
		f.Deep, f.Turned = i/len(formats)%2 == 0, rng.IntN(4) == 0
		if f.Symbols = rng.IntN(5) == 0; f.Symbols {
			f.Rows = min(f.Rows, 8)
		}
		all = append(all, f)
	}
	return all
}

// Gemm makes the product and its arguments. Floats are small whole numbers, the
// sums of which have the same bits in any order, unless rounded says otherwise.
func (f Few) Gemm(rng *rand.Rand, rounded bool) (*template.Gemm, *loop.Args) {
	g := f.Product()
	a := &loop.Args{Sizes: ir.Env{"m": f.Rows, "n": f.Cols, "k": f.K}, End: f.Batch}
	for _, p := range g.Params {
		n, _ := p.Len.Eval(a.Sizes) // all symbols are bound
		a.Buffers = append(a.Buffers, contents(rng, p.DType, n, rounded))
	}
	return g, a
}

// Product is the template.
func (f Few) Product() *template.Gemm {
	rows, cols, k := ir.N(f.Rows), ir.N(f.Cols), ir.N(f.K)
	if f.Symbols {
		rows, cols, k = ir.Sym("m", 0, 8), ir.Sym("n", 0, 1<<20), ir.Sym("k", 0, 1<<20)
	}
	out := f.Sum
	if f.Sum == ir.I32 {
		out = ir.F32
	}
	g := &template.Gemm{Name: "few", DType: f.Sum, BatchSize: ir.N(f.Batch), Rows: rows, Cols: cols, K: k,
		Batch: &loop.Var{Name: "b"}, Row: &loop.Var{Name: "m"}, Col: &loop.Var{Name: "n"}, Inner: &loop.Var{Name: "k"}, Acc: &loop.Local{Name: "acc", DType: f.Sum}}
	param := func(d ir.DType, use loop.Use, height, width ir.Dim, row, col *loop.Expr) *loop.Expr {
		size := height.Mul(width)
		first := loop.MulIndex(g.Batch.Ref(), loop.SizeOf(size))
		at := loop.AddIndex(loop.AddIndex(first, loop.MulIndex(row, loop.SizeOf(width))), col)
		size = size.Mul(ir.N(f.Batch))
		g.Params = append(g.Params, loop.Param{Name: fmt.Sprint("p", len(g.Params)), DType: d, Len: size, Use: use})
		return at
	}
	load := func(d, as ir.DType, height, width ir.Dim, row, col *loop.Var) *loop.Expr {
		at := param(d, loop.Read, height, width, row.Ref(), col.Ref())
		return cast(loop.Load(len(g.Params)-1, d, at, nil), as)
	}
	if f.Turned {
		g.X = load(f.X, f.Sum, k, rows, g.Inner, g.Row)
	} else {
		g.X = load(f.X, f.Sum, rows, k, g.Row, g.Inner)
	}
	if f.Deep {
		g.Y = load(f.Y, f.Sum, cols, k, g.Col, g.Inner)
	} else {
		g.Y = load(f.Y, f.Sum, k, cols, g.Inner, g.Col)
	}
	none := &loop.Var{Name: "none"}
	bias := loop.Load(len(g.Params), f.Sum, loop.Substitute(param(f.Sum, loop.Read, ir.N(1), cols, none.Ref(), g.Col.Ref()), map[*loop.Var]*loop.Expr{none: loop.Int(0)}), nil)
	beside := load(out, out, rows, cols, g.Row, g.Col)
	value := cast(loop.Apply(ir.Add, f.Sum, g.Acc.Ref(), bias), out)
	value = loop.Apply(ir.Add, out, value, beside)
	at := param(out, loop.Write, rows, cols, g.Row.Ref(), g.Col.Ref())
	g.Epilogue = []loop.Stmt{&loop.Store{Param: len(g.Params) - 1, Index: at, Value: value}}
	return g
}

// contents are n elements of a param.
func contents(rng *rand.Rand, d ir.DType, n int, rounded bool) []byte {
	b := make([]byte, n*d.Size())
	for at := 0; at < len(b); at += d.Size() {
		v := rng.Uint64()
		switch {
		case d.IsFloat() && rounded:
			v, _ = ir.Bits(d, rng.NormFloat64()) // floats round
		case d.IsFloat():
			v, _ = ir.Bits(d, float64(rng.IntN(7)-3))
		case d == ir.I32: // what is added to a sum that becomes a float
			v %= 1 << 10
		}
		for i := range d.Size() {
			b[at+i] = byte(v >> (8 * i))
		}
	}
	return b
}

func cast(e *loop.Expr, d ir.DType) *loop.Expr {
	if e.DType == d {
		return e
	}
	return loop.Apply(ir.Cast, d, e)
}

// LargeFews are products of one, three and eight rows, as large as those of
// language models, in the formats that these have: to be compiled, not run.
func LargeFews(s entry.Shape) []*entry.Kernel {
	var all []*entry.Kernel
	for _, f := range []Few{
		{X: ir.F32, Y: ir.F32, Sum: ir.F32}, {X: ir.F16, Y: ir.F16, Sum: ir.F16}, {X: ir.BF16, Y: ir.BF16, Sum: ir.BF16},
		{X: ir.BF16, Y: ir.BF16, Sum: ir.F32}, {X: ir.U8, Y: ir.I8, Sum: ir.I32}, {X: ir.F64, Y: ir.F64, Sum: ir.F64},
	} {
		for _, rows := range []int{1, 3, 8} {
			for _, f.Deep = range []bool{false, true} {
				for _, s.Units = range []int{1, 132} {
					f.Sizes = Sizes{Batch: 1, Rows: rows, Cols: 4096, K: 4096}
					g := f.Product()
					name := fmt.Sprintf("product_%v_%v_%v_rows_%d_deep_%v_units_%d", f.X, f.Y, f.Sum, rows, f.Deep, s.Units)
					all = append(all, s.Gemm(name, g))
				}
			}
		}
	}
	return all
}
