package int4

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// empty has room for codes and scales.
func empty(k, n int) *matrix {
	codes, scales := Shapes([]int{k, n}, Rows)
	return &matrix{k: k, n: n, codes: make([]byte, codes[0]*n), scales: make([]byte, 2*scales[0]*n)}
}

// packed makes the codes and scales of w.
func packed(t *testing.T, w []float32, k, n int) *matrix {
	t.Helper()
	m := empty(k, n)
	if err := Pack(m.codes, m.scales, w, []int{k, n}, Rows); err != nil {
		t.Fatal(err)
	}
	return m
}

// at is what the package says a weight is, step by step.
func (m *matrix) weight(k, n int) (weight, scale float32) {
	code := m.codes[k/2*m.n+n] >> (4 * (k % 2)) & 15
	bits := binary.NativeEndian.Uint16(m.scales[2*(k/Group*m.n+n):])
	scale = math.Float32frombits(uint32(bits) << 16)
	return scale * (float32(code) - 8), scale
}

// Every weight is off by half a step, but for the largest of its group: that may
// be cut off by one step where that is better for the others. A weight has few
// digits.
func TestPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {2, 3}, {31, 5}, {32, 1}, {33, 7}, {64, 48}, {95, 17}, {384, 40}, {0, 4}, {5, 0}} {
		k, n := size[0], size[1]
		w := make([]float32, k*n)
		for i := range w {
			w[i] = float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(60)-30)))
			if rng.IntN(5) == 0 {
				w[i] = 0
			}
		}
		m := packed(t, w, k, n)
		for col := range n {
			for row := range k {
				got, scale := m.weight(row, col)
				bits := math.Float32bits(got)
				if bits<<16 != 0 {
					t.Fatalf("%v: %v at %d %d is not of bf16", size, got, row, col)
				}
				v := w[row*n+col]
				limit := abs(scale) / 2
				if abs(v) > 7.5*abs(scale) || v/scale > 7 {
					limit = 2.3 * abs(scale)
				}
				if !(abs(got-v) <= limit*1.00001) {
					t.Errorf("%v: %v became %v at %d %d, scale %v", size, v, got, row, col, scale)
				}
			}
		}
	}
}

// The error is that which the choice of scales is made for: less than that of a
// largest weight of 7 steps.
func TestPackedError(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const k, n = 1024, 64
	w := make([]float32, k*n)
	for i := range w {
		w[i] = float32(rng.NormFloat64())
	}
	m := packed(t, w, k, n)
	lost, sum, plain := 0.0, 0.0, 0.0
	for col := range n {
		for g := 0; g < k; g += Group {
			top := float32(0)
			for row := g; row < g+Group; row++ {
				top = max(top, abs(w[row*n+col]))
			}
			for row := g; row < g+Group; row++ {
				v := w[row*n+col]
				got, _ := m.weight(row, col)
				lost += float64((got - v) * (got - v))
				sum += float64(v * v)
				d := float64(v - top/7*float32(math.RoundToEven(float64(v/top*7))))
				plain += d * d
			}
		}
	}
	best, naive := math.Sqrt(lost/sum), math.Sqrt(plain/sum)
	t.Logf("relative error %.4f; by the largest alone %.4f", best, naive)
	if !(best <= 0.083) || !(naive >= 0.095) {
		t.Errorf("relative error %.4f; by the largest alone %.4f", best, naive)
	}
}

// What codes and scales of 4 bits hold comes back as it was, of groups of which
// one is at the end of the codes.
func TestPackedAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const k, n = 64, 32
	w := make([]float32, k*n)
	scales := make([]float32, k/Group*n)
	for i := range scales {
		scales[i] = fiveBits(float32(rng.NormFloat64()))
	}
	for i := range w {
		code := rng.IntN(16) - 8
		if i/n%Group == 0 {
			code = -8
		}
		w[i] = scales[i/n/Group*n+i%n] * float32(code)
	}
	m := packed(t, w, k, n)
	for i, v := range w {
		if got, _ := m.weight(i/n, i%n); got != v {
			t.Fatalf("%v became %v at %d", v, got, i)
		}
	}
}

