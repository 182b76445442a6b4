package sinter_test

import (
	"context"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/philox"
)

func drawn(t *testing.T, seed sinter.Tensor) []uint32 {
	t.Helper()
	v, err := sinter.Values[uint32](context.Background(), sinter.NewRand(seed).Bits(sinter.N(9)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A seed counts as 64 bits, whatever type it has.
func TestSeedsOfAllTypes(t *testing.T) {
	minus := drawn(t, sinter.Of([]int64{-1}))
	if !slices.Equal(minus, drawn(t, sinter.Of([]int32{-1}))) || !slices.Equal(minus, drawn(t, sinter.Of([]uint64{1<<64 - 1}))) {
		t.Error("-1 draws otherwise as another type")
	}
	if slices.Equal(minus, drawn(t, sinter.Of([]uint32{1<<32 - 1}))) {
		t.Error("the upper half of the seed does not count")
	}
	if !slices.Equal(drawn(t, sinter.Scalar(7)), drawn(t, sinter.Of([]uint8{7}))) {
		t.Error("7 draws otherwise as another type")
	}
}

// Random numbers do not keep a kernel from machine code.
func TestRandomNumbersAreGenerated(t *testing.T) {
	x := sinter.Input("x", sinter.F32, sinter.N(100), sinter.N(100))
	seed := sinter.Input("seed", sinter.I64)
	generic := func(y sinter.Tensor) []string {
		p, err := sinter.Compile(sinter.Capture(y), sinter.Options{Check: true})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		return p.Info().Generic
	}
	if len(generic(x.MatMul(x).Add(x))) > 0 {
		t.Skip("this processor has no generated code")
	}
	r := sinter.NewRand(seed)
	for name, y := range map[string]sinter.Tensor{"normal": r.Normal(sinter.Dims(100, 100)...), "dropout": r.Dropout(x.Add(x), 0.5), "behind a product": r.Dropout(x.MatMul(x), 0.5)} {
		if g := generic(y); len(g) > 0 {
			t.Errorf("%s: no machine code for %v", name, g)
		}
	}
}

// Words whose numbers do not fit 32 bits, on both sides of where they begin: of a
// draw so large that a part alone is computed.
func TestRandomNumbersFarOut(t *testing.T) {
	const n, size = 100, 1 << 35
	for _, isa := range []string{"avx512", "avx2", "neon", "generic"} {
		d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa})
		if err != nil {
			t.Log(err)
			continue
		}
		defer d.Close()
		for _, first := range []int{0, 1<<32 - 51, 3<<32 - 2, 1<<34 - 50, 1<<35 - n} {
			words := sinter.NewRand(sinter.Scalar(3)).Bits(sinter.N(size)).Narrow(0, sinter.N(first), sinter.N(n))
			p, err := sinter.Compile(sinter.Capture(words), sinter.Options{Device: d, Check: true})
			if err != nil {
				t.Fatal(err)
			}
			outs, err := p.Run(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := sinter.Values[uint32](context.Background(), outs[0])
			if err != nil {
				t.Fatal(err)
			}
			want := make([]uint32, n)
			philox.Fill(philox.Key{3}, uint64(first), want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: words from %d on: %v, want %v", isa, first, got, want)
			}
		}
	}
}
