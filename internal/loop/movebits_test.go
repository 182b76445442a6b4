package loop

import (
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// moving is a kernel of one statement over f16 and bf16.
const moving = `kernel "k"
param p0 f16[8] read
param p1 VALUE[8] write
for global i < 8 {
	p1[i] = STATEMENT
}
`

func TestMoveBits(t *testing.T) {
	for _, c := range []struct{ dtype, statement, want string }{
		{"f16", "p0[7 - i]", "u16"},
		{"f16", "where(i < 3, p0[i], f16(1))", "u16"},
		{"bf16", "bitcast.bf16(p0[i])", "u16"},
		{"u16", "bitcast.u16(p0[i])", "u16"},
		{"f16", "p0[i] + p0[0]", "f16"},
		{"f32", "cast.f32(p0[i])", "f16"},
	} {
		text := strings.NewReplacer("VALUE", c.dtype, "STATEMENT", c.statement).Replace(moving)
		k, err := Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		m := MoveBits(k)
		if err := Check(m); err != nil {
			t.Errorf("%s: %v\n%v", c.statement, err, m)
		}
		want, err := ir.ParseDType(c.want)
		if err != nil {
			t.Fatal(err)
		}
		if m.Params[0].DType != want || c.want == "u16" && strings.Contains(m.String(), "bitcast") {
			t.Errorf("%s: got\n%v", c.statement, m)
		}
	}
}

// Locals keep their type, so that what goes through one stays a float.
func TestMoveBitsLeavesLocals(t *testing.T) {
	text := strings.NewReplacer("VALUE", "f16", "p1[i] = STATEMENT", "v = p0[i]\n\tp1[i] = v").Replace(moving)
	k, err := Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if m := MoveBits(k); m != k {
		t.Errorf("got\n%v", m)
	}
}
