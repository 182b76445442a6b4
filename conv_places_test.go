package sinter_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
)

// drawnConv is a convolution of one to three axes, of an input that a program has in
// memory, computes or turns.
type drawnConv struct {
	x      []int // of one image; last is turned to [channels, places...]
	symbol int   // axis of x that is a symbol, 0 for none
	last   bool
	w      []int
	o      sinter.ConvOptions
	form   int
}

func drawConv(rng *rand.Rand) drawnConv {
	spatial := 1 + rng.IntN(3)
	most := []int{150, 24, 8}[spatial-1] // places along an axis
	c := drawnConv{w: []int{1 + rng.IntN(40), 1 + rng.IntN(20)}, form: rng.IntN(5), last: rng.IntN(4) == 0}
	c.x = []int{c.w[1]}
	for range spatial {
		window, dilation := 1+rng.IntN(4), 1+rng.IntN(2)
		c.w = append(c.w, window)
		c.o.Dilation = append(c.o.Dilation, dilation)
		c.o.Stride = append(c.o.Stride, max(1, rng.IntN(4)))
		c.o.Padding = append(c.o.Padding, rng.IntN(3))
		c.x = append(c.x, (window-1)*dilation+1+rng.IntN(most))
	}
	if i := rng.IntN(spatial); !c.last && rng.IntN(3) == 0 && c.o.Stride[i] == 1 {
		c.symbol = 1 + i
	}
	return c
}

// build gives the convolution as a function of the input x.
func (c *drawnConv) build() (y tensor, w tensor, shape []int) {
	shape = append([]int{}, c.x...)
	if c.last {
		shape = append(shape[1:], shape[0])
	}
	dims := []sinter.Dim{sinter.Sym("n", 0, 8)}
	for i, n := range shape {
		d := sinter.N(n)
		if c.symbol > 0 && i == c.symbol {
			d = sinter.Sym("side", n, n+3)
		}
		dims = append(dims, d)
	}
	x := sinter.Input("x", sinter.F32, dims...)
	if c.last {
		order := []int{0, len(shape)}
		for i := range len(shape) - 1 {
			order = append(order, i+1)
		}
		x = x.Permute(order...)
	}
	w = sinter.Of(sines(count(c.w), 0.7), c.w...)
	switch c.form {
	case 1:
		x = x.Sin() // computed before, or within
	case 2:
		x = x.Flip(2)
	case 3:
		turned := append([]int{c.w[1], c.w[0]}, c.w[2:]...)
		order := []int{1, 0}
		for i := range len(c.w) - 2 {
			order = append(order, i+2)
		}
		w = sinter.Of(sines(count(c.w), 0.9), turned...).Permute(order...)
	}
	y = sinter.Conv(x, w, c.o)
	if c.form == 4 {
		bias := []int{c.w[0]}
		for range len(c.w) - 2 {
			bias = append(bias, 1)
		}
		y = y.Add(sinter.Of(sines(c.w[0], 0.3), bias...)).ReLU()
	}
	return y, w, shape
}

// TestConvWindows compares drawn convolutions, and now and then their gradients, with
// the referee's, on every instruction set: those of AVX2 and AVX-512 read windows where
// they lie, as columns that are packed from tables.
func TestConvWindows(t *testing.T) {
	referee, err := sinter.Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	defer referee.Close()
	for _, isa := range []string{"amx", "avx512", "avx2", "neon", "generic"} {
		t.Run(isa, func(t *testing.T) {
			d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa})
			if err != nil {
				t.Skip(err)
			}
			defer d.Close()
			for seed := range effort.Of[uint64](40, 60, 400, 5000) {
				c := drawConv(rand.New(rand.NewPCG(seed, 1)))
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					y, w, shape := c.build()
					ys := []tensor{y}
					if seed%4 == 0 {
						ys = append(ys, sinter.VJP(ys, []tensor{y.Sin()}, w)...)
					}
					n := int(seed % 4)
					in := sinter.Of(sines(n*count(shape), 1.3), append([]int{n}, shape...)...)
					compareOn(t, [2]*sinter.Device{referee, d}, in, 1e-5, ys...)
					if t.Failed() {
						t.Logf("%+v", c)
					}
				})
			}
		})
	}
}

