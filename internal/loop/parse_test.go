package loop

import (
	"runtime"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

const softmax = `kernel "softmax"
symbol N 1 4096
param x f32[384*N] read
param y f32[384*N] write
for global i < size(N) {
	m = f32(-inf)
	for vector j < 384 {
		m max= x[i*384 + j]
	}
	s = f32(0)
	for vector j_2 < 384 {
		%0 = i*384 + j_2
		%1 = exp(x[%0] - m)
		y[%0] = %1
		s add= %1
	}
	r = recip(s)
	for vector j_3 < 384 {
		%0 = i*384 + j_3
		y[%0] = y[%0]*r
	}
}
`

func TestPrintParse(t *testing.T) {
	const want = `kernel "softmax"
symbol N 1 4096
param x f32[384*N] read
param y f32[384*N] write
for global i < size(N) {
	m = f32(-inf)
	for vector j < 384 {
		m max= x[i*384 + j]
	}
	s = f32(0)
	for vector j_2 < 384 {
		%0 = i*384 + j_2
		y[%0] = exp(x[%0] - m)
		s add= exp(x[i*384 + j_2] - m)
	}
	r = recip(s)
	for vector j_3 < 384 {
		%0 = i*384 + j_3
		y[%0] = y[%0]*r
	}
}
`
	text := strings.Replace(softmax, "s add= %1", "s add= exp(x[i*384 + j_2] - m)", 1)
	k, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(k); err != nil {
		t.Error(err)
	}
	if got := k.String(); got != want {
		t.Errorf("got\n%s", got)
	}
	// A shared value belongs to one statement.
	if _, err := Parse(softmax); err == nil || !strings.Contains(err.Error(), "line 15: value %1 is not set") {
		t.Errorf("a value of another statement: %v", err)
	}
}

// Names that are no identifiers, are taken or mean something are changed.
func TestPrintNames(t *testing.T) {
	a, b, c := &Local{Name: "x", DType: ir.I64}, &Local{Name: "for", DType: ir.I64}, &Local{Name: "7 up", DType: ir.I64}
	k := &Kernel{Name: `a "name"`, Params: []Param{{Name: "x", DType: ir.F16, Len: ir.N(3), Use: Update}, {Name: "", DType: ir.I8, Use: Scratch}},
		Body: []Stmt{&Set{a, Int(-5)}, &Set{b, a.Ref()}, &Set{c, SubIndex(b.Ref(), a.Ref())}}}
	want := "kernel \"a \\\"name\\\"\"\nparam x f16[3] update\nparam v i8[0] scratch\nx_2 = -5\nfor_2 = x_2\nv7_up = for_2 - x_2\n"
	if got := k.String(); got != want {
		t.Errorf("got\n%s", got)
	}
	if again, err := Parse(want); err != nil || again.String() != want {
		t.Errorf("%v, %v", again, err)
	}
}

// Expressions as they are printed.
func TestPrintExpressions(t *testing.T) {
	for _, text := range []string{
		"1", "-9223372036854775808", "true", "f32(0x7fc00001)", "f32(-0)", "f32(1e-45)", "f64(0.1)", "f16(65504)", "bf16(-inf)",
		"u64(18446744073709551615)", "i8(-128)", "size(N)", "size(2*N*N-N+3)", "size(-N)", "size(-2*N+1)", "size(7)",
		"1 + 2 + 3", "1 + (2 + 3)", "1 - (2 - 3)", "(1 + 2)*3", "1 + 2*3", "1*(2*3)", "f32(1)/f32(2)/f32(3)",
		"1 < 2", "(1 < 2) == (3 < 4)", "and(1 < 2 + 3, true)", "where(true, 1, 2)", "cast.f16(bitcast.f32(i32(1)))",
		"x[0]", "x[index(i[1 ? b[0]], N+1, 0) ? b[2]]", "- 1",
	} {
		want := strings.Replace(text, "- 1", "-1", 1)
		if strings.HasPrefix(text, "1 -") {
			want = text
		}
		k, err := Parse(header + "t = " + text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := k.String(); got != header+"t = "+want+"\n" {
			t.Errorf("%s became\n%s", text, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for body, want := range map[string]string{
		"t = ":                             "instead of",
		"t = q":                            "unknown name q",
		"t = (1":                           `instead of ")"`,
		"t = %0":                           "value %0 is not set",
		"%1 = 2\nt = %1":                   "%1 instead of %0",
		"t = 1 < 2 < 3":                    "instead of a statement",
		"t = f32(x)":                       "instead of a number",
		"t = u8(256)":                      "out of range",
		"t = u8(-1)":                       "invalid syntax",
		"t = i32(1.5)":                     "invalid syntax",
		"t = size(M)":                      "unknown symbol M",
		"t = 99999999999999999999":         "out of range",
		"t = cast(1)":                      `instead of "."`,
		"t add= 1":                         "accumulated before it is set",
		"t = 1\nt frob= 1":                 "unknown operation",
		"for ever r < 2 { }":               "a loop is not",
		"for serial x < 2 { }":             "taken",
		"for serial r < 2 {":               `instead of "}"`,
		"x = 1":                            `instead of "["`,
		"t = x[0":                          `instead of "]"`,
		"t = \x01":                         "unexpected",
		"t = \"":                           "string does not end",
		"}":                                "instead of a statement",
		"t = " + strings.Repeat("(", 5000): "nested",
		strings.Repeat("for serial r < 2 {", 5000): "nested",
	} {
		if _, err := Parse(header + body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, not %q", body, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                                       `instead of "kernel"`,
		"kernel k":                               "quoted name",
		"kernel \"k\" slots x":                   "instead of a number",
		"kernel \"k\" symbol N 1 2 symbol N 1 2": "twice",
		"kernel \"k\" param x f31[1] read":       "unknown dtype",
		"kernel \"k\" param x f32[1] wrote":      "a param is not",
		"kernel \"k\" param x f32[1] read param x f32[1] read": "taken",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", text, err, want)
		}
	}
}

// FuzzParse: what can be read prints to a fixed point, and checking never
// panics.
func FuzzParse(f *testing.F) {
	f.Add(softmax)
	f.Add(header + "t = index(cast.i64(i[1 ? b[0]]), N+1, 0)\nt max= -3\ny[0 ? 1 < 2] = where(true, f32(0x7fc00001), x[t*2 + 1])")
	f.Add(header + "for unroll q = 0 to 3 { %0 = q + 1\nt = %0*%0 }")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := Parse(text)
		if err != nil {
			return
		}
		once := k.String()
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		if twice := again.String(); twice != once {
			t.Fatalf("printed\n%s\nthen\n%s", once, twice)
		}
		if err1, err2 := Check(k), Check(again); (err1 == nil) != (err2 == nil) {
			t.Fatalf("checked %v, then %v\n%s", err1, err2, once)
		}
	})
}

// A sum of n terms takes memory for its text a few times, not for each term's.
func TestPrintLongSum(t *testing.T) {
	i := &Var{Name: "i"}
	sum := i.Ref()
	for range 4000 {
		sum = Apply(ir.Add, ir.I64, sum, i.Ref())
	}
	k := &Kernel{Name: "k", Body: []Stmt{&Loop{Var: i, Hi: Int(2), Range: Serial, Body: []Stmt{&Set{Local: &Local{Name: "t"}, Value: sum}}}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := k.String()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1000*uint64(len(text)) {
		t.Errorf("%d bytes for a text of %d", n, len(text))
	}
}
