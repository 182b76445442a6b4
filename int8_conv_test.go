package sinter_test

import (
	"context"
	"math"
	"testing"

	"github.com/sinterml/sinter"
)

// int8Convolution is a convolution of data with weights, and whether Int8
// quantises it.
type int8Convolution struct {
	name      string
	x, w      []int
	options   sinter.ConvOptions
	quantised bool
	bytes     bool // the weights are stored as bytes with a factor for each channel of the result
	of        func(x, w tensor, o sinter.ConvOptions) tensor
}

var int8Convolutions = []int8Convolution{
	{name: "images", x: []int{2, 8, 9, 9}, w: []int{16, 8, 3, 3}, quantised: true},
	{name: "strides", x: []int{2, 5, 11, 8}, w: []int{19, 5, 3, 2}, options: sinter.ConvOptions{Stride: []int{2, 1}, Padding: []int{1, 2}, Dilation: []int{1, 2}}, quantised: true},
	{name: "sound", x: []int{3, 20, 31}, w: []int{24, 20, 5}, options: sinter.ConvOptions{Padding: []int{2}}, quantised: true},
	{name: "places", x: []int{2, 17, 4, 3}, w: []int{16, 17, 1, 1}, quantised: true},
	{name: "bytes", x: []int{2, 8, 9, 9}, w: []int{16, 8, 3, 3}, quantised: true, bytes: true},
	{name: "bytes at places", x: []int{2, 17, 4, 3}, w: []int{16, 17, 1, 1}, quantised: true, bytes: true},
	{name: "behind GELU", x: []int{2, 8, 9, 9}, w: []int{16, 8, 3, 3}, options: sinter.ConvOptions{Padding: []int{1}}, quantised: true,
		of: func(x, w tensor, o sinter.ConvOptions) tensor { return sinter.Conv(x.GELU(), w, o) }},
	{name: "spread", x: []int{2, 16, 5, 5}, w: []int{16, 17, 3, 3}, options: sinter.ConvOptions{Stride: []int{2}}, quantised: true, of: sinter.ConvTranspose},
	{name: "gradient", x: []int{2, 16, 6, 6}, w: []int{18, 16, 3, 3}, quantised: true,
		of: func(x, w tensor, o sinter.ConvOptions) tensor {
			return sinter.Grad(sinter.Conv(x, w, o).Square().Sum(), x)[0]
		}},
	{name: "few channels", x: []int{2, 8, 9, 9}, w: []int{15, 8, 3, 3}},
	{name: "few products", x: []int{2, 3, 9, 9}, w: []int{16, 3, 2, 2}},
	{name: "groups", x: []int{2, 64, 5, 5}, w: []int{64, 16, 3, 3}, options: sinter.ConvOptions{Groups: 4}},
	{name: "weights on both sides", x: []int{16, 8, 3, 3}, w: []int{16, 8, 3, 3},
		of: func(x, w tensor, o sinter.ConvOptions) tensor {
			return sinter.Conv(w, w.Mul(sinter.Scalar(0.5)), o).Mul(x.Sum())
		}},
	{name: "data on both sides", x: []int{16, 8, 3, 3}, w: []int{16, 8, 3, 3},
		of: func(x, w tensor, o sinter.ConvOptions) tensor { return sinter.Conv(x, x, o) }},
}

func sines(n int, step float64) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = float32(math.Sin(step*float64(i)) + 0.2)
	}
	return all
}

func count(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

func (c int8Convolution) weights() tensor {
	if !c.bytes {
		return sinter.Of(sines(count(c.w), 0.7), c.w...)
	}
	v := make([]int8, count(c.w))
	for i := range v {
		v[i] = int8(i*37%200 - 100) // no channel reaches 127: quantised anew, they would be others
	}
	factors := append([]int{c.w[0]}, make([]int, len(c.w)-1)...)
	for i := range factors[1:] {
		factors[i+1] = 1
	}
	return sinter.Of(v, c.w...).Cast(sinter.F32).Mul(sinter.Of(sines(c.w[0], 0.011), factors...))
}

// run is the convolution on a device, of any number of x.
func (c int8Convolution) run(t *testing.T, o sinter.Options) []float32 {
	t.Helper()
	ctx := context.Background()
	shape := []sinter.Dim{sinter.Sym("n", 1, 100)}
	for _, s := range c.x[1:] {
		shape = append(shape, sinter.N(s))
	}
	conv := c.of
	if conv == nil {
		conv = sinter.Conv
	}
	o.Check = true
	p, err := sinter.Compile(sinter.Capture(conv(sinter.Input("x", sinter.F32, shape...), c.weights(), c.options)), o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := p.Run(ctx, map[string]tensor{"x": sinter.Of(sines(count(c.x), 0.31), c.x...)})
	if err != nil {
		t.Fatal(err)
	}
	values, err := sinter.Values[float32](ctx, out[0])
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// apart is the root of the sum of squared differences, as a part of that of x.
func apart(x, y []float32) float64 {
	sum, size := 0.0, 0.0
	for i := range x {
		sum += math.Pow(float64(x[i]-y[i]), 2)
		size += math.Pow(float64(x[i]), 2)
	}
	return math.Sqrt(sum / size)
}

// compare compares a device with the referee, in Int8 and by what it loses.
func (c int8Convolution) compare(t *testing.T, o sinter.Options) {
	t.Helper()
	referee, err := sinter.Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	defer referee.Close()
	exact := c.run(t, sinter.Options{Device: referee})
	want := c.run(t, sinter.Options{Device: referee, Precision: sinter.Int8})
	o.Precision = sinter.Int8
	got := c.run(t, o)
	lost := apart(exact, want)
	if quantised := lost > 1e-4; quantised != c.quantised || !(lost <= 0.1) {
		t.Errorf("the referee loses %v", lost)
	}
	// A value beside a boundary between two steps may be rounded to the other.
	if d := apart(want, got); !(d < 1e-6 || c.of != nil && d < lost/4) {
		t.Errorf("%v between devices, %v lost", d, lost)
	}
}

// A convolution of data with weights is quantised on every device or on none.
func TestInt8OfConvolutions(t *testing.T) {
	for _, isa := range []string{"amx-fp16", "amx", "avx512", "avx2", "neon", "generic"} {
		d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa})
		if err != nil {
			t.Logf("%s: %v", isa, err)
			continue
		}
		defer d.Close()
		for _, c := range int8Convolutions {
			for name, off := range map[string][]string{"": nil, " without passes": {"all"}} {
				t.Run(isa+" "+c.name+name, func(t *testing.T) { c.compare(t, sinter.Options{Device: d, NoOpt: off}) })
			}
		}
	}
}