// Zeros stay zeros, and so do weights that are too small for a scale; those that
// no scale serves are refused by place.
func TestPackSpecial(t *testing.T) {
	for _, v := range []float32{0, float32(math.Copysign(0, -1)), 1e-44, 0x1p-121} {
		w := make([]float32, 40)
		w[3] = v
		m := packed(t, w, 40, 1)
		for i := range w {
			if got, _ := m.weight(i, 0); got != 0 {
				t.Errorf("%v became %v at %d", v, got, i)
			}
		}
	}
	m := packed(t, []float32{0x1.fffffep125, -0x1p125, 0x1p-119, 1}, 2, 2)
	for i := range 4 {
		if got, _ := m.weight(i/2, i%2); math.IsInf(float64(got), 0) || got != got {
			t.Errorf("%v at %d", got, i)
		}
	}
	for _, v := range []float32{float32(math.NaN()), float32(math.Inf(-1)), 0x1p126} {
		w := make([]float32, 70*3)
		w[65*3+1] = v
		m := empty(70, 3)
		var bad *NotFinite
		if err := Pack(m.codes, m.scales, w, []int{70, 3}, Rows); !errors.As(err, &bad) || bad.K != 65 || bad.N != 1 {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// Of several matrices each is packed as it is alone.
func TestPackMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	shape := []int{2, 3, 37, 5}
	w := make([]float32, 6*37*5)
	for i := range w {
		w[i] = float32(rng.NormFloat64())
	}
	codes, scales := Shapes(shape, Rows)
	if fmt.Sprint(codes, scales) != "[2 3 32 5] [2 3 2 5]" {
		t.Fatal(codes, scales)
	}
	all := matrix{codes: make([]byte, 6*32*5), scales: make([]byte, 2*6*2*5)}
	if err := Pack(all.codes, all.scales, w, shape, Rows); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		m := packed(t, w[i*37*5:(i+1)*37*5], 37, 5)
		if !bytes.Equal(m.codes, all.codes[i*160:(i+1)*160]) || !bytes.Equal(m.scales, all.scales[i*20:(i+1)*20]) {
			t.Errorf("matrix %d differs", i)
		}
	}
	for _, shape := range [][]int{{0, 16, 16}, {3, 0, 16}, {3, 16, 0}} {
		if err := Pack(nil, nil, nil, shape, Panels); err != nil {
			t.Errorf("%v: %v", shape, err)
		}
	}
}

// In panels the codes are the same, elsewhere.
func TestPackPanels(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	const k, n = 70, 150
	w := make([]float32, k*n)
	for i := range w {
		w[i] = float32(rng.NormFloat64())
	}
	rows := packed(t, w, k, n)
	shape, _ := Shapes([]int{5, k, n}, Panels)
	if fmt.Sprint(shape) != "[5 3 48 64]" {
		t.Fatal(shape)
	}
	codes, scales := make([]byte, 3*48*64), make([]byte, len(rows.scales))
	if err := Pack(codes, scales, w, []int{k, n}, Panels); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(scales, rows.scales) {
		t.Error("scales differ")
	}
	for pair := range 48 {
		for col := range n {
			if codes[(col/64*48+pair)*64+col%64] != rows.codes[pair*n+col] {
				t.Fatalf("codes %d of column %d differ", pair, col)
			}
		}
	}
}

// Threads change nothing.
func TestPackInParallel(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const k, n = 1500, 300
	w := make([]float32, k*n)
	for i := range w {
		w[i] = float32(rng.NormFloat64())
	}
	whole := packed(t, w, k, n)
	for _, g := range []int{0, 13, (k - 1) / Group} {
		rows := min(Group, k-g*Group)
		part := packed(t, w[g*Group*n:][:rows*n], rows, n)
		from := whole.codes[g*Group/2*n:][:Group/2*n]
		if fmt.Sprint(part.codes) != fmt.Sprint(from) {
			t.Errorf("group %d differs from itself alone", g)
		}
	}
}

func BenchmarkPack(b *testing.B) {
	const k, n = 1536, 384
	w := make([]float32, k*n)
	for i := range w {
		w[i] = float32(i%1000) - 500
	}
	m := empty(k, n)
	for b.Loop() {
		if err := Pack(m.codes, m.scales, w, []int{k, n}, Rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(k*n), "ns/weight")
}
