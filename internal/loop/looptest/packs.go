package looptest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// packs are kernels whose lanes are side by side. T is the type of x, U that of y.
var packs = []struct {
	name, text string
	sum        bool // of numbers whose order matters
}{
	{name: "blocks", text: `kernel "blocks"
symbol n 0 9000
param x T[n] read
param y U[n] write
param z T[n] write
for global b < idiv(size(n) + 4095, 4096) {
	for vector i = b*4096 to min(b*4096 + 4096, size(n)) {
		t = x[i]*x[i] + x[i]
		y[i] = cast.U(t)
		z[i] = t + T(1)
	}
}
`},
	{name: "whole blocks", text: `kernel "whole"
symbol n 0 9000
param x T[n + 9000] read
param y U[8*n] update
for global b < idiv(size(8*n) + 4095, 4096) {
	for vector i = b*4096 to min(b*4096 + 4096, size(8*n)) {
		y[i] = y[i] + cast.U(x[idiv(b, 2)])
	}
}
`},
	{name: "aligned", text: `kernel "aligned"
symbol n 0 9000
param x T[n + 16] read
param y U[n] update
for global b < 1 {
	for vector i < size(n) {
		y[i] = y[i] + cast.U(x[i + 16])
	}
}
`},
	{name: "cast", text: `kernel "cast"
symbol n 0 9000
param x T[n] read
param y U[n] write
param z T[n] write
for global b < idiv(size(n) + 4095, 4096) {
	for vector i = b*4096 to min(b*4096 + 4096, size(n)) {
		y[i] = cast.U(x[i])
		z[i] = x[i]
	}
}
`},
	{name: "shifted", text: `kernel "shifted"
symbol n 0 9000
param x T[n + 1] read
param y U[n] write
for global b < 1 {
	for vector i < size(n) {
		y[i] = cast.U(x[i + 1])
	}
}
`},
	{name: "rows", sum: true, text: `kernel "rows"
symbol n 0 9000
param x T[264*n] read
param bias T[264] read
param kept f32[264] scratch
param y U[264*n] write
for global r < size(n) {
	top = f32(-inf)
	for vector c < 264 {
		top max= cast.f32(x[r*264 + c])
	}
	total = f32(0)
	for vector d < 264 {
		kept[d] = cast.f32(x[r*264 + d]) - top
		total add= kept[d]
	}
	for vector e < 264 {
		y[r*264 + e] = cast.U(kept[e]*total + cast.f32(bias[e]))
	}
}
`},
	{name: "sum", sum: true, text: `kernel "sum"
symbol n 0 9000
param x T[n] read
param y U[1] write
for global r < 1 {
	total = f32(0)
	most = f32(-inf)
	for vector c < size(n) {
		v = cast.f32(x[c])
		total add= v
		most max= v*v
	}
	y[0] = cast.U(total + most)
}
`},
	{name: "wider sums", sum: true, text: `kernel "wider"
symbol n 0 9000
param x T[n] read
param y f64[1] write
param z i64[1] write
param w U[n] write
for global r < 1 {
	total = f64(0)
	whole = i64(0)
	for vector c < size(n) {
		total add= cast.f64(x[c])
		whole add= cast.i64(cast.i32(x[c]))
		w[c] = cast.U(x[c])
	}
	y[0] = total
	z[0] = whole
}
`},
	{name: "rests of rows", sum: true, text: `kernel "rests"
symbol n 0 9000
param x T[1032*n] read
param kept f32[1032] scratch
param y U[1032*n] write
for global r < size(n) {
	top = f32(-inf)
	for vector c < 1031 {
		kept[c] = cast.f32(x[r*1032 + c])
		top max= kept[c]
	}
	total = f32(0)
	for vector d < 1030 {
		kept[d] = kept[d] - top
		total add= kept[d]
	}
	for vector e < 1027 {
		y[r*1032 + e] = cast.U(kept[e] + total)
	}
}
`},
	{name: "scratch anew", sum: true, text: `kernel "scratch"
symbol n 0 9000
param x T[n] read
param kept f32[256] scratch
param y U[256*n] write
for global r < size(n) {
	for vector c < 256 {
		kept[c] = cast.f32(x[r])
		v = kept[c]
		kept[c] = v + kept[c]
		y[r*256 + c] = cast.U(kept[c] + f32(1))
	}
}
`},
}

// Packs are cases whose work-items may have several lanes each, x of type x and y
// of type y, and some that look like them: with sizes that leave a rest, and none.
func Packs(rng *rand.Rand, x, y ir.DType) ([]*Case, error) {
	var all []*Case
	for _, p := range packs {
		k, err := loop.Parse(strings.NewReplacer("T", x.String(), "U", y.String()).Replace(p.text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		k.Name = p.name
		sizes := []int{0, 1, 2, 5}
		if !strings.Contains(p.text, "64*n") && !strings.Contains(p.text, "56*n") && !strings.Contains(p.text, "32*n") {
			sizes = append(sizes, 67, 1023, 4101)
		}
		for _, n := range sizes {
			c := &Case{Kernel: k, Args: loop.Args{Sizes: ir.Env{"n": n}}}
			if _, c.Args.End, err = k.Span(c.Args.Sizes); err != nil {
				return nil, err
			}
			for _, param := range k.Params {
				length, err := param.Len.Eval(c.Args.Sizes)
				if err != nil {
					return nil, err
				}
				b := make([]byte, max(length, 1)*param.DType.Size())
				for i := 0; i < len(b); i += param.DType.Size() {
					v := anyBits(rng, param.DType)
					if p.sum && param.DType.IsFloat() {
						v, _ = ir.Bits(param.DType, rng.NormFloat64())
					}
					putBits(b[i:i+param.DType.Size()], v)
				}
				c.Args.Buffers = append(c.Args.Buffers, b)
			}
			all = append(all, c)
		}
	}
	return all, nil
}
