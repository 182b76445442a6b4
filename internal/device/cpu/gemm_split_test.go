package cpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
)

// eachSplit runs f for each format that splits, with a device whose large products
// of f32 are in it, and one that has them by vectors: other tests compare that with
// the loops.
func eachSplit(t *testing.T, f func(t *testing.T, d, vectors *Device)) {
	for _, isa := range []ISA{AMX, AMXFP16} {
		t.Run(isa.String(), func(t *testing.T) {
			var made [2]*Device
			for i, isa := range []ISA{isa, AVX512} {
				d, err := New(Options{ISA: isa})
				if err != nil {
					t.Skip(err)
				}
				t.Cleanup(func() { _ = d.Close() })
				made[i] = d
			}
			f(t, made[0], made[1])
		})
	}
}

// compileSplit compiles a product that has to be split.
func compileSplit(t *testing.T, d *Device, test *gemmTest) *gemmKernel {
	t.Helper()
	want := map[ISA]x86.GemmFormat{AMX: x86.GemmAMXThirds, AMXFP16: x86.GemmAMXHalves}
	g, ok := test.compile(t, d).(*gemmKernel)
	if !ok || g.tiles.format != want[d.isa] {
		t.Fatalf("the product is not in %v", want[d.isa])
	}
	return g
}

// drawSplit draws a product that is split, of every form.
func drawSplit(rng *rand.Rand) gemmCase {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	c := gemmCase{
		size: gemmSize{1 + rng.IntN(2), partsRows + rng.IntN(40), partsTerms + rng.IntN(40), partsTerms + rng.IntN(240)}, syms: pick("", "", "m"), least: partsRows,
		x: pick("plain", "plain", "wide", "transposed", "relu", "step"), y: pick("plain", "transposed", "shared"), out: pick("plain", "bias", "residual", "transposed", "two"), const_: rng.IntN(2) == 0,
	}
	switch rng.IntN(8) { // several blocks of rows, of columns
	case 0:
		c.size = gemmSize{1, 600 + rng.IntN(40), partsTerms, thirdsBlock + 1 + rng.IntN(20)}
	case 1:
		c.size = gemmSize{1, partsRows, 520 + rng.IntN(60), partsTerms + rng.IntN(90)}
	}
	return c
}

// Products of whole numbers have the same bits by both, whatever the form.
func TestPartsForms(t *testing.T) { eachSplit(t, testPartsForms) }

func testPartsForms(t *testing.T, d, vectors *Device) {
	rng := rand.New(rand.NewPCG(21, 22))
	n := 60
	if testing.Short() {
		n = 6
	}
	for range n {
		c := drawSplit(rng)
		c.ints = true
		test := c.build(rng)
		want, k := test.run(t, vectors, test.compile(t, vectors), 1, false), compileSplit(t, d, test)
		for _, workers := range []int{1, 3} {
			test.check(t, fmt.Sprintf("%v %d workers", c, workers), test.run(t, d, k, workers, rng.IntN(2) == 0), want)
		}
		if t.Failed() {
			return
		}
	}
}

