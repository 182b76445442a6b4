package loop

import (
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

const header = `kernel "k"
slots 1
symbol N 1 64
param x f32[N] read
param i i32[N] read
param b bool[N] read
param y f32[N] write
`

func mustParse(t *testing.T, body string) *Kernel {
	t.Helper()
	k, err := Parse(header + body)
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return k
}

func TestCheckAccepts(t *testing.T) {
	for name, body := range map[string]string{
		"pointwise":        "for global r < size(N) { y[r] = x[r] + x[0] }",
		"no global":        "for serial r < size(N) { y[r] = x[r] }\ny[0] = f32(1)",
		"sum over lanes":   "s = f32(0)\nfor vector j < size(N) { s add= x[j] }\ny[0] = s",
		"lane local":       "for vector j < size(N) { s = x[j]\nfor serial k < 3 { s add= x[k] }\ny[j] = s }",
		"outer local read": "s = x[0]\nfor vector j < size(N) { y[j] = s }",
		"ragged bounds":    "for vector j = cast.i64(i[0]) to cast.i64(i[1]) { y[j] = x[j] }",
		"triangle":         "for serial r < 4 { for vector j < r + 1 { y[j] = x[j] } }",
		"variable again":   "for serial r < 4 { y[r] = x[r] }\nfor serial r < 4 { y[r] = x[r] }",
		"gather":           "for vector j < size(N) { y[j ? b[j]] = x[index(cast.i64(i[j]), N, 0) ? b[j]] }",
	} {
		if err := Check(mustParse(t, body)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for body, want := range map[string]string{
		"for serial r < 2 { t = 1 }\ny[0] = cast.f32(t)":                             "read before it is set",
		"for serial r < 2 { y[0] = x[r] }\ny[1] = x[r]":                              "outside its loop",
		"for serial r < 2 { for serial r < 3 { y[0] = x[0] } }":                      "same variable",
		"for global r < 2 { y[r] = x[r] }\ny[0] = x[0]":                              "not the only statement",
		"for serial q < 2 { for global r < 2 { y[r] = x[r] } }":                      "not the only statement",
		"for global r < cast.i64(i[0]) { y[r] = x[r] }":                              "more than sizes",
		"for vector r < 2 { for vector q < 2 { y[r] = x[q] } }":                      "is inside vector loop",
		"for vector r < 2 { for serial q < 2 { for vector p < 2 { y[r] = x[q] } } }": "is inside vector loop",
		"for vector r < 2 { for serial q < r { y[r] = x[q] } }":                      "lane to lane",
		"for vector r < 2 { t = cast.i64(i[r])\nfor serial q < t { y[r] = x[q] } }":  "lane to lane",
		"for unroll r < size(N) { y[r] = x[r] }":                                     "not constant",
		"for serial r < f32(1) { y[r] = x[r] }":                                      "not i64",
		"x[0] = f32(1)":                                                              "read only",
		"y[0] = 1":                                                                   "is f32, the value stored i64",
		"y[i[0]] = f32(1)":                                                           "is i32, not i64",
		"y[0 ? i[0]] = f32(1)":                                                       "not bool",
		"y[0] = x[0 ? i[0]]":                                                         "not bool",
		"y[0] = x[b[0]]":                                                             "not i64",
		"y[0] = x[0] + cast.f64(x[0])":                                               "use Cast",
		"y[0] = sqrt(i[0])":                                                          "takes floats",
		"y[0] = where(x[0], x[0], x[0])":                                             "condition is bool",
		"y[0] = bitcast.f32(b[0])":                                                   "differ in size",
		"y[0] = add(x[0])":                                                           "takes 2 operands",
		"y[0] = sum(x[0])":                                                           "not pointwise",
		"y[0] = x[index(i[0], N, 0)]":                                                "guards an i64",
		"y[0] = x[index(0, N, 1)]":                                                   "status slot 1",
		"y[0] = x[index(0, N, -1)]":                                                  "status slot -1",
		"y[0] = where(bool(0x2), x[0], x[1])":                                        "constant bits",
		"t = f32(0)\nt sub= x[0]":                                                    "does not accumulate",
		"t = f32(0)\nt and= x[0]":                                                    "takes integers or bool",
		"t = f32(0)\nt add= 1":                                                       "use Cast",
		"t = f32(0)\nt = 1":                                                          "local t is f32",
		"t = f32(0)\nfor vector r < 2 { t = x[r] }":                                  "outside vector loop r and inside",
		"t = f32(0)\nfor vector r < 2 { t add= x[r]\ny[r] = t }":                     "that accumulates it",
		"t = f32(0)\nfor vector r < 2 { y[r] = t\nt add= x[r] }":                     "that accumulates it",
		"t = f32(0)\nfor vector r < 2 { t add= x[r]\nt max= x[r] }":                  "by add and max",
		"for vector r < 2 { t = x[r] }\nfor vector r < 2 { y[r] = t }":               "read before it is set",
		"for serial q < 2 { for serial r < 2 { t = x[r] }\nt add= x[0] }":            "accumulated before it is set",
	} {
		err := Check(mustParse(t, body))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n\tgave %v, not %q", body, err, want)
		}
	}
}

// What no text can say: kernels that are not whole.
func TestCheckMalformed(t *testing.T) {
	v, l := &Var{Name: "v"}, &Local{Name: "l", DType: ir.F32}
	params := []Param{{Name: "y", DType: ir.F32, Len: ir.N(1), Use: Write}}
	one := Const(ir.F32, 0)
	for name, k := range map[string]*Kernel{
		"nil statement":       {Body: []Stmt{nil}},
		"nil value":           {Body: []Stmt{&Set{Local: l}}},
		"nil local":           {Body: []Stmt{&Set{Value: one}}},
		"nil variable":        {Body: []Stmt{&Loop{Hi: Int(1), Range: Serial}}},
		"nil bound":           {Body: []Stmt{&Loop{Var: v, Range: Serial}}},
		"no range":            {Body: []Stmt{&Loop{Var: v, Hi: Int(1)}}},
		"nil operand":         {Body: []Stmt{&Set{Local: l, Value: Apply(ir.Neg, ir.F32, nil)}}},
		"no operands":         {Body: []Stmt{&Set{Local: l, Value: Apply(ir.Neg, ir.F32)}}},
		"nil var reference":   {Body: []Stmt{&Set{Local: &Local{DType: ir.I64}, Value: &Expr{Kind: KindVar, DType: ir.I64}}}},
		"nil local reference": {Body: []Stmt{&Set{Local: l, Value: &Expr{Kind: KindLocal, DType: ir.F32}}}},
		"no kind":             {Body: []Stmt{&Set{Local: l, Value: &Expr{DType: ir.F32}}}},
		"no dtype":            {Body: []Stmt{&Set{Local: &Local{}, Value: &Expr{Kind: KindConst}}}},
		"wrong result":        {Body: []Stmt{&Set{Local: l, Value: Apply(ir.Less, ir.F32, one, one)}}},
		"param without type":  {Params: []Param{{Name: "y", Use: Read}}},
		"param without use":   {Params: []Param{{Name: "y", DType: ir.F32}}},
		"unknown param":       {Params: params, Body: []Stmt{&Store{Param: 1, Index: Int(0), Value: one}}},
		"load as other type":  {Params: params, Body: []Stmt{&Set{Local: l, Value: Apply(ir.Cast, ir.F32, Load(0, ir.I32, Int(0), nil))}}},
	} {
		if err := Check(k); err == nil {
			t.Errorf("%s was accepted:\n%v", name, k.Body)
		}
	}
}
