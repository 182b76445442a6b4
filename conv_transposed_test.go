package sinter_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
)

// transposedCase is a transposed convolution of small integers, so that sums are exact.
type transposedCase struct {
	batch, groups, in, out int // channels of a group: in of x, out of the result
	places, kernel         []int
	stride, dilation       []int
	before, extra          []int
}

func drawTransposed(rng *rand.Rand) (c transposedCase) {
	c = transposedCase{batch: rng.IntN(3), groups: 1 + rng.IntN(2), in: 1 + rng.IntN(3), out: 1 + rng.IntN(3)}
	for range 1 + rng.IntN(3) {
		c.places, c.kernel = append(c.places, 1+rng.IntN(5)), append(c.kernel, 1+rng.IntN(5))
		c.stride, c.dilation = append(c.stride, 1+rng.IntN(4)), append(c.dilation, 1+rng.IntN(3))
		c.before, c.extra = append(c.before, rng.IntN(4)), append(c.extra, rng.IntN(3))
	}
	return c
}

// size is the result's along an axis; it may be less than 1.
func (c *transposedCase) size(axis int) int {
	return (c.places[axis]-1)*c.stride[axis] + c.dilation[axis]*(c.kernel[axis]-1) + 1 + c.extra[axis] - 2*c.before[axis]
}

// want adds to each element what each place of x gives it.
func (c *transposedCase) want(x, w []float32) []float32 {
	var size []int
	for i := range c.places {
		size = append(size, c.size(i))
	}
	places, taps, results := count(c.places), count(c.kernel), count(size)
	y := make([]float32, c.batch*c.groups*c.out*results)
	for image := range c.batch {
		for g := range c.groups {
			for o := range c.out {
				row := y[((image*c.groups+g)*c.out+o)*results:][:results]
				for i := range c.in {
					from := x[((image*c.groups+g)*c.in+i)*places:][:places]
					weights := w[((g*c.in+i)*c.out+o)*taps:][:taps]
					for p := range places {
						for t := range taps {
							if at, ok := c.meets(p, t, size); ok {
								row[at] += from[p] * weights[t]
							}
						}
					}
				}
			}
		}
	}
	return y
}

// meets is the element that a place gives something to by a weight of the kernel.
func (c *transposedCase) meets(place, tap int, size []int) (at int, ok bool) {
	ok = true
	step := 1
	for i := len(size) - 1; i >= 0; i-- {
		p := place%c.places[i]*c.stride[i] + tap%c.kernel[i]*c.dilation[i] - c.before[i]
		place, tap = place/c.places[i], tap/c.kernel[i]
		ok = ok && p >= 0 && p < size[i]
		at, step = at+p*step, step*size[i]
	}
	return at, ok
}

func smallIntegers(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.IntN(19) - 9)
	}
	return v
}

// TestConvTransposed compares transposed convolutions, and the gradients of
// convolutions with respect to their inputs, with what each place of x gives to each
// element: strides, dilations, padding beyond the kernel's reach, elements that no
// window meets.
func TestConvTransposed(t *testing.T) {
	referee, err := sinter.Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	cpu := openCPU(t, sinter.CPUOptions{})
	for seed := range uint64(effort.Of(100, 150, 1500, 20000)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c := drawTransposed(rng)
		least := math.MaxInt
		for i := range c.places {
			least = min(least, c.size(i))
		}
		if least < 1 {
			continue
		}
		xs := append([]int{c.batch, c.groups * c.in}, c.places...)
		ws := append([]int{c.groups * c.in, c.out}, c.kernel...)
		x, w := smallIntegers(rng, count(xs)), smallIntegers(rng, count(ws))
		want := c.want(x, w)
		o := sinter.ConvOptions{Stride: c.stride, Dilation: c.dilation, Padding: c.before, OutputPadding: c.extra, Groups: c.groups}
		y := sinter.ConvTranspose(sinter.Of(x, xs...), sinter.Of(w, ws...), o)
		compareExactly(t, fmt.Sprintf("seed %d, %+v", seed, c), y, want, referee, cpu)
		if slices.Max(c.extra) > 0 { // no convolution has it as its gradient
			continue
		}
		shape := []sinter.Dim{sinter.N(c.batch), sinter.N(c.groups * c.out)}
		for i := range c.places {
			shape = append(shape, sinter.N(c.size(i)))
		}
		o.OutputPadding = nil
		image := sinter.Zeros(sinter.F32, shape...)
		kernel := sinter.Of(w, ws...)
		dx := sinter.VJP([]tensor{sinter.Conv(image, kernel, o)}, []tensor{sinter.Of(x, xs...)}, image)[0]
		compareExactly(t, fmt.Sprintf("gradient, seed %d, %+v", seed, c), dx, want, referee, cpu)
	}
}

// TestConvTransposedRefuses what has no result.
func TestConvTransposedRefuses(t *testing.T) {
	x := sinter.Of(make([]float32, 2*3*4), 2, 3, 4)
	for name, y := range map[string]tensor{
		"no weights":                  sinter.ConvTranspose(x, sinter.Zeros(sinter.F32, sinter.N(3), sinter.N(2), sinter.N(0)), sinter.ConvOptions{Stride: []int{2}}),
		"padding beyond all elements": sinter.ConvTranspose(x, sinter.Zeros(sinter.F32, sinter.N(3), sinter.N(2), sinter.N(1)), sinter.ConvOptions{Padding: []int{2}}),
		"channels of another":         sinter.ConvTranspose(x, sinter.Zeros(sinter.F32, sinter.N(4), sinter.N(2), sinter.N(3)), sinter.ConvOptions{}),
		"groups":                      sinter.ConvTranspose(x, sinter.Zeros(sinter.F32, sinter.N(3), sinter.N(2), sinter.N(3)), sinter.ConvOptions{Groups: 2}),
	} {
		if y.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func compareExactly(t *testing.T, name string, y tensor, want []float32, devices ...*sinter.Device) {
	t.Helper()
	for _, d := range devices {
		p, err := sinter.Compile(sinter.Capture(y), sinter.Options{Device: d})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out, err := p.Run(context.Background(), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := sinter.Values[float32](context.Background(), out[0])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s on %v:\n%v, want\n%v", name, d, got, want)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
