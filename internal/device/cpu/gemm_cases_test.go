package cpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// gemmCase is a product to be run and to be interpreted. Sizes are symbolic
// where the case says so.
type gemmCase struct {
	size   gemmSize
	syms   string // which of b, m, n, k are symbols
	x      string // plain, wide (rows further apart), transposed, relu, step (every second k)
	y      string // plain, transposed, scaled (i8 with a scale a column), turned (the same by columns), shared (one for all batches)
	out    string // plain, wide (rows further apart), bias, gelu, residual, transposed, bf16, two (stores)
	const_ bool   // Y is a weight
	dtype  string // f32 if empty, f64; bf16, int8: operands that the product widens
	ints   bool   // small integers, which any way of summing adds exactly
	least  int    // of m, where it is a symbol
}

func (c gemmCase) String() string {
	return fmt.Sprintf("%s %dx%dx%dx%d[%s] %s %s %s const=%v", c.dtype, c.size.batch, c.size.rows, c.size.cols, c.size.k, c.syms, c.x, c.y, c.out, c.const_)
}

// gemmTest is a case as a template, with its memory.
type gemmTest struct {
	g    *template.Gemm
	env  ir.Env
	data [][]byte // of each param

	weights map[int]*buffer // params that are these buffers, without guards
	status  []int64         // of the last run
	linear  bool            // the last run left its epilogue to tile kernels
	past    bool            // its results went past the caches
	bound   *binding        // the last one
}

// types are those of sums and operands.
func (c gemmCase) types() (sum, x, y ir.DType) {
	switch c.dtype {
	case "bf16":
		return ir.F32, ir.BF16, ir.BF16
	case "int8":
		return ir.I32, ir.U8, ir.I8
	case "f64":
		return ir.F64, ir.F64, ir.F64
	}
	return ir.F32, ir.F32, ir.F32
}

// float is the type that the epilogue computes with.
func (c gemmCase) float() ir.DType {
	if c.dtype == "f64" {
		return ir.F64
	}
	return ir.F32
}

// constant is a number of that type.
func (c gemmCase) constant(v float64) *loop.Expr {
	if c.float() == ir.F64 {
		return loop.Const(ir.F64, math.Float64bits(v))
	}
	return loop.Const(ir.F32, uint64(math.Float32bits(float32(v))))
}

// format is that of the template.
func (c gemmCase) format() template.Format {
	return map[string]template.Format{"bf16": template.BF16, "int8": template.Bytes}[c.dtype]
}

// build makes the template and random contents.
func (c gemmCase) build(rng *rand.Rand) *gemmTest {
	t := &gemmTest{env: ir.Env{}}
	dim := func(name string, n int) ir.Dim {
		for _, s := range c.syms {
			if string(s) == name {
				t.env[name] = n
				if name == "m" {
					return ir.Sym(name, c.least, 1<<20)
				}
				return ir.Sym(name, 0, 1<<20)
			}
		}
		return ir.N(n)
	}
	s := c.size
	sum, x, y := c.types()
	t.g = &template.Gemm{
		Name: "gemm", DType: sum, ConstY: c.const_,
		BatchSize: dim("b", s.batch), Rows: dim("m", s.rows), Cols: dim("n", s.cols), K: dim("k", s.k),
		Batch: &loop.Var{Name: "batch"}, Row: &loop.Var{Name: "row"}, Col: &loop.Var{Name: "col"}, Inner: &loop.Var{Name: "k"},
		Acc: &loop.Local{Name: "acc", DType: sum},
	}
	b := gemmBuilder{gemmTest: t, c: c, rng: rng}
	t.g.X, t.g.Y = widened(widened(b.left(x), x), sum), widened(widened(b.right(y), y), sum)
	t.g.Epilogue = b.epilogue(sum)
	return t
}

// gemmBuilder writes the operands and the epilogue of a case, with the params
// that they read and write, and random elements in those.
type gemmBuilder struct {
	*gemmTest
	c   gemmCase
	rng *rand.Rand
}

func (b *gemmBuilder) param(name string, d ir.DType, n ir.Dim, use loop.Use) int {
	b.g.Params = append(b.g.Params, loop.Param{Name: name, DType: d, Len: n, Use: use})
	count, _ := n.Eval(b.env)
	b.data = append(b.data, randomElements(b.rng, d, count, b.c.ints))
	return len(b.g.Params) - 1
}

// at is the place of (i, j) in matrices of rows x cols, one a batch.
func (b *gemmBuilder) at(i, j *loop.Expr, rows, cols ir.Dim) *loop.Expr {
	batch := loop.MulIndex(b.g.Batch.Ref(), loop.SizeOf(rows.Mul(cols)))
	return loop.AddIndex(loop.AddIndex(batch, loop.MulIndex(i, loop.SizeOf(cols))), j)
}

func (b *gemmBuilder) total(rows, cols ir.Dim) ir.Dim { return b.g.BatchSize.Mul(rows).Mul(cols) }

func widened(e *loop.Expr, d ir.DType) *loop.Expr {
	if e.DType == d {
		return e
	}
	return loop.Apply(ir.Cast, d, e)
}

