package loop

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

func f32Bytes(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func i32Bytes(v ...int32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

// args fits the header of these tests with N = 4.
func args() *Args {
	return &Args{
		Buffers: [][]byte{f32Bytes(1, 2, 3, 4), i32Bytes(3, -1, 9, 0), {1, 0, 1, 0}, f32Bytes(10, 20, 30, 40)},
		Sizes:   ir.Env{"N": 4}, Status: make([]int64, 1),
	}
}

func TestInterpret(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		want   []float32
		status int64
	}{
		"pointwise":        {"for vector r < size(N) { y[r] = x[r]*x[r] + f32(1) }", []float32{2, 5, 10, 17}, 0},
		"sum":              {"s = f32(100)\nfor vector j < size(N) { s add= x[j] }\ny[1] = s", []float32{10, 110, 30, 40}, 0},
		"gather":           {"for vector j < size(N) { y[j] = x[index(cast.i64(i[j]), N, 0)] }", []float32{4, 1, 4, 1}, 1},
		"guarded store":    {"for vector j < size(N) { y[j ? b[j]] = f32(0) }", []float32{0, 20, 0, 40}, 0},
		"guarded load":     {"for vector j < size(N) { y[j] = x[j + 2 ? j + 2 < 4] }", []float32{3, 4, 0, 0}, 0},
		"running":          {"s = f32(0)\nfor serial j < size(N) { s = s + x[j]\ny[j] = s }", []float32{1, 3, 6, 10}, 0},
		"from own value":   {"for serial j < size(N) { y[j] = x[j]\ny[j] = y[j] + y[j] }", []float32{2, 4, 6, 8}, 0},
		"lower bound":      {"for serial j = 1 to 3 { y[j] = x[j] }", []float32{10, 2, 3, 40}, 0},
		"empty":            {"for serial j = 3 to 1 { y[j] = x[j] }", []float32{10, 20, 30, 40}, 0},
		"value then store": {"t = y[0]\ny[0] = x[3]\ny[1] = t", []float32{4, 10, 30, 40}, 0},
	} {
		a := args()
		if err := Interpret(mustParse(t, c.body), a); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := string(a.Buffers[3]), string(f32Bytes(c.want...)); got != want {
			t.Errorf("%s: got % x, want % x", name, got, want)
		}
		if a.Status[0] != c.status {
			t.Errorf("%s: status is %d", name, a.Status[0])
		}
	}
}

func TestInterpretRange(t *testing.T) {
	k := mustParse(t, "for global r = 1 to size(N) { y[r] = x[r] }")
	lo, hi, err := k.Span(ir.Env{"N": 4})
	if err != nil || lo != 1 || hi != 4 {
		t.Fatalf("span is %d to %d, %v", lo, hi, err)
	}
	if lo, hi, err := mustParse(t, "y[0] = x[0]").Span(nil); lo != 0 || hi != 0 || err != nil {
		t.Errorf("span without a global loop is %d to %d, %v", lo, hi, err)
	}
	if _, _, err := k.Span(nil); err == nil {
		t.Error("a span of unbound sizes")
	}
	a := args()
	a.Start, a.End = 2, 3
	if err := Interpret(k, a); err != nil {
		t.Fatal(err)
	}
	if got, want := string(a.Buffers[3]), string(f32Bytes(10, 20, 3, 40)); got != want {
		t.Errorf("got % x, want % x", got, want)
	}
	for _, r := range [][2]int{{0, 2}, {1, 5}} {
		a.Start, a.End = r[0], r[1]
		if err := Interpret(k, a); err == nil || !strings.Contains(err.Error(), "outside the loop's 1 to 4") {
			t.Errorf("iterations %v: %v", r, err)
		}
	}
}

func TestInterpretErrors(t *testing.T) {
	for body, want := range map[string]string{
		"y[0] = x[4]":                        "index 4 of param x is outside its 4 elements",
		"y[-1] = x[0]":                       "index -1 of param y",
		"for vector j < 5 { y[j] = f32(0) }": "index 4 of param y",
		"t = idiv(i[0], i[3])":               "idiv by zero",
		"t = mod(1, size(N) - 4)":            "mod by zero",
		"t = where(true, 1, idiv(1, 0))":     "idiv by zero",
		"y[0] = 1":                           "the value stored",
	} {
		err := Interpret(mustParse(t, body), args())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `kernel "k"`) {
			t.Errorf("%s: %v, not %q", body, err, want)
		}
	}
	k := mustParse(t, "y[0] = x[0]")
	for name, change := range map[string]func(*Args){
		"few buffers": func(a *Args) { a.Buffers = a.Buffers[:3] },
		"few status":  func(a *Args) { a.Status = nil },
		"short":       func(a *Args) { a.Buffers[0] = a.Buffers[0][:12] },
		"no size":     func(a *Args) { a.Sizes = nil },
	} {
		a := args()
		change(a)
		if err := Interpret(k, a); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
