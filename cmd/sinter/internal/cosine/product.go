package cosine

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/sinterml/sinter"
)

// product multiplies blocks: out[i,j] is row i of one with row j of the other,
// times a scale of row j.
type product struct {
	program *sinter.Program
	dim     int
}

func newProduct(dim int, d *sinter.Device) (*product, error) {
	m, n, k := sinter.Sym("m", 0, blockRows), sinter.Sym("n", 0, blockRows), sinter.N(dim)
	a := sinter.Input("a", sinter.F32, m, k)
	b := sinter.Input("b", sinter.F32, n, k)
	scales := sinter.Input("scales", sinter.F32, n)
	out := a.MatMul(b.Transpose(0, 1)).Mul(scales)
	p, err := sinter.Compile(sinter.Capture(out), sinter.Options{Device: d})
	if err != nil {
		return nil, fmt.Errorf("compiling products of vectors: %w", err)
	}
	return &product{p, dim}, nil
}

func (p *product) close() error { return p.program.Close() }

// run multiplies rows from to to of a with all of b, which have the scales given.
func (p *product) run(ctx context.Context, a *block, from, to int, b *block, scales []float32) ([]float32, error) {
	out, err := p.program.Run(ctx, map[string]sinter.Tensor{
		"a":      view(a.values[from*p.dim:to*p.dim], to-from, p.dim),
		"b":      view(b.values, len(b.norms), p.dim),
		"scales": view(scales, len(b.norms)),
	})
	if err != nil {
		return nil, err
	}
	defer out[0].Release()
	return sinter.Values[float32](ctx, out[0])
}

// view is a tensor over values, which are not copied.
func view(values []float32, shape ...int) sinter.Tensor {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 4*len(values))
	return sinter.Weight("vectors", sinter.F32, bytes, shape...)
}
