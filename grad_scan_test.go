package sinter_test

import (
	"context"
	"math"
	"testing"

	"github.com/sinterml/sinter"
)

// scanRow has values with some zeros, and neighbours that are equal.
func scanRow(row, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 + 0.5*math.Round(2*math.Sin(float64(3*i+row)))/2
		if zeros := row % 4; zeros > 0 && (i == n/3 || zeros > 1 && i == n/2 || zeros > 2 && i%5 == 4) {
			x[i] = 0
		}
	}
	return x
}

// gradOfProducts is d/dx of the sum of d[i] times the product up to i, term by term.
func gradOfProducts(x, d []float64) []float64 {
	g := make([]float64, len(x))
	for k := range x {
		for i := k; i < len(x); i++ {
			term := d[i]
			for j := 0; j <= i; j++ {
				if j != k {
					term *= x[j]
				}
			}
			g[k] += term
		}
	}
	return g
}

// gradOfMaxima shares d[i] among the elements up to i that are the largest there.
func gradOfMaxima(x, d []float64) []float64 {
	g := make([]float64, len(x))
	for i := range x {
		top, count := math.Inf(-1), 0.0
		for _, v := range x[:i+1] {
			top = max(top, v)
		}
		for _, v := range x[:i+1] {
			if v == top {
				count++
			}
		}
		for k, v := range x[:i+1] {
			if v == top {
				g[k] += d[i] / count
			}
		}
	}
	return g
}

// TestGradOfScans compares gradients of running products and maxima with what
// their definitions say, along either axis, with the length known or not.
func TestGradOfScans(t *testing.T) {
	const rows = 8
	for _, device := range []string{"interp", "cpu"} {
		d, err := sinter.Open(device)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for _, n := range []int{0, 1, 2, 5, 64, 100} {
			for _, length := range []sinter.Dim{sinter.N(n), sinter.Sym("n", 0, 300)} {
				for _, axis := range []int{0, 1} {
					x, w := sinter.Input("x", sinter.F64, sinter.N(rows), length), sinter.Input("w", sinter.F64, sinter.N(rows), length)
					for name, c := range map[string]struct {
						f    func(x tensor) tensor
						want func(x, d []float64) []float64
					}{
						"products": {func(x tensor) tensor { return x.CumProd(axis) }, gradOfProducts},
						"maxima":   {func(x tensor) tensor { return x.CumMax(axis) }, gradOfMaxima},
					} {
						for dtype, tolerance := range map[sinter.DType]float64{sinter.F32: 1e-4, sinter.F64: 1e-12} {
							in, up := x.Cast(dtype), w.Cast(dtype)
							if axis == 0 {
								in, up = in.T(), up.T()
							}
							g := sinter.VJP([]tensor{c.f(in)}, []tensor{up}, in)[0]
							if axis == 0 {
								g = g.T()
							}
							checkScan(t, d, g.Cast(sinter.F64), n, tolerance, c.want)
							if t.Failed() {
								t.Fatalf("%s of %d along %d in %v on %s", name, n, axis, dtype, device)
							}
						}
					}
				}
			}
		}
	}
}

func checkScan(t *testing.T, d *sinter.Device, g tensor, n int, tolerance float64, want func(x, d []float64) []float64) {
	t.Helper()
	const rows = 8
	var x, w, all []float64
	for r := range rows {
		row, up := scanRow(r, n), make([]float64, n)
		for i := range up {
			up[i] = math.Cos(float64(r + 2*i))
		}
		x, w, all = append(x, row...), append(w, up...), append(all, want(row, up)...)
	}
	p, err := sinter.Compile(sinter.Capture(g), sinter.Options{Device: d, Check: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := p.Run(context.Background(), map[string]tensor{"x": sinter.Of(x, rows, n), "w": sinter.Of(w, rows, n)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := sinter.Values[float64](context.Background(), out[0])
	if err != nil || len(got) != len(all) {
		t.Fatal(len(got), err)
	}
	for i, v := range all {
		if !(math.Abs(got[i]-v) <= tolerance*(1+math.Abs(v))) {
			t.Fatalf("row %d, element %d: %v, want %v", i/n, i%n, got[i], v)
		}
	}
}

// TestDifferencesOfScans compares with differences where there are zeros, gradients
// of gradients too: products are polynomials.
func TestDifferencesOfScans(t *testing.T) {
	for row := range 4 {
		at := sinter.Of(scanRow(row, 9), 1, 9)
		first := func(in []tensor) tensor { return weighed(in[0].CumProd(1)) }
		if err := sinter.CheckGrad(context.Background(), first, sinter.CheckGradOptions{}, at); err != nil {
			t.Errorf("row %d: %v", row, err)
		}
		second := func(in []tensor) tensor { return weighed(sinter.Grad(first(in), in[0])[0]) }
		if err := sinter.CheckGrad(context.Background(), second, sinter.CheckGradOptions{}, at); err != nil {
			t.Errorf("row %d, second: %v", row, err)
		}
	}
}

// An overflow spoils no more than the products that it is in, and what is asked
// of one maximum no other's elements.
func TestGradOfScansBeyondTheLargest(t *testing.T) {
	inf := math.Inf(1)
	x := sinter.Of([]float32{1, 2, float32(inf)}, 3)
	g := sinter.Grad(x.CumProd(0).Sum(), x)[0]
	got, err := sinter.Values[float32](context.Background(), g)
	if err != nil || got[2] != 2 || !math.IsInf(float64(got[0]), 1) || !math.IsInf(float64(got[1]), 1) {
		t.Errorf("products: %v, %v, want Inf, Inf and 2", got, err)
	}
	y := sinter.Of([]float32{1, 2, 1}, 3)
	g = sinter.VJP([]tensor{y.CumMax(0)}, []tensor{sinter.Of([]float32{3, float32(inf), 1}, 3)}, y)[0]
	if got, err = sinter.Values[float32](context.Background(), g); err != nil || got[0] != 3 || !math.IsInf(float64(got[1]), 1) || got[2] != 0 {
		t.Errorf("maxima: %v, %v, want 3, Inf and 0", got, err)
	}
}