// left is an element of the left operand, of type x.
func (b *gemmBuilder) left(x ir.DType) *loop.Expr {
	g, m, k := b.g, b.g.Row.Ref(), b.g.Inner.Ref()
	switch b.c.x {
	case "plain":
		return loop.Load(b.param("x", x, b.total(g.Rows, g.K), loop.Read), x, b.at(m, k, g.Rows, g.K), nil)
	case "wide":
		wide := g.K.Plus(3)
		return loop.Load(b.param("x", x, b.total(g.Rows, wide), loop.Read), x, loop.AddIndex(b.at(m, k, g.Rows, wide), loop.Int(2)), nil)
	case "transposed":
		return loop.Load(b.param("x", x, b.total(g.Rows, g.K), loop.Read), x, b.at(k, m, g.K, g.Rows), nil)
	case "step":
		two := g.K.Mul(ir.N(2))
		return loop.Load(b.param("x", x, b.total(g.Rows, two), loop.Read), x, b.at(m, loop.MulIndex(k, loop.Int(2)), g.Rows, two), nil)
	case "relu":
		v := loop.Load(b.param("x", x, b.total(g.Rows, g.K), loop.Read), x, b.at(m, k, g.Rows, g.K), nil)
		return loop.Apply(ir.Max, x, v, loop.Const(x, 0))
	}
	panic("no such left operand: " + b.c.x)
}

// right is an element of the right operand, of type y.
func (b *gemmBuilder) right(y ir.DType) *loop.Expr {
	g, n, k := b.g, b.g.Col.Ref(), b.g.Inner.Ref()
	switch b.c.y {
	case "plain":
		return loop.Load(b.param("y", y, b.total(g.K, g.Cols), loop.Read), y, b.at(k, n, g.K, g.Cols), nil)
	case "shared":
		return loop.Load(b.param("y", y, g.K.Mul(g.Cols), loop.Read), y, loop.AddIndex(loop.MulIndex(k, loop.SizeOf(g.Cols)), n), nil)
	case "transposed":
		return loop.Load(b.param("y", y, b.total(g.K, g.Cols), loop.Read), y, b.at(n, k, g.Cols, g.K), nil)
	case "scaled", "turned":
		index := b.at(k, n, g.K, g.Cols)
		if b.c.y == "turned" {
			index = b.at(n, k, g.Cols, g.K)
		}
		v := loop.Load(b.param("y", ir.I8, b.total(g.K, g.Cols), loop.Read), ir.I8, index, nil)
		scale := loop.Load(b.param("scale", ir.F32, g.Cols, loop.Read), ir.F32, n, nil)
		return loop.Apply(ir.Mul, ir.F32, loop.Apply(ir.Cast, ir.F32, v), scale)
	}
	panic("no such right operand: " + b.c.y)
}

// epilogue stores what was summed in type sum.
func (b *gemmBuilder) epilogue(sum ir.DType) []loop.Stmt {
	g, m, n := b.g, b.g.Row.Ref(), b.g.Col.Ref()
	f := b.c.float()
	acc := widened(g.Acc.Ref(), f)
	store := func(d ir.DType, index, value *loop.Expr) *loop.Store {
		return &loop.Store{Param: b.param("out", d, b.total(g.Rows, g.Cols), loop.Write), Index: index, Value: value}
	}
	row := b.at(m, n, g.Rows, g.Cols)
	bias := func() *loop.Expr {
		return loop.Apply(ir.Add, f, acc, loop.Load(b.param("bias", f, g.Cols, loop.Read), f, n, nil))
	}
	switch b.c.out {
	case "plain":
		return []loop.Stmt{store(sum, row, g.Acc.Ref())}
	case "wide":
		wide := g.Cols.Plus(5)
		out := b.param("out", sum, b.total(g.Rows, wide), loop.Write)
		return []loop.Stmt{&loop.Store{Param: out, Index: loop.AddIndex(b.at(m, n, g.Rows, wide), loop.Int(2)), Value: g.Acc.Ref()}}
	case "transposed":
		return []loop.Stmt{store(sum, b.at(n, m, g.Cols, g.Rows), g.Acc.Ref())}
	case "bias":
		return []loop.Stmt{store(f, row, loop.Apply(ir.Max, f, bias(), loop.Const(f, 0)))}
	case "residual":
		r := loop.Load(b.param("residual", f, b.total(g.Rows, g.Cols), loop.Read), f, row, nil)
		return []loop.Stmt{store(f, row, loop.Apply(ir.Add, f, bias(), r))}
	case "gelu": // 0.5 v (1 + erf(v/sqrt 2))
		v := bias()
		half := loop.Apply(ir.Mul, f, v, b.c.constant(0.5))
		erf := loop.Apply(ir.Erf, f, loop.Apply(ir.Mul, f, v, b.c.constant(math.Sqrt2/2)))
		return []loop.Stmt{store(f, row, loop.Apply(ir.FMA, f, half, erf, half))}
	case "bf16":
		return []loop.Stmt{store(ir.BF16, row, loop.Apply(ir.Cast, ir.BF16, acc))}
	case "two":
		l := &loop.Local{Name: "l", DType: f}
		return []loop.Stmt{&loop.Set{Local: l, Value: bias()}, store(f, row, l.Ref()), store(f, row, loop.Apply(ir.Neg, f, l.Ref()))}
	}
	panic("no such epilogue: " + b.c.out)
}

func randomElements(rng *rand.Rand, d ir.DType, n int, ints bool) []byte {
	b := make([]byte, n*d.Size())
	for i := range n {
		switch d {
		case ir.F32:
			v := float32(rng.NormFloat64())
			if ints {
				v = float32(rng.IntN(9) - 4)
			}
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
		case ir.F64:
			v := rng.NormFloat64()
			if ints {
				v = float64(rng.IntN(9) - 4)
			}
			binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(v))
		case ir.BF16:
			v := float32(rng.NormFloat64())
			if ints {
				v = float32(rng.IntN(9) - 4)
			}
			binary.LittleEndian.PutUint16(b[2*i:], uint16(math.Float32bits(v)>>16))
		case ir.I8, ir.U8:
			b[i] = byte(rng.IntN(256))
			if ints { // what sums are largest of
				b[i] = map[ir.DType]byte{ir.I8: 127 + byte(rng.IntN(2)), ir.U8: 255 * byte(rng.IntN(4)/3)}[d]
			}
		}
	}
	return b
}