// floats are the numbers of a buffer.
func floats(b []byte) []float32 {
	f := make([]float32, len(b)/4)
	for i := range f {
		f[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return f
}

// setFloat puts a number into a buffer.
func setFloat(b []byte, i int, v float32) {
	binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
}

// exactly is a product in f64 and the sums of the magnitudes of its terms.
func exactly(x, y []float32, rows, cols, k int) (sums, magnitudes []float64) {
	sums, magnitudes = make([]float64, rows*cols), make([]float64, rows*cols)
	for r := range rows {
		for j := range k {
			a := float64(x[r*k+j])
			for n := range cols {
				p := a * float64(y[j*cols+n])
				sums[r*cols+n] += p
				magnitudes[r*cols+n] += math.Abs(p)
			}
		}
	}
	return sums, magnitudes
}

// Products of other numbers are no further from the exact ones than those by
// vectors, in the mean and at most.
func TestPartsAccuracy(t *testing.T) { eachSplit(t, testPartsAccuracy) }

func testPartsAccuracy(t *testing.T, d, vectors *Device) {
	rng := rand.New(rand.NewPCG(23, 24))
	for _, size := range []gemmSize{{1, 64, 100, 96}, {1, 100, 97, 384}, {1, 96, 96, 1536}, {1, 64, 96, 5000}} {
		for _, spread := range []float64{1, 8, 20} { // of exponents
			test := gemmCase{size: size, x: "plain", y: "plain", out: "plain", const_: true}.build(rng)
			for i := range test.data[:2] {
				for j := range len(test.data[i]) / 4 {
					setFloat(test.data[i], j, float32(rng.NormFloat64()*math.Exp2(spread*(2*rng.Float64()-1))))
				}
			}
			want, magnitude := exactly(floats(test.data[0]), floats(test.data[1]), size.rows, size.cols, size.k)
			errors := func(d *Device, k kernel) (mean, most float64) {
				for i, v := range floats(test.run(t, d, k, 1, false)[2]) {
					e := math.Abs(float64(v)-want[i]) / magnitude[i]
					mean, most = mean+e/float64(len(want)), max(most, e)
				}
				return mean, most
			}
			mean, most := errors(d, compileSplit(t, d, test))
			meanV, mostV := errors(vectors, test.compile(t, vectors))
			t.Logf("%v, exponents within %v: mean %.2g, most %.2g; by vectors %.2g, %.2g", size, spread, mean, most, meanV, mostV)
			if !(mean <= 1.1*meanV+0x1p-26) || !(most <= 1.5*mostV+0x1p-25) {
				t.Errorf("%v, exponents within %v: mean error %g, most %g; by vectors %g, %g", size, spread, mean, most, meanV, mostV)
			}
		}
	}
}

// A row has the same bits whatever the number of rows, of workers, and what other
// rows hold.
func TestPartsRowsAlone(t *testing.T) { eachSplit(t, testPartsRowsAlone) }

func testPartsRowsAlone(t *testing.T, d, _ *Device) {
	const most, cols, k = 700, 150, 300
	for _, x := range []string{"plain", "relu"} {
		test := gemmCase{size: gemmSize{1, most, cols, k}, syms: "m", least: partsRows, x: x, y: "plain", out: "bias", const_: true}.build(rand.New(rand.NewPCG(7, 8)))
		made := compileSplit(t, d, test)
		setFloat(test.data[0], 70*k+3, float32(math.NaN()))
		setFloat(test.data[0], 299*k, 0x1p-100)
		var want []byte
		for _, rows := range []int{most, 64, 65, 96, 130, 640} {
			part := test.first(t, rows)
			for workers := 1; workers <= 3; workers++ {
				got := part.run(t, d, made, workers, false)
				out := got[len(got)-1]
				if want == nil {
					want = out
				}
				if at := firstDifference(out, want[:len(out)]); at >= 0 {
					t.Fatalf("%s, %d rows, %d workers: byte %d differs", x, rows, workers, at)
				}
			}
		}
	}
}

// What memory held before changes no bit: columns that fill up a panel are split too.
func TestPartsDirtyScratch(t *testing.T) { eachSplit(t, testPartsDirtyScratch) }

func testPartsDirtyScratch(t *testing.T, d, _ *Device) {
	d.threads = 16 // as in TestGemmDirtyScratch
	rng := rand.New(rand.NewPCG(27, 28))
	for _, k := range []int{96, 97, 300} {
		for _, weight := range []bool{false, true} {
			test := gemmCase{size: gemmSize{1, 70, 100, k}, x: []string{"plain", "step"}[k%2], y: "plain", out: "plain", const_: weight}.build(rng)
			made := compileSplit(t, d, test)
			want := test.run(t, d, made, 1, false)
			dirty(t, d)
			test.check(t, fmt.Sprintf("%d terms, a weight %v", k, weight), test.run(t, d, made, 1, false), want)
		}
	}
}

// Numbers that parts do not hold give what products by vectors give, in their rows
// and columns; all others keep their bits. A residual may lie where results go.
func TestPartsOdd(t *testing.T) { eachSplit(t, testPartsOdd) }

func testPartsOdd(t *testing.T, d, vectors *Device) {
	rng := rand.New(rand.NewPCG(25, 26))
	odd := []float32{
		float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0x1p-75, -0x1p-126, math.SmallestNonzeroFloat32, 0x1p33, math.MaxFloat32, -math.MaxFloat32,
	}
	n := 60
	if testing.Short() {
		n = 6
	}
	for try := range n {
		c := gemmCase{
			size: gemmSize{1, partsRows + rng.IntN(60), partsTerms + rng.IntN(60), partsTerms + rng.IntN(300)},
			x:    []string{"plain", "transposed", "step", "relu"}[try%4], y: []string{"plain", "transposed"}[rng.IntN(2)], out: []string{"plain", "residual"}[rng.IntN(2)], const_: rng.IntN(2) == 0,
		}
		s := c.size
		test := c.build(rng)
		k := compileSplit(t, d, test)
		width := k.odd.width()
		plain := floats(test.run(t, d, k, 1, false)[len(test.data)-1])
		atX := func(r, j int) int {
			switch c.x {
			case "transposed":
				return j*s.rows + r
			case "step":
				return r*2*s.k + 2*j
			}
			return r*s.k + j
		}
		atY := func(j, n int) int {
			if c.y == "transposed" {
				return n*s.k + j
			}
			return j*s.cols + n
		}
		rows, panels := map[int]bool{}, map[int]bool{}
		many := try%5 == 4 // every second row
		for i := range map[bool]int{false: 1 + rng.IntN(3), true: s.rows / 2}[many] {
			v := odd[rng.IntN(len(odd))]
			if many || rng.IntN(2) == 0 {
				r := rng.IntN(s.rows)
				if many {
					r = 2*i + rng.IntN(2)*rng.IntN(2)
				}
				setFloat(test.data[0], atX(r, rng.IntN(s.k)), v)
				rows[r] = true
			} else {
				n := rng.IntN(s.cols)
				setFloat(test.data[1], atY(rng.IntN(s.k), n), v)
				panels[n/width] = true
			}
		}
		want := test.run(t, vectors, test.compile(t, vectors), 1, false)
		reference, magnitude := floats(want[len(want)-1]), test.magnitudes(c, atX, atY)
		for _, workers := range []int{1, 3} {
			got := floats(test.run(t, d, k, workers, false)[len(want)-1])
			if c.out == "residual" {
				got = floats(test.inPlace(t, d, k, workers))
			}
			for i, v := range got {
				r, n := i/s.cols, i%s.cols
				w := reference[i]
				switch {
				case !rows[r] && !panels[n/width]:
					if math.Float32bits(v) != math.Float32bits(plain[i]) {
						t.Fatalf("%v, %d workers: row %d, column %d is %v, without odd numbers elsewhere %v", c, workers, r, n, v, plain[i])
					}
				case math.IsNaN(float64(w)) != math.IsNaN(float64(v)), math.IsInf(float64(w), 0) && v != w:
					t.Fatalf("%v, %d workers: row %d, column %d is %v, want %v", c, workers, r, n, v, w)
				case math.Abs(float64(v)-float64(w)) > 1e-6*magnitude[i]:
					t.Fatalf("%v, %d workers: row %d, column %d is %v, want %v within %g", c, workers, r, n, v, w, 1e-6*magnitude[i])
				}
			}
		}
	}
}

// inPlace runs the kernel with its results in the memory of the residual.
func (t *gemmTest) inPlace(tb testing.TB, d *Device, k kernel, workers int) []byte {
	tb.Helper()
	out := len(t.data) - 1
	residual := slices.IndexFunc(t.g.Params, func(p loop.Param) bool { return p.Name == "residual" })
	mem := slices.Clone(t.data[residual])
	both := makeBuffer(mem, nil)
	part := *t
	part.weights = map[int]*buffer{residual: both, out: both}
	part.run(tb, d, k, workers, false)
	return mem
}

// magnitudes are the sums of the magnitudes of what each result is a sum of, +Inf
// where they leave f32.
func (t *gemmTest) magnitudes(c gemmCase, atX, atY func(int, int) int) []float64 {
	s := c.size
	x, y := floats(t.data[0]), floats(t.data[1])
	all := make([]float64, s.rows*s.cols)
	for r := range s.rows {
		for n := range s.cols {
			sum := 3.0
			for j := range s.k {
				sum += math.Abs(float64(x[atX(r, j)]) * float64(y[atY(j, n)]))
			}
			if !(sum < math.MaxFloat32) {
				sum = math.Inf(1)
			}
			all[r*s.cols+n] = sum
		}
	}
	return all
}

// A step that runs again splits what its operands hold then, also what it keeps for
// other rows.
func TestPartsRunAgain(t *testing.T) { eachSplit(t, testPartsRunAgain) }

func testPartsRunAgain(t *testing.T, d, _ *Device) {
	rng := rand.New(rand.NewPCG(33, 34))
	for i, x := range []string{"plain", "transposed", "transposed"} {
		test := gemmCase{size: gemmSize{1, []int{600, 600, 100}[i], 100, []int{300, 300, 100}[i]}, x: x, y: "plain", out: "plain"}.build(rng)
		k := compileSplit(t, d, test)
		step, guards, done := test.bindGuarded(t, d, k, 2, false)
		defer done()
		for range 3 {
			for i := range test.data[:2] {
				for j := range len(test.data[i]) / 4 {
					setFloat(test.data[i], j, float32(rng.NormFloat64()))
				}
				copy(guards[i].Bytes(), test.data[i])
			}
			if err := d.pool.RunSteps(context.Background(), []jit.Step{step}, 2); err != nil {
				t.Fatal(err)
			}
			want := test.run(t, d, k, 1, false)[2]
			if at := firstDifference(guards[2].Bytes(), want); at >= 0 {
				t.Fatalf("%s: byte %d differs", x, at)
			}
		}
	}
}

// Products stay as exact where magnitudes are uneven: where what is great in one
// operand meets what is small in the other, or 0.
func TestPartsUneven(t *testing.T) { eachSplit(t, testPartsUneven) }

func testPartsUneven(t *testing.T, d, _ *Device) {
	rng := rand.New(rand.NewPCG(35, 36))
	size := gemmSize{1, 70, 100, 300}
	for name, draw := range map[string]func(x, y func(k int, scale float64)){
		"great by 0":     func(x, y func(k int, scale float64)) { x(7, 0x1p45); y(7, 0) },
		"0 by great":     func(x, y func(k int, scale float64)) { x(7, 0); y(7, 0x1p45) },
		"great by small": func(x, y func(k int, scale float64)) { x(290, 0x1p40); y(290, 0x1p-31) },
		"compensated": func(x, y func(k int, scale float64)) {
			for k := range size.k {
				scale := math.Exp2(math.Round(50*rng.Float64() - 25))
				x(k, scale)
				y(k, 1/scale)
			}
		},
	} {
		for _, weight := range []bool{true, false} {
			test := gemmCase{size: size, x: "plain", y: "plain", out: "plain", const_: weight}.build(rng)
			x, y := floats(test.data[0]), floats(test.data[1])
			for _, all := range [][]float32{x, y} {
				for i := range all { // none is near 0 by chance
					all[i] = float32(1+math.Abs(rng.NormFloat64())) * float32(1-2*rng.IntN(2))
				}
			}
			draw(func(k int, scale float64) {
				for r := range size.rows {
					x[r*size.k+k] *= float32(scale)
				}
			}, func(k int, scale float64) {
				for n := range size.cols {
					y[k*size.cols+n] *= float32(scale)
				}
			})
			for i, of := range [][]float32{x, y} {
				for j, v := range of {
					setFloat(test.data[i], j, v)
				}
			}
			want, magnitude := exactly(x, y, size.rows, size.cols, size.k)
			for i, v := range floats(test.run(t, d, compileSplit(t, d, test), 2, false)[2]) {
				if lost := math.Abs(float64(v) - want[i]); !(lost <= 0x1p-18*magnitude[i]) {
					t.Fatalf("%s, a weight %v: row %d, column %d is %g, want %g: off by 2^%.1f of the magnitudes", name, weight, i/size.cols, i%size.cols, v, want[i], math.Log2(lost/magnitude[i]))
				}
			}
		}
	}
}

// A sum that is -0 in its last block is 0 whether other rows go apart or not.
func TestPartsMinusZero(t *testing.T) { eachSplit(t, testPartsMinusZero) }

func testPartsMinusZero(t *testing.T, d, _ *Device) {
	const rows, cols, k = 70, 100, 384
	test := gemmCase{size: gemmSize{1, rows, cols, k}, x: "plain", y: "plain", out: "transposed", const_: true}.build(rand.New(rand.NewPCG(37, 38)))
	for j := range k { // in each block the product of row 0 is nothing but its sign
		x, y := float32(0), float32(0x1p-72)
		if j%192 == 1 {
			x, y = 0x1p-74, -0x1p-97
		}
		setFloat(test.data[0], j, x)
		for n := range cols {
			setFloat(test.data[1], j*cols+n, y)
		}
	}
	for _, v := range []float32{1, float32(math.NaN())} {
		setFloat(test.data[0], 6*k, v)
		out := test.run(t, d, compileSplit(t, d, test), 1, false)
		got := floats(out[len(out)-1])
		if first := math.Float32bits(got[0]); first != 0 {
			t.Errorf("with %v in another row: %#x, want 0", v, first)
		}
	}
}
