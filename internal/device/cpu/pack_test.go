package cpu

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// A square weight and the same bytes turned are packed apart, though all their
// sizes are equal.
func TestPackTellsTurnedFromPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	size := gemmSize{1, 8, 40, 40}
	for _, d := range machines(t) {
		var weight *buffer
		for _, y := range []string{"plain", "transposed"} {
			test := gemmCase{size: size, x: "plain", y: y, out: "plain", const_: true, ints: true}.build(rng)
			if weight == nil {
				weight = makeBuffer(test.data[1], nil)
			}
			test.weights = map[int]*buffer{1: weight}
			test.data[1] = weight.data
			test.check(t, fmt.Sprintf("%v %s", d.isa, y), test.run(t, d, test.compile(t, d), 1, false)[2:], test.reference(t)[2:])
		}
	}
}

// What fills up a step does not hang on what scratch memory held before, here
// NaN wherever a number is read.
func TestGemmDirtyScratch(t *testing.T) {
	const workers = 16 // so many that their memory is not the Go heap's, which is clear
	rng := rand.New(rand.NewPCG(19, 20))
	for _, d := range withSlow(t) {
		for _, dtype := range []string{"f32", "f64", "bf16", "int8"} {
			for i, k := range []int{1, 3, 5, 33, 513, 515, 36, 516} {
				c := gemmCase{size: gemmSize{1, 7, 40, k}, x: []string{"plain", "step", "transposed"}[i%3], y: "plain", out: "plain", const_: i < 3, ints: true, dtype: dtype}
				test := c.build(rng)
				made := test.compile(t, d)
				dirty(t, d)
				test.check(t, fmt.Sprintf("%v %v", c, d.isa), test.run(t, d, made, workers, false), test.reference(t))
			}
		}
	}
}

// dirty fills memory of all sizes that a small run asks for, and gives it back.
func dirty(t *testing.T, d *Device) {
	t.Helper()
	for size := 1 << 10; size <= 1<<18; size *= 2 {
		for eighth := range 8 {
			mem, err := d.alloc.Alloc(size + size/8*eighth)
			if err != nil {
				t.Fatal(err)
			}
			copy(mem.Bytes(), bytes.Repeat([]byte{0xFF}, mem.Len()))
			if err := mem.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
