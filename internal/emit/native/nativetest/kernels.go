package nativetest

import (
	"embed"
	"math"
	"math/rand/v2"
	"path"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

//go:embed kernels/*.txt
var texts embed.FS

// Kernels are loops such as lowering makes, by name; their symbols are N and M.
func Kernels() (map[string]*loop.Kernel, error) {
	files, err := texts.ReadDir("kernels")
	if err != nil {
		return nil, err
	}
	all := map[string]*loop.Kernel{}
	for _, f := range files {
		text, err := texts.ReadFile(path.Join("kernels", f.Name()))
		if err != nil {
			return nil, err
		}
		if all[strings.TrimSuffix(f.Name(), ".txt")], err = Parse(string(text)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Near are the differences allowed where sums of several roundings are in
// another order than the interpreter's: a few units in the last place of the
// results, which are below 64.
var Near = map[string]float64{"layer_norm": 1e-5}

// Parse reads a kernel from its text.
func Parse(text string) (*loop.Kernel, error) {
	k, err := loop.Parse(text)
	if err != nil {
		return nil, err
	}
	return k, loop.Check(k)
}

// specials are floats that operations treat apart.
var specials = []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e-45, -1e-40, 3e38, 65504, 1e9, -1e9, 0.5, -2.5}

// CaseOf gives a kernel data. Floats are whole numbers, so that sums are exact
// in any order, among special values where nothing is summed.
func CaseOf(k *loop.Kernel, env ir.Env, seed uint64) (*looptest.Case, error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	c := &looptest.Case{Kernel: k, Args: loop.Args{Sizes: env, Status: make([]int64, k.Slots)}}
	special := !strings.Contains(k.String(), "add=") && !strings.Contains(k.String(), "total")
	for _, p := range k.Params {
		n, err := p.Len.Eval(env)
		if err != nil {
			return nil, err
		}
		b := make([]byte, n*p.DType.Size())
		for i := range n {
			f := float64(rng.IntN(17) - 8)
			if special && p.DType.IsFloat() && rng.IntN(9) == 0 {
				f = specials[rng.IntN(len(specials))]
			}
			v, err := ir.Bits(p.DType, f)
			if err != nil { // an unsigned type
				v = uint64(rng.IntN(8))
			}
			for j := range p.DType.Size() {
				b[i*p.DType.Size()+j] = byte(v >> (8 * j))
			}
		}
		c.Args.Buffers = append(c.Args.Buffers, b)
	}
	var err error
	c.Args.Start, c.Args.End, err = k.Span(env)
	return c, err
}

// Exact are the operations whose results are the same bits everywhere.
func Exact(op ir.Op) bool {
	switch op {
	case ir.Exp, ir.Exp2, ir.Expm1, ir.Log, ir.Log2, ir.Log1p, ir.Sin, ir.Cos, ir.Atan, ir.Tanh, ir.Erf, ir.Pow:
		return false
	}
	return true
}
