package ir

import (
	"slices"
	"strings"
	"testing"
)

func TestShape(t *testing.T) {
	s := Shape{symN, N(3), symB.Plus(1)}
	if got := s.String(); got != "[N 3 B+1]" {
		t.Errorf("prints %s", got)
	}
	if got := s.Numel().String(); got != "3*B*N+3*N" {
		t.Errorf("has %s elements", got)
	}
	if got := Shape(s.Strides()).String(); got != "[3*B+3 B+1 1]" {
		t.Errorf("strides %s", got)
	}
	if got := (Shape{}).Numel(); !got.IsConst(1) {
		t.Errorf("rank 0 has %v elements", got)
	}
	if n, err := s.Eval(Env{"N": 4, "B": 2}); err != nil || !slices.Equal(n, []int{4, 3, 3}) {
		t.Errorf("evaluates to %v, %v", n, err)
	}
	if _, ok := s.Ints(); ok {
		t.Error("a symbolic shape has ints")
	}
	if n, ok := Static(2, 0).Ints(); !ok || !slices.Equal(n, []int{2, 0}) {
		t.Errorf("ints %v", n)
	}
}

func TestShapeCheck(t *testing.T) {
	many := Shape{}
	for _, name := range strings.Split("abcdefghijkl", "") {
		many = append(many, Sym(name, 1, 2).Plus(1))
	}
	tests := []struct {
		s    Shape
		want string // in the error; empty: none
	}{
		{Shape{}, ""},
		{Static(0, 5), ""},
		{Shape{symN.Plus(-2)}, ""},
		{Shape{symN.Plus(-3)}, "may be negative"},
		{Static(MaxElements), ""},
		{Static(MaxElements, 2), "the limit is"},
		{Static(1<<40, 1<<40), "the limit is"},
		{Static(1<<40, 1<<40, 0), "the limit is"}, // the parts of an empty tensor still have sizes
		{Shape{Sym("N", 0, 1<<50)}, "the limit is"},
		{make(Shape, 33), "rank 33"},
		{many, "too many symbolic terms"},
	}
	for _, tt := range tests {
		err := tt.s.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.s, err, tt.want)
		}
	}
}

func TestBroadcast(t *testing.T) {
	tests := []struct {
		a, b Shape
		want string // empty: an error
	}{
		{Shape{}, Shape{}, "[]"},
		{Static(3), Shape{}, "[3]"},
		{Static(2, 3), Static(3), "[2 3]"},
		{Static(1), Static(5, 1), "[5 1]"},
		{Static(4, 1, 2), Static(3, 1), "[4 3 2]"},
		{Static(0), Static(1), "[0]"},
		{Shape{symN, N(1)}, Shape{N(1), symB}, "[N B]"},
		{Shape{symN}, Shape{symN}, "[N]"},
		{Static(2), Static(3), ""},
		{Static(0), Static(2), ""},
		{Shape{symN}, Shape{symB}, ""},
		{Shape{symN}, Static(2), ""}, // equal for one N only
	}
	for _, tt := range tests {
		for _, p := range [][2]Shape{{tt.a, tt.b}, {tt.b, tt.a}} {
			got, err := Broadcast(p[0], p[1])
			if (err == nil) != (tt.want != "") || err == nil && got.String() != tt.want {
				t.Errorf("%v and %v: %v, %v; want %q", p[0], p[1], got, err, tt.want)
			}
		}
	}
}