// TestConvBits: what a convolution gives for a place does not depend on the others of its
// image, nor on how the image lies or on what of its size is known: sums have one order.
func TestConvBits(t *testing.T) {
	const channels, side = 6, 8
	ctx := sinter.WithDevice(context.Background(), openCPU(t, sinter.CPUOptions{}))
	w := sinter.Of(sines(5*channels*9, 0.7), 5, channels, 3, 3)
	values := func(x tensor) []float32 {
		v, err := sinter.Values[float32](ctx, x)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	x := sinter.Of(sines(2*channels*side*side, 1.3), 2, channels, side, side)
	conv := func(x tensor) tensor { return sinter.Conv(x, w, sinter.ConvOptions{}) }
	inner := sinter.Range{Stop: side - 3} // places of an image that is cut, too
	whole := values(conv(x).Slice(sinter.Range{}, sinter.Range{}, inner, inner))
	cut := sinter.Range{Stop: side - 1}
	last := sinter.Of(values(x.Permute(0, 2, 3, 1)), 2, side, side, channels)
	h := sinter.Sym("h", 7, 40)
	symbolic := sinter.Input("x", sinter.F32, sinter.N(2), sinter.N(channels), h, h)
	p := compile(t, sinter.Capture(conv(symbolic).Slice(sinter.Range{}, sinter.Range{}, sinter.Range{Stop: 5}, sinter.Range{Stop: 5})), nil)
	run, err := p.Run(ctx, map[string]tensor{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]float32{
		"cut":           values(conv(x.Slice(sinter.Range{}, sinter.Range{}, cut, cut))),
		"channels last": values(conv(last.Permute(0, 3, 1, 2)).Slice(sinter.Range{}, sinter.Range{}, inner, inner)),
		"a symbol":      values(run[0]),
	} {
		if !slices.Equal(got, whole) {
			t.Errorf("%s: other bits", name)
		}
	}
}

// TestConvRowsBits: whether columns are packed or read where they lie, which the number of
// outputs tells, changes no bit of an output, nor of its kernel's gradient; terms are more
// than one block of a sum.
func TestConvRowsBits(t *testing.T) {
	const channels, side, many = 72, 16, 70
	ctx := sinter.WithDevice(context.Background(), openCPU(t, sinter.CPUOptions{}))
	x := sinter.Of(sines(3*channels*side*side, 1.3), 3, channels, side, side)
	values := func(outputs int) [2][]float32 {
		w := sinter.Of(sines(many*channels*9, 0.7)[:outputs*channels*9], outputs, channels, 3, 3)
		y := sinter.Conv(x, w, sinter.ConvOptions{Padding: []int{1}})
		few := y.Slice(sinter.Range{}, sinter.Range{Stop: 20})
		dw := sinter.Grad(few.Square().Sum(), w)[0].Slice(sinter.Range{Stop: 20})
		all, err := sinter.Eval(ctx, few, dw)
		if err != nil {
			t.Fatal(err)
		}
		var got [2][]float32
		for i, v := range all {
			if got[i], err = sinter.Values[float32](ctx, v); err != nil {
				t.Fatal(err)
			}
		}
		return got
	}
	want := values(many)
	for _, outputs := range []int{20, 50} {
		for i, got := range values(outputs) {
			if name := []string{"results", "gradients"}[i]; !slices.Equal(got, want[i]) {
				t.Errorf("%d outputs have other %s than %d", outputs, name, many)
			}
		}
	}
}

// TestBitsOfShortRows: sums of windows and of short rows have the same bits whatever lies
// beside them, and whatever else their kernel computes.
func TestBitsOfShortRows(t *testing.T) {
	ctx := sinter.WithDevice(context.Background(), openCPU(t, sinter.CPUOptions{}))
	values := func(xs ...tensor) []float32 {
		all, err := sinter.Eval(ctx, xs...)
		if err != nil {
			t.Fatal(err)
		}
		v, err := sinter.Values[float32](ctx, all[0])
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	rows := func(from, n int) tensor { return sinter.Of(sines(4*64, 1.3)[4*from:4*(from+n)], n, 4) }
	whole := values(rows(0, 64).Sum(1))
	for from := range 60 {
		n := 1 + from%3
		x := rows(from, n)
		if got := values(x.Sum(1)); !slices.Equal(got, whole[from:from+n]) {
			t.Errorf("rows %d to %d have other sums in a batch of their own", from, from+n)
		}
		if got := values(x.Sum(1), x.Exp().Div(x.SumKeep(1))); !slices.Equal(got, whole[from:from+n]) {
			t.Errorf("rows %d to %d have other sums beside what they are divided into", from, from+n)
		}
	}
	image := sinter.Of(sines(2*3*12*14, 1.7), 2, 3, 12, 14)
	o := sinter.PoolOptions{Kernel: []int{2, 3}}
	pooled := values(sinter.AvgPool(image, o))
	if got := values(sinter.AvgPool(image, o), sinter.MaxPool(image, o), image.Sum(3)); !slices.Equal(got, pooled) {
		t.Error("a pool gives something else beside others")
	}
	narrow := image.Slice(sinter.Range{}, sinter.Range{Stop: 1}, sinter.Range{Stop: 2}, sinter.Range{Stop: 3})
	if got := values(sinter.AvgPool(narrow, o)); got[0] != pooled[0] {
		t.Errorf("a single window gives %v, in an image %v", got[0], pooled[0])
	}
}
