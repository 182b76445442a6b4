package loop

import (
	"strings"
	"testing"
)

// moving is a kernel of one statement that reads elements of a type and writes
// those of another.
const moving = `kernel "k"
param p0 FROM[8] read
param p1 TO[8] write
for global i < 8 {
	p1[i] = STATEMENT
}
`

func movingFrom(from, to, statement string) string {
	return strings.NewReplacer("FROM", from, "TO", to, "STATEMENT", statement).Replace(moving)
}

func TestMoveBits(t *testing.T) {
	for _, c := range []struct{ from, to, statement, wantFrom, wantTo string }{
		{"f16", "f16", "p0[7 - i]", "u16", "u16"},
		{"f16", "f16", "where(i < 3, p0[i], f16(1))", "u16", "u16"},
		{"f32", "f32", "where(i < 3, p0[i], f32(1))", "u32", "u32"},
		{"i8", "i8", "where(i < 3, p0[i], i8(-56))", "u8", "u8"},
		{"f64", "f64", "where(i < 3, p0[i], f64(1))", "i64", "i64"},
		{"u64", "u64", "p0[i]", "i64", "i64"},
		{"i64", "i64", "p0[i]", "i64", "i64"},
		{"f16", "bf16", "bitcast.bf16(p0[i])", "u16", "u16"},
		{"f16", "u16", "bitcast.u16(p0[i])", "u16", "u16"},
		{"f32", "i32", "bitcast.i32(p0[i])", "u32", "u32"},
		{"f16", "f16", "p0[i] + p0[0]", "f16", "f16"},
		{"f16", "f32", "cast.f32(p0[i])", "f16", "f32"},
		{"f32", "i32", "bitcast.i32(p0[i]) + i32(1)", "u32", "i32"},
		{"i32", "i32", "p0[cast.i64(p0[i])]", "i32", "i32"},
		{"bool", "f32", "where(p0[i], f32(1), f32(2))", "bool", "u32"},
		{"bool", "bool", "p0[7 - i]", "bool", "bool"},
	} {
		k, err := Parse(movingFrom(c.from, c.to, c.statement))
		if err != nil {
			t.Fatalf("%s: %v", c.statement, err)
		}
		m := MoveBits(k)
		if err := Check(m); err != nil {
			t.Errorf("%s: %v\n%v", c.statement, err, m)
		}
		if from, to := m.Params[0].DType.String(), m.Params[1].DType.String(); from != c.wantFrom || to != c.wantTo {
			t.Errorf("%s, %s to %s: got %s and %s, want %s and %s\n%v", c.statement, c.from, c.to, from, to, c.wantFrom, c.wantTo, m)
		}
		if c.wantFrom == c.wantTo && strings.Contains(m.String(), "bitcast") {
			t.Errorf("%s: a bitcast is left\n%v", c.statement, m)
		}
	}
}

// Locals keep their type, so that what goes through one stays a float.
func TestMoveBitsLeavesLocals(t *testing.T) {
	text := strings.Replace(movingFrom("f16", "f16", "v"), "p1[i] =", "v = p0[i]\n\tp1[i] =", 1)
	k, err := Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if m := MoveBits(k); m != k {
		t.Errorf("got\n%v", m)
	}
}
